/**
 * The life cycle of a user: created, changed, deactivated, reactivated, deleted. An inactive user holds nothing: tokens
 * and sessions end in the same transaction, and caches and streams follow within a second.
 *
 * Triggers that run for the user stay, also enabled: each of their starts is refused by the check of its principals
 * (src/pipelines/principals.ts), until another user takes them over (docs/how-to/take-over-triggers.md).
 */
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { shownRemovals, type RemovedReference } from "../../platform/removed-reference.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import { commonProblem } from "../../core/problems.ts";
import type { Authorize, KeepAdministrator, PreventEscalationTo, Dereference } from "../../access/index.ts";
import type { Audit, AuditedChange } from "../../audit/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import * as store from "../store/users.ts";
import { nameOf, type Profile, type StoredUser } from "../user.ts";
import { folded, requireEmail, requireName } from "./fold.ts";

/**
 * Removes what a user holds in other slices: tokens, sessions, memberships; with `deleted` also what would otherwise
 * wait for their return. Runs in the transaction of the change. Returns what was removed.
 */
export type RevokeUserAccess = (
  tx: Tx,
  user: { readonly accountId: Uuid; readonly id: Uuid },
  how: RemovalKind,
) => Promise<readonly RemovedReference[]>;
export type RemovalKind = "deactivated" | "deleted";

export type LifeDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly onLeave: RevokeUserAccess;
  readonly dereference: Dereference;
  /** Removes permissions that were given for the user's previous address. */
  readonly onEmailChanged: (tx: Tx, user: { readonly accountId: Uuid; readonly id: Uuid }) => Promise<void>;
  readonly preventEscalationToUser: PreventEscalationTo;
  readonly keepAdministrator: KeepAdministrator;
};

/** Runs in the same transaction, for changes of other tables. */
type Then = (tx: Tx, user: StoredUser) => Promise<void>;

export type NewPerson = Pick<Profile, "email"> & Partial<Profile>;
export type Change = {
  /** The version that the caller has read; undefined to skip the check. */
  readonly version?: number | undefined;
  /** Computes the new profile. Called with the row locked. */
  readonly to: (now: StoredUser) => Profile;
  readonly besides?: Then | undefined;
};

const EMPTY_PROFILE: Omit<Profile, "email"> = {
  givenName: "",
  familyName: "",
  displayName: null,
  userName: null,
  externalId: null,
  emailVerified: false,
  managedExternally: false,
  directory: {},
  active: true,
};

const FIELDS = Object.keys({ ...EMPTY_PROFILE, email: "" }) as (keyof Profile)[];

/** The profile as it is stored. Throws `identity.bad_email`, `identity.bad_name`. */
function checked(profile: Profile): Profile {
  const optional = (text: string, what: string): string => (text.trim() === "" ? "" : requireName(text, what));
  const email = requireEmail(profile.email);
  const userName = profile.userName === null ? null : requireName(profile.userName, "userName");
  return {
    ...profile,
    email,
    // A userName equal to the address needs no column of its own.
    userName: userName === email ? null : userName,
    givenName: optional(profile.givenName, "given name"),
    familyName: optional(profile.familyName, "family name"),
    displayName: profile.displayName === null ? null : requireName(profile.displayName, "display name"),
  };
}

const keysOf = ({ email, userName }: Profile): string[] => [...new Set([email, folded(userName ?? email)])];

/** The error for a taken address or userName. `others` have it, as far as they could be read. */
function taken(next: Profile, others: readonly Profile[]): Error {
  const theirs = new Set(others.flatMap(keysOf));
  const isByName = next.userName !== null && theirs.has(folded(next.userName));
  return problem("identity.taken", [isByName ? next.userName : next.email]);
}

type UserChange = {
  readonly id: Uuid;
  readonly before?: Profile;
  readonly after?: Profile;
  /** What the user has lost. */
  readonly gone?: readonly RemovedReference[];
};

/** The audit entry of a changed user. */
const userEntry = (
  operation: "create" | "update" | "reactivate" | "deactivate" | "delete",
  { id, before, after, gone = [] }: UserChange,
): AuditedChange => ({
  operation: `user.${operation}`,
  resourceType: "USER",
  resourceId: toWire(id),
  scope: {},
  before: before && { ...shownRemovals(gone), ...shown(before) },
  after: after && shown(after),
});

