/** Operations of directories on users, with the operations of the identity slice. */
import type { Authorize, Permission } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import type { ChangeUser, DeleteUser, Profile, ProvisionUser, UserDetail } from "../identity/index.ts";
import type { Db } from "../platform/db/db.ts";
import { patched, type Operation } from "./document/patch.ts";
import { profileOf, resourceOf, shownPerson } from "./document/person.ts";
import { problem } from "./problems.ts";
import type { Resource } from "./schema/attribute.ts";
import { USER } from "./schema/resources.ts";
import { findPerson, membershipsOfPeople, searchPeople, type Found, type Search } from "./store/search.ts";

export type PeopleDeps = {
  readonly db: Db;
  readonly authorize: Authorize;
  readonly provisionUser: ProvisionUser;
  readonly changeUser: ChangeUser;
  readonly deleteUser: DeleteUser;
};

/** A resource before the server adds attributes, with the facts for them. */
export type Kept = {
  readonly id: string;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly resource: Resource;
};

/** Operations on users or groups. `version` is the one that the caller has read. */
export type Operations = {
  /**
   * Checks the permission before the body is read, since errors in the body would tell an unauthorized caller
   * something.
   */
  readonly check: (actor: Actor, permission: Permission) => void;
  readonly create: (actor: Actor, resource: Resource) => Promise<Kept>;
  readonly get: (actor: Actor, id: string) => Promise<Kept>;
  /** The current version, for an actor who may change the resource. */
  readonly versionOf: (actor: Actor, id: string) => Promise<number>;
  readonly search: (actor: Actor, asked: Search) => Promise<Found<Kept>>;
  readonly replace: (actor: Actor, id: string, resource: Resource, version: number | undefined) => Promise<Kept>;
  readonly patch: (
    actor: Actor,
    id: string,
    operations: readonly Operation[],
    version: number | undefined,
  ) => Promise<Kept>;
  readonly remove: (actor: Actor, id: string, version: number | undefined) => Promise<void>;
};

export function createPeople(deps: PeopleDeps): Operations {
  const { db, authorize } = deps;

  async function kept(accountId: Uuid, users: readonly UserDetail[]): Promise<Kept[]> {
    const memberships = await membershipsOfPeople(
      db,
      accountId,
      users.map(({ id }) => id),
    );
    const byPerson = Map.groupBy(memberships, ({ userId }) => userId);
    return users.map((user) => {
      const groups = byPerson
        .get(user.id)
        ?.map(({ groupId, group }) => ({ value: toWire(groupId), display: group, type: "direct" }));
      return { ...factsOf(user), resource: { ...shownPerson(user), ...(groups ? { groups } : {}) } };
    });
  }
  const one = async (accountId: Uuid, user: UserDetail): Promise<Kept> => (await kept(accountId, [user]))[0] as Kept;

  const found = async ({ accountId }: Actor, id: string): Promise<UserDetail> => {
    const user = await findPerson(db, accountId, idOf(id));
    if (!user) throw noPerson(id);
    return user;
  };

  const change = async (actor: Actor, id: string, version: number | undefined, to: (now: UserDetail) => Profile) => {
    const { accountId } = actor;
    authorize(actor, "core_user_manage", { accountId });
    return one(accountId, await deps.changeUser(actor, idOf(id), { version, to }));
  };

  return {
    check: (actor, permission) => authorize(actor, permission, { accountId: actor.accountId }),
    create: async (actor, resource) => {
      return one(actor.accountId, await deps.provisionUser(actor, profileOf(resource)));
    },
    get: async (actor, id) => {
      authorize(actor, "core_user_view", { accountId: actor.accountId });
      return one(actor.accountId, await found(actor, id));
    },
    versionOf: async (actor, id) => {
      authorize(actor, "core_user_manage", { accountId: actor.accountId });
      return (await found(actor, id)).version;
    },
    search: async (actor, asked) => {
      const { accountId } = actor;
      authorize(actor, "core_user_view", { accountId });
      const { items, total } = await searchPeople(db, accountId, asked);
      return { items: await kept(accountId, items), total };
    },
    replace: (actor, id, resource, version) => change(actor, id, version, (now) => profileOf(resource, now)),
    patch: (actor, id, operations, version) =>
      change(actor, id, version, (now) => profileOf(patched(USER, resourceOf(now), operations, id), now)),
    remove: async (actor, id, version) => {
      authorize(actor, "core_user_manage", { accountId: actor.accountId });
      await deps.deleteUser(actor, idOf(id), version);
    },
  };
}

const factsOf = ({ id, version, createdAt, updatedAt }: UserDetail) => ({
  id: toWire(id),
  version,
  createdAt,
  updatedAt,
});

const noPerson = (id: string): Error => problem("scim.no_resource", ["User", id.slice(0, 64)]);

function idOf(text: string): Uuid {
  const id = fromWire(text);
  if (!id) throw noPerson(text);
  return id;
}
