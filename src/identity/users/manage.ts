/** Operations of administrators on users, in the shape of the public API. */
import type { Authorize } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import type { Profile, StoredUser, UserDetail } from "../user.ts";
import { parseEmail, requireName } from "./fold.ts";
import type { ChangeUser, CreateUser, DeleteUser } from "./life-cycle.ts";

/** Makes a user a member of exactly these groups of the account, by their ids. Throws if one of them does not exist. */
export type SetGroups = (tx: Tx, actor: Actor, userId: Uuid, groupIds: readonly string[]) => Promise<void>;

export type ManageDeps = {
  readonly authorize: Authorize;
  readonly createUser: CreateUser;
  readonly changeUser: ChangeUser;
  readonly deleteUser: DeleteUser;
  readonly setGroups: SetGroups;
};

type UserInput = {
  readonly name?: string | null | undefined;
  readonly userGroupIds?: readonly string[] | null | undefined;
};

export type AddResult = "USER_ADDED_SUCCESSFULLY" | "USER_ALREADY_ADDED" | "FAIL";

/** Creates a user in these groups. Throws what `createUser` throws. */
export const createManagedUser =
  (deps: ManageDeps) =>
  async (actor: Actor, { email, name, userGroupIds }: UserInput & { readonly email: string }): Promise<UserDetail> => {
    const displayName = name == null ? null : requireName(name);
    return deps.createUser(actor, { email, displayName }, setGroupsTo(deps, actor, userGroupIds));
  };

/** Adds each address separately, with one result for each. */
export const addUsers = (deps: ManageDeps) => {
  const create = createManagedUser(deps);
  return async (
    actor: Actor,
    emails: readonly string[],
    userGroupIds: readonly string[],
  ): Promise<Record<string, AddResult>> => {
    deps.authorize(actor, "core_user_invite", { accountId: actor.accountId });
    const results: Record<string, AddResult> = Object.create(null) as Record<string, AddResult>;
    for (const email of emails) results[email] = await resultOf(() => create(actor, { email, userGroupIds }), email);
    return results;
  };
};

/**
 * Changes the name, and the groups if they are given: then to exactly these. Throws what `changeUser` throws,
 * `identity.managed_externally`.
 */
export const updateManagedUser =
  (deps: ManageDeps) =>
  async (actor: Actor, id: string, { name, userGroupIds }: UserInput): Promise<UserDetail> =>
    deps.changeUser(actor, requireId(deps, actor, id), {
      to: (now) => withName(now, name),
      besides: setGroupsTo(deps, actor, userGroupIds),
    });

/** Ends tokens, sessions and memberships permanently. The user can be reactivated. */
export const deactivateUser = (deps: ManageDeps) => setActive(deps, false);

/** Lets a user sign in again, who then has no tokens and no memberships. */
export const reactivateUser = (deps: ManageDeps) => setActive(deps, true);

export const deleteManagedUser =
  (deps: ManageDeps) =>
  async (actor: Actor, id: string, version?: number): Promise<void> =>
    deps.deleteUser(actor, requireId(deps, actor, id), version);

export type CreateManagedUser = ReturnType<typeof createManagedUser>;
export type AddUsers = ReturnType<typeof addUsers>;
export type UpdateManagedUser = ReturnType<typeof updateManagedUser>;
export type SetUserActive = ReturnType<typeof setActive>;
export type DeleteManagedUser = ReturnType<typeof deleteManagedUser>;

const setActive =
  (deps: ManageDeps, active: boolean) =>
  async (actor: Actor, id: string, version?: number): Promise<UserDetail> =>
    deps.changeUser(actor, requireId(deps, actor, id), { version, to: (now) => ({ ...now, active }) });

const setGroupsTo =
  ({ setGroups }: ManageDeps, actor: Actor, ids: readonly string[] | null | undefined) =>
  async (tx: Tx, { id }: UserDetail): Promise<void> => {
    if (ids) await setGroups(tx, actor, id, ids);
  };

async function resultOf(create: () => Promise<unknown>, email: string): Promise<AddResult> {
  if (parseEmail(email) === undefined) return "FAIL";
  try {
    await create();
    return "USER_ADDED_SUCCESSFULLY";
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "identity.taken") return "USER_ALREADY_ADDED";
    throw error;
  }
}

/** Reads an id after the permission check: only an administrator of users learns that it is unknown. */
function requireId({ authorize }: ManageDeps, actor: Actor, text: string): Uuid {
  authorize(actor, "core_user_manage", { accountId: actor.accountId });
  const id = fromWire(text);
  if (!id) throw problem("identity.no_user");
  return id;
}

function withName(now: StoredUser, name: string | null | undefined): Profile {
  if (name == null || name === now.name) return now;
  if (now.managedExternally) throw problem("identity.managed_externally", [toWire(now.id)]);
  return { ...now, displayName: requireName(name) };
}