/** The fields in the audit trail. */
const shown = (profile: Profile) => ({
  name: nameOf(profile),
  ...Object.fromEntries(FIELDS.map((field) => [field, profile[field]])),
});

/**
 * Creates a user. Throws `identity.taken` if the address or the userName is taken, in any spelling, and
 * `access.beyond_own` if the users of the account get more than the actor holds.
 */
export const createUser =
  (deps: LifeDeps) =>
  async (actor: Actor, person: NewPerson, besides?: Then): Promise<StoredUser> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_invite", { accountId });
    const profile = checked({ ...EMPTY_PROFILE, ...person });
    return deps.db.transaction(async (tx) => {
      const made = await insert(tx, deps, { actor, profile });
      if (!made) throw taken(profile, await store.findUsersByKeys(tx, accountId, keysOf(profile)));
      await besides?.(tx, made);
      return made;
    });
  };

export type CreateUser = ReturnType<typeof createUser>;

/**
 * Creates a user for a directory. A deactivated user with this name is reactivated with the new profile. Throws what
 * `createUser` throws, and requires the permission to manage users for a reactivation.
 */
export const provisionUser =
  (deps: LifeDeps) =>
  async (actor: Actor, person: NewPerson): Promise<StoredUser> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_invite", { accountId });
    const profile = checked({ ...EMPTY_PROFILE, ...person });
    return deps.db.transaction(async (tx) => {
      const made = await insert(tx, deps, { actor, profile });
      if (made) return made;
      const [known, another] = await store.findUsersByKeys(tx, accountId, keysOf(profile));
      const now = known && !another ? await store.lockUser(tx, accountId, known.id) : undefined;
      if (!now || now.active || folded(now.userName ?? now.email) !== folded(profile.userName ?? profile.email))
        throw taken(
          profile,
          [known, another].filter((one) => one !== undefined),
        );
      deps.authorize(actor, "core_user_manage", { accountId });
      return save(tx, deps, { actor, now, next: profile });
    });
  };

/** Creates or reactivates a user for a directory (SCIM). */
export type ProvisionUser = ReturnType<typeof provisionUser>;

async function insert(
  tx: Tx,
  deps: LifeDeps,
  { actor, profile }: { readonly actor: Actor; readonly profile: Profile },
): Promise<StoredUser | undefined> {
  const [id, at] = [deps.newId(), deps.clock.now()];
  // Unique keys check each column on its own. This checks one against the other, so that no userName is another user's
  // address.
  if ((await store.findUsersByKeys(tx, actor.accountId, keysOf(profile))).length > 0) return undefined;
  if (!(await store.insertUserRow(tx, actor.accountId, { ...profile, id, at }))) return undefined;
  if (profile.active) await deps.preventEscalationToUser(tx, actor, id);
  await deps.audit.record(tx, actor, userEntry("create", { id, after: profile }));
  const more = { name: nameOf(profile), mustChangePassword: false, version: 1, createdAt: at, updatedAt: at };
  return { ...profile, id, ...more };
}

/**
 * Changes a user. Writes nothing if nothing changes. Throws `identity.no_user`, `identity.taken`,
 * `access.last_administrator`, `core.stale_version`, and `access.beyond_own` if the change would give the user's access
 * to another person.
 */
export const changeUser =
  (deps: LifeDeps) =>
  async (actor: Actor, id: Uuid, { version, to, besides }: Change): Promise<StoredUser> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_manage", { accountId });
    return deps.db.transaction(async (tx) => {
      const now = await requireLockedUser(tx, accountId, { id, version });
      const user = await save(tx, deps, { actor, now, next: checked(to(now)) });
      await besides?.(tx, user);
      return user;
    });
  };

/** `to` computes the new profile from the stored one, with the user locked. */
export type ChangeUser = ReturnType<typeof changeUser>;

