/**
 * The life of a person: made, changed, deactivated, reactivated, deleted. Whoever is no longer active holds nothing:
 * tokens and sessions end in the same transaction, and what caches or streams still know of them ends within a second.
 */
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { goneToo, type RemovedReference } from "../../platform/removed-reference.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import { commonProblem } from "../../core/problems.ts";
import type { Authorize, KeepAdministrator, RequireHeldOf, LeaveGroups } from "../../access/index.ts";
import type { Audit } from "../../audit/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import * as store from "../store/users.ts";
import { nameOf, type Profile, type UserDetail } from "../user.ts";
import { folded, requireEmail, requireName } from "./fold.ts";

/**
 * Takes away what a person holds elsewhere: tokens, sessions, memberships; with `deleted` also what would
 * otherwise wait for their return. Runs inside the transaction of the change, and answers what that was.
 */
export type OnLeave = (
  tx: Tx,
  user: { readonly accountId: Uuid; readonly id: Uuid },
  how: Leaving,
) => Promise<readonly RemovedReference[]>;
export type Leaving = "deactivated" | "deleted";

export type LifeDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly onLeave: OnLeave;
  readonly leaveGroups: LeaveGroups;
  /** Takes back what was allowed to whoever has the address that the person had. */
  readonly onEmailChanged: (tx: Tx, user: { readonly accountId: Uuid; readonly id: Uuid }) => Promise<void>;
  readonly requireHeldOfPerson: RequireHeldOf;
  readonly keepAdministrator: KeepAdministrator;
};

/** `besides` runs in the same transaction, for what belongs to the change in another table. */
type Then = (tx: Tx, user: UserDetail) => Promise<void>;

export type NewPerson = Pick<Profile, "email"> & Partial<Profile>;
export type Change = {
  /** The version that the caller has read; undefined when it does not care. */
  readonly version?: number | undefined;
  /** What the person is to be; called with the row locked. */
  readonly to: (now: UserDetail) => Profile;
  readonly besides?: Then | undefined;
};

const NOBODY: Omit<Profile, "email"> = {
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

const FIELDS = Object.keys({ ...NOBODY, email: "" }) as (keyof Profile)[];

/** As it is kept. Throws `identity.bad_email`, `identity.bad_name`. */
function checked(profile: Profile): Profile {
  const optional = (text: string, what: string): string => (text.trim() === "" ? "" : requireName(text, what));
  const email = requireEmail(profile.email);
  const userName = profile.userName === null ? null : requireName(profile.userName, "userName");
  return {
    ...profile,
    email,
    // Written as the address it needs no column of its own.
    userName: userName === email ? null : userName,
    givenName: optional(profile.givenName, "given name"),
    familyName: optional(profile.familyName, "family name"),
    displayName: profile.displayName === null ? null : requireName(profile.displayName, "display name"),
  };
}

const keysOf = ({ email, userName }: Profile): string[] => [...new Set([email, folded(userName ?? email)])];

/** That the address or the userName is somebody's, by the one that is. `others` hold it, as far as they could be read. */
function taken(next: Profile, others: readonly Profile[]): Error {
  const theirs = new Set(others.flatMap(keysOf));
  const isByName = next.userName !== null && theirs.has(folded(next.userName));
  return problem("identity.taken", [isByName ? next.userName : next.email]);
}

const entry = (operation: `user.${string}`, id: Uuid, before?: Profile, after?: Profile) => ({
  operation,
  resourceType: "USER",
  resourceId: toWire(id),
  scope: {},
  before: before && shown(before),
  after: after && shown(after),
});

/** With what the person has lost by it. */
const entryWith = (gone: readonly RemovedReference[], { before, ...rest }: ReturnType<typeof entry>) => ({
  ...rest,
  before: { ...goneToo(gone), ...before },
});

/** What the trail keeps of a person. */
const shown = (profile: Profile) => ({
  name: nameOf(profile),
  ...Object.fromEntries(FIELDS.map((field) => [field, profile[field]])),
});

/**
 * Throws `identity.taken` when the address or the userName is somebody's, in any spelling, and `access.beyond_own`
 * when everybody of the account is given more than the actor holds.
 */
export const createUser =
  (deps: LifeDeps) =>
  async (actor: Actor, person: NewPerson, besides?: Then): Promise<UserDetail> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_invite", { accountId });
    const profile = checked({ ...NOBODY, ...person });
    return deps.db.transaction(async (tx) => {
      const made = await insert(deps, tx, actor, profile);
      if (!made) throw taken(profile, await store.findUsersByKeys(tx, accountId, keysOf(profile)));
      await besides?.(tx, made);
      return made;
    });
  };

export type CreateUser = ReturnType<typeof createUser>;

/**
 * As a directory makes people: somebody who was deactivated comes back as who they were, with what is said of them
 * now. Throws what creating throws, and needs the permission to manage when somebody comes back.
 */
export const provisionUser =
  (deps: LifeDeps) =>
  async (actor: Actor, person: NewPerson): Promise<UserDetail> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_invite", { accountId });
    const profile = checked({ ...NOBODY, ...person });
    return deps.db.transaction(async (tx) => {
      const made = await insert(deps, tx, actor, profile);
      if (made) return made;
      const [known, another] = await store.findUsersByKeys(tx, accountId, keysOf(profile));
      const now = known && !another ? await store.lockUser(tx, accountId, known.id) : undefined;
      if (!now || now.active || folded(now.userName ?? now.email) !== folded(profile.userName ?? profile.email))
        throw taken(
          profile,
          [known, another].filter((one) => one !== undefined),
        );
      deps.authorize(actor, "core_user_manage", { accountId });
      return save(deps, tx, actor, now, profile);
    });
  };

