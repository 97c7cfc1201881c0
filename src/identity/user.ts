import type { Uuid } from "../core/ids.ts";

/** A user of an account. Other columns, such as the password hash, stay in the store. */
export type User = { readonly id: Uuid; readonly name: string; readonly email: string };

/** The fields that an administrator or a directory may set. */
export type Profile = {
  /** Lower-cased, ASCII, unique in the account. */
  readonly email: string;
  readonly givenName: string;
  readonly familyName: string;
  /** A chosen display name; null if the name is composed of the others. */
  readonly displayName: string | null;
  /** The userName of a directory as it was written; null if it equals the e-mail address. */
  readonly userName: string | null;
  readonly externalId: string | null;
  readonly emailVerified: boolean;
  /** Whether a directory manages this user. */
  readonly managedExternally: boolean;
  /** Further fields of the directory, in its own format. */
  readonly directory: Readonly<Record<string, unknown>>;
  /** An inactive user can neither sign in nor use a token. */
  readonly active: boolean;
};

/** A user with the fields that need permission to view users. */
export type UserDetail = User &
  Omit<Profile, "directory"> & {
    /** Whether the password is a one-time password: the next sign-in asks for another. */
    readonly mustChangePassword: boolean;
    readonly version: number;
    readonly createdAt: number;
    readonly updatedAt: number;
  };

/** A user with everything that is stored. Lists of users do not read the fields of the directory, up to 64 KiB each. */
export type StoredUser = UserDetail & Pick<Profile, "directory">;

/** The displayed name. */
export const nameOf = ({
  displayName,
  givenName,
  familyName,
  userName,
  email,
}: Pick<Profile, "displayName" | "givenName" | "familyName" | "userName" | "email">): string =>
  displayName ?? (`${givenName} ${familyName}`.trim() || (userName ?? email));