async function requireLockedUser(
  tx: Tx,
  accountId: Uuid,
  { id, version }: { readonly id: Uuid; readonly version: number | undefined },
): Promise<StoredUser> {
  const now = await store.lockUser(tx, accountId, id);
  if (!now) throw problem("identity.no_user");
  if (version !== undefined && version !== now.version)
    throw commonProblem("core.stale_version", ["User", toWire(id), String(now.version), String(version)]);
  return now;
}

async function save(
  tx: Tx,
  deps: LifeDeps,
  { actor, now, next }: { readonly actor: Actor; readonly now: StoredUser; readonly next: Profile },
): Promise<StoredUser> {
  const { accountId } = actor;
  if (isSame(now, next)) return now;
  const others = await store.findUsersByKeys(tx, accountId, keysOf(next));
  const strangers = others.filter(({ id }) => id !== now.id);
  if (strangers.length > 0) throw taken(next, strangers);
  const isCalledAlike = keysOf(now).join() === keysOf(next).join();
  // The owner of the new address, or a reactivated user, may become able to sign in as this user. Deactivation alone
  // needs no such check.
  if (!isCalledAlike || (next.active && !now.active)) await deps.preventEscalationToUser(tx, actor, now.id);
  if (!isCalledAlike) await deps.onEmailChanged(tx, { accountId, id: now.id });
  const user = await update(tx, deps, { accountId, id: now.id, next });
  const gone =
    now.active && !next.active ? await revokeAccess(tx, deps, { accountId, id: now.id, how: "deactivated" }) : [];
  if (!isSame({ ...now, active: next.active }, next))
    await deps.audit.record(
      tx,
      actor,
      userEntry("update", { id: now.id, before: { ...now, active: next.active }, after: next }),
    );
  if (now.active !== next.active)
    await deps.audit.record(
      tx,
      actor,
      userEntry(next.active ? "reactivate" : "deactivate", {
        id: now.id,
        before: { ...next, active: now.active },
        after: next,
        gone,
      }),
    );
  return user;
}

const isSame = (one: Profile, other: Profile): boolean =>
  FIELDS.every((field) => canonical(one[field]) === canonical(other[field]));

/** PostgreSQL stores the keys of an object in an order of its own. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

async function update(
  tx: Tx,
  deps: LifeDeps,
  { accountId, id, next }: { readonly accountId: Uuid; readonly id: Uuid; readonly next: Profile },
): Promise<StoredUser> {
  try {
    return await store.updateUserRow(tx, accountId, { ...next, id, at: deps.clock.now() });
  } catch (error) {
    const index = takenIndex(error);
    if (index === undefined) throw error;
    throw problem("identity.taken", [index === "users_by_email" ? next.email : (next.userName ?? next.email)]);
  }
}

/** The name of the violated unique index, if two requests have written at the same time. */
function takenIndex(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && error.code === "23505") return "constraint" in error ? String(error.constraint) : "";
  return takenIndex(error.cause);
}

async function revokeAccess(
  tx: Tx,
  deps: LifeDeps,
  { accountId, id, how }: { readonly accountId: Uuid; readonly id: Uuid; readonly how: RemovalKind },
) {
  const gone = await deps.onLeave(tx, { accountId, id }, how);
  await deps.keepAdministrator(tx, accountId);
  return gone;
}

const ACCOUNT = { orgIdentifier: null, projectIdentifier: null };

/** Deletes a user. Throws `identity.no_user`, `access.last_administrator`, `core.stale_version`. */
export const deleteUser =
  (deps: LifeDeps) =>
  async (actor: Actor, id: Uuid, version?: number): Promise<void> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_manage", { accountId });
    await deps.db.transaction(async (tx) => {
      const now = await requireLockedUser(tx, accountId, { id, version });
      await store.markUserDeleted(tx, accountId, { id, at: deps.clock.now() });
      const named = await deps.dereference(tx, accountId, ACCOUNT, { USER: toWire(id) });
      const gone = await revokeAccess(tx, deps, { accountId, id, how: "deleted" });
      await deps.audit.record(tx, actor, userEntry("delete", { id, before: now, gone: [...gone, ...named] }));
    });
  };

/** `version`: throws `core.stale_version` if the user has another one; not checked if undefined. */
export type DeleteUser = ReturnType<typeof deleteUser>;
