import type { Uuid } from "../core/ids.ts";

/** A person of an account. What is not here, such as the password hash, never leaves the store. */
export type User = { readonly id: Uuid; readonly name: string; readonly email: string };

/** What somebody else may say of a person: an administrator, or a directory. */
export type Profile = {
  /** Lower-cased, ASCII, unique in the account. */
  readonly email: string;
  readonly givenName: string;
  readonly familyName: string;
  /** What somebody chose to be called; null where the name is made of the others. */
  readonly displayName: string | null;
  /** The userName of a directory as it was written; null where it is the e-mail address. */
  readonly userName: string | null;
  readonly externalId: string | null;
  readonly emailVerified: boolean;
  /** A directory looks after this person. */
  readonly managedExternally: boolean;
  /** What the directory says beyond these fields, in its own words. */
  readonly directory: Readonly<Record<string, unknown>>;
  /** Whoever is not may neither log in nor use a token. */
  readonly active: boolean;
};

/** A person with what only those see who look at people. */
export type UserDetail = User &
  Profile & {
    /** The password is a one-time one: the next login asks for another. */
    readonly mustChangePassword: boolean;
    readonly version: number;
    readonly createdAt: number;
    readonly updatedAt: number;
  };

/** What a person is shown as. */
export const nameOf = ({ displayName, givenName, familyName, userName, email }: Profile): string =>
  displayName ?? (`${givenName} ${familyName}`.trim() || (userName ?? email));
