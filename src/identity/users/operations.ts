/** Operations of administrators on users, in the shape of the public API. */
import type { Actor } from "../../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { Authorize } from "../../access/index.ts";
import type { Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import type { Profile, UserDetail } from "../user.ts";
import { emailOf, requireName } from "./fold.ts";
import type { ChangeUser, CreateUser, DeleteUser } from "./life-cycle.ts";

/** Makes a user a member of exactly these groups of the account, by their ids. Throws if one of them does not exist. */
export type SetGroups = (tx: Tx, actor: Actor, userId: Uuid, groupIds: readonly string[]) => Promise<void>;

type Deps = {
  readonly authorize: Authorize;
  readonly create: CreateUser;
  readonly change: ChangeUser;
  readonly delete: DeleteUser;
  readonly setGroups: SetGroups;
};

type UserInput = {
  readonly name?: string | null | undefined;
  readonly userGroupIds?: readonly string[] | null | undefined;
};
export type AddResult = "USER_ADDED_SUCCESSFULLY" | "USER_ALREADY_ADDED" | "FAIL";

export type UserOperations = ReturnType<typeof createUserOperations>;

export function createUserOperations(deps: Deps) {
  const { setGroups } = deps;
  const groups =
    (actor: Actor, ids: readonly string[] | null | undefined) =>
    async (tx: Tx, { id }: UserDetail): Promise<void> => {
      if (ids) await setGroups(tx, actor, id, ids);
    };

  /** Throws what `createUser` throws. */
  const create = (actor: Actor, { email, ...input }: UserInput & { readonly email: string }): Promise<UserDetail> => {
    const displayName = input.name == null ? null : requireName(input.name);
    return deps.create(actor, { email, displayName }, groups(actor, input.userGroupIds));
  };

  const setActive = (active: boolean) => (actor: Actor, id: string, version?: number) =>
    deps.change(actor, idOf(deps, actor, id), { version, to: (now) => ({ ...now, active }) });

  return {
    create,
    /**
     * Changes the name, and the groups if they are given: then to exactly these. Throws `identity.managed_externally`,
     * too.
     */
    update: (actor: Actor, id: string, input: UserInput): Promise<UserDetail> =>
      deps.change(actor, idOf(deps, actor, id), {
        to: (now) => renamed(now, input.name),
        besides: groups(actor, input.userGroupIds),
      }),
    /** Ends tokens, sessions and memberships permanently. The user can be reactivated. */
    deactivate: setActive(false),
    reactivate: setActive(true),
    delete: (actor: Actor, id: string, version?: number): Promise<void> =>
      deps.delete(actor, idOf(deps, actor, id), version),
    /** Adds each address separately, with one result for each. */
    add: async (actor: Actor, emails: readonly string[], userGroupIds: readonly string[]) => {
      deps.authorize(actor, "core_user_invite", { accountId: actor.accountId });
      const results: Record<string, AddResult> = Object.create(null) as Record<string, AddResult>;
      for (const email of emails) results[email] = await addOne(() => create(actor, { email, userGroupIds }), email);
      return results;
    },
  };
}

async function addOne(create: () => Promise<unknown>, email: string): Promise<AddResult> {
  if (emailOf(email) === undefined) return "FAIL";
  try {
    await create();
    return "USER_ADDED_SUCCESSFULLY";
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "identity.taken") return "USER_ALREADY_ADDED";
    throw error;
  }
}

/** Reads an id after the permission check: only an administrator of users learns that it is unknown. */
function idOf({ authorize }: Pick<Deps, "authorize">, actor: Actor, text: string): Uuid {
  authorize(actor, "core_user_manage", { accountId: actor.accountId });
  const id = fromWire(text);
  if (!id) throw problem("identity.no_user");
  return id;
}

function renamed(now: UserDetail, name: string | null | undefined): Profile {
  if (name == null || name === now.name) return now;
  if (now.managedExternally) throw problem("identity.managed_externally", [toWire(now.id)]);
  return { ...now, displayName: requireName(name) };
}
