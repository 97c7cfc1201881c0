import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import { levelOf, type ScopeLevel } from "../grants/permission.ts";

/**
 * A set of users with common roles. Members of a group of the account, an organization or a project are users of the
 * account.
 */
export type UserGroup = Place & {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Managed by an identity provider: REST and GraphQL show it and do not change it. */
  readonly externallyManaged: boolean;
  readonly externalId: string | null;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type NewUserGroup = Pick<
  UserGroup,
  "orgIdentifier" | "projectIdentifier" | "identifier" | "name" | "description" | "tags"
> & { readonly externalId?: string | null };

/** The writer of a group: REST and GraphQL, or an identity provider for its own groups. */
export type Writer = "interface" | "provider";

/** Who changes a group, and the version that the caller has read; undefined for any. */
export type GroupWrite = { readonly writer: Writer; readonly version?: number | undefined };

export type Member = { readonly id: Uuid; readonly name: string; readonly email: string };

/** A group with all of its members, as one transaction sees them. */
export type FilledGroup = { readonly group: UserGroup; readonly members: readonly Member[] };

/** A change of members. Other members stay. */
export type MemberChange =
  | { readonly add?: readonly Uuid[]; readonly remove?: readonly Uuid[] }
  | { readonly replace: readonly Uuid[] };

export type GroupKey = (Place & { readonly identifier: string }) | { readonly id: Uuid };

const ALL_USERS: Readonly<Record<ScopeLevel, readonly [identifier: string, name: string]>> = {
  account: ["_account_all_users", "All Account Users"],
  organization: ["_organization_all_users", "All Organization Users"],
  project: ["_project_all_users", "All Project Users"],
};

/**
 * The built-in group of every scope: all users of the account, or all users with a role in the organization or project.
 */
export function allUsersOf({ orgIdentifier, projectIdentifier }: Place): UserGroup {
  const [identifier, name] = ALL_USERS[levelOf({ orgIdentifier, projectIdentifier })];
  return {
    orgIdentifier,
    projectIdentifier,
    id: NIL,
    identifier,
    name,
    description: "",
    tags: {},
    externallyManaged: false,
    externalId: null,
    version: 1,
    createdAt: 0,
    updatedAt: 0,
  };
}

/** An id that no row has. */
const NIL = "00000000-0000-0000-0000-000000000000" as Uuid;

export const isBuiltIn = (identifier: string): boolean =>
  Object.values(ALL_USERS).some(([builtIn]) => builtIn === identifier);

/** The identifier made from a name, if none is given. */
export const identifierOf = (name: string): string => {
  const text = name.replaceAll(/[^0-9a-zA-Z_$]/g, "_").slice(0, 120);
  return /^[a-zA-Z]/.test(text) ? text : `g_${text.replace(/^_+/, "")}`;
};