export type ProvisionUser = ReturnType<typeof provisionUser>;

async function insert(deps: LifeDeps, tx: Tx, actor: Actor, profile: Profile): Promise<UserDetail | undefined> {
  const [id, at] = [deps.newId(), deps.clock.now()];
  // The unique keys hold each column; this holds one against the other: nobody is called by another's address.
  if ((await store.findUsersByKeys(tx, actor.accountId, keysOf(profile))).length > 0) return undefined;
  if (!(await store.insertPerson(tx, actor.accountId, { ...profile, id, at }))) return undefined;
  if (profile.active) await deps.requireHeldOfPerson(tx, actor, id);
  await deps.audit.record(tx, actor, entry("user.create", id, undefined, profile));
  const more = { name: nameOf(profile), mustChangePassword: false, version: 1, createdAt: at, updatedAt: at };
  return { ...profile, id, ...more };
}

/**
 * Changes a person. Nothing is written when nothing changes. Throws `identity.no_user`, `identity.taken`,
 * `access.last_administrator`, `core.stale_version`, and `access.beyond_own` where it would give the person away.
 */
export const changeUser =
  (deps: LifeDeps) =>
  async (actor: Actor, id: Uuid, { version, to, besides }: Change): Promise<UserDetail> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_manage", { accountId });
    return deps.db.transaction(async (tx) => {
      const now = await locked(tx, accountId, id, version);
      const user = await save(deps, tx, actor, now, checked(to(now)));
      await besides?.(tx, user);
      return user;
    });
  };

export type ChangeUser = ReturnType<typeof changeUser>;

async function locked(tx: Tx, accountId: Uuid, id: Uuid, version: number | undefined): Promise<UserDetail> {
  const now = await store.lockUser(tx, accountId, id);
  if (!now) throw problem("identity.no_user");
  if (version !== undefined && version !== now.version)
    throw commonProblem("core.stale_version", ["User", toWire(id), String(now.version), String(version)]);
  return now;
}

async function save(deps: LifeDeps, tx: Tx, actor: Actor, now: UserDetail, next: Profile): Promise<UserDetail> {
  const { accountId } = actor;
  if (isSame(now, next)) return now;
  const others = await store.findUsersByKeys(tx, accountId, keysOf(next));
  const strangers = others.filter(({ id }) => id !== now.id);
  if (strangers.length > 0) throw taken(next, strangers);
  const isCalledAlike = keysOf(now).join() === keysOf(next).join();
  // Whoever has the new address, or comes back, may come to sign in as this person: at once, or once somebody else lets the
  // person in again. Ending access alone is never held up.
  if (!isCalledAlike || (next.active && !now.active)) await deps.requireHeldOfPerson(tx, actor, now.id);
  if (!isCalledAlike) await deps.onEmailChanged(tx, { accountId, id: now.id });
  const user = await update(deps, tx, accountId, now.id, next);
  const gone = now.active && !next.active ? await leave(deps, tx, actor, now.id, "deactivated") : [];
  if (!isSame({ ...now, active: next.active }, next))
    await deps.audit.record(tx, actor, entry("user.update", now.id, { ...now, active: next.active }, next));
  if (now.active !== next.active)
    await deps.audit.record(
      tx,
      actor,
      entryWith(
        gone,
        entry(next.active ? "user.reactivate" : "user.deactivate", now.id, { ...next, active: now.active }, next),
      ),
    );
  return user;
}

const isSame = (one: Profile, other: Profile): boolean =>
  FIELDS.every((field) => canonical(one[field]) === canonical(other[field]));

/** The database keeps keys in an order of its own. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

async function update(deps: LifeDeps, tx: Tx, accountId: Uuid, id: Uuid, next: Profile): Promise<UserDetail> {
  try {
    return await store.updatePerson(tx, accountId, id, next, deps.clock.now());
  } catch (error) {
    const index = takenIndex(error);
    if (index === undefined) throw error;
    throw problem("identity.taken", [index === "users_by_email" ? next.email : (next.userName ?? next.email)]);
  }
}

/** Two at once: the database's own word for it, by the name of the index. */
function takenIndex(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && error.code === "23505") return "constraint" in error ? String(error.constraint) : "";
  return takenIndex(error.cause);
}

async function leave(deps: LifeDeps, tx: Tx, { accountId }: Actor, id: Uuid, how: Leaving) {
  const gone = await deps.onLeave(tx, { accountId, id }, how);
  await deps.keepAdministrator(tx, accountId);
  return gone;
}

const ACCOUNT = { orgIdentifier: null, projectIdentifier: null };

/** Throws `identity.no_user`, `access.last_administrator`, `core.stale_version`. */
export const deleteUser =
  (deps: LifeDeps) =>
  async (actor: Actor, id: Uuid, version?: number): Promise<void> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_manage", { accountId });
    await deps.db.transaction(async (tx) => {
      const now = await locked(tx, accountId, id, version);
      await store.markUserDeleted(tx, accountId, id, deps.clock.now());
      const named = await deps.leaveGroups(tx, accountId, ACCOUNT, { USER: toWire(id) });
      const gone = await leave(deps, tx, actor, id, "deleted");
      await deps.audit.record(tx, actor, entryWith([...gone, ...named], entry("user.delete", id, now)));
    });
  };

export type DeleteUser = ReturnType<typeof deleteUser>;
