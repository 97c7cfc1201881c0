/** Operations of directories on users, with the operations of the identity slice. */
import type { Authorize, Permission } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import type { ChangeUser, DeleteUser, Profile, ProvisionUser, StoredUser } from "../identity/index.ts";
import type { Db } from "../platform/db/db.ts";
import { applyPatch } from "./document/patch.ts";
import type { Operation } from "./document/patch-operations.ts";
import { profileOf, resourceOf, shownPerson } from "./document/person.ts";
import { problem } from "./problems.ts";
import type { Resource } from "./schema/attribute.ts";
import { USER } from "./schema/resources.ts";
import {
  findUserRow,
  selectMembershipsOfUsers,
  searchUsers,
  shortenPage,
  type Found,
  type Search,
} from "./store/search.ts";

export type UserResourceDeps = {
  readonly db: Db;
  readonly authorize: Authorize;
  readonly provisionUser: ProvisionUser;
  readonly changeUser: ChangeUser;
  readonly deleteUser: DeleteUser;
};

/** A resource before the server adds attributes, with the facts for them. */
export type StoredResource = {
  readonly id: string;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly resource: Resource;
};

/** A resource to change. `version` is the one that the caller has read; undefined for any. */
export type ResourceVersion = { readonly id: string; readonly version: number | undefined };

/** Operations on users or groups. */
export type Operations = {
  /**
   * Checks the permission before the body is read, since errors in the body would tell an unauthorized caller
   * something.
   */
  readonly check: (actor: Actor, permission: Permission) => void;
  readonly create: (actor: Actor, resource: Resource) => Promise<StoredResource>;
  readonly get: (actor: Actor, id: string) => Promise<StoredResource>;
  /** The current version, for an actor who may change the resource. */
  readonly versionOf: (actor: Actor, id: string) => Promise<number>;
  readonly search: (actor: Actor, search: Search) => Promise<Found<StoredResource>>;
  readonly replace: (actor: Actor, target: ResourceVersion, resource: Resource) => Promise<StoredResource>;
  readonly patch: (actor: Actor, target: ResourceVersion, operations: readonly Operation[]) => Promise<StoredResource>;
  readonly remove: (actor: Actor, target: ResourceVersion) => Promise<void>;
};

export function createUserResources(deps: UserResourceDeps): Operations {
  const { db, authorize } = deps;

  async function toStored(accountId: Uuid, users: readonly StoredUser[]): Promise<StoredResource[]> {
    const memberships = await selectMembershipsOfUsers(
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
  const one = async (accountId: Uuid, user: StoredUser): Promise<StoredResource> =>
    (await toStored(accountId, [user]))[0] as StoredResource;

  const requireRow = async ({ accountId }: Actor, id: string): Promise<StoredUser> => {
    const user = await findUserRow(db, accountId, idOf(id));
    if (!user) throw noUser(id);
    return user;
  };

  const change = async (actor: Actor, { id, version }: ResourceVersion, to: (now: StoredUser) => Profile) => {
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
      return one(actor.accountId, await requireRow(actor, id));
    },
    versionOf: async (actor, id) => {
      authorize(actor, "core_user_manage", { accountId: actor.accountId });
      return (await requireRow(actor, id)).version;
    },
    search: async (actor, search) => {
      const { accountId } = actor;
      authorize(actor, "core_user_view", { accountId });
      const { items, total } = await searchUsers(db, accountId, search);
      const rows = await shortenPage(db, accountId, { rows: items, by: "user_id" });
      return { items: await toStored(accountId, rows), total };
    },
    replace: (actor, target, resource) => change(actor, target, (now) => profileOf(resource, now)),
    patch: (actor, target, operations) =>
      change(actor, target, (now) => {
        const before = { id: target.id, resource: resourceOf(now) };
        return profileOf(applyPatch(USER, before, operations), now);
      }),
    remove: async (actor, { id, version }) => {
      authorize(actor, "core_user_manage", { accountId: actor.accountId });
      await deps.deleteUser(actor, idOf(id), version);
    },
  };
}

const factsOf = ({ id, version, createdAt, updatedAt }: StoredUser) => ({
  id: toWire(id),
  version,
  createdAt,
  updatedAt,
});

const noUser = (id: string): Error => problem("scim.no_resource", ["User", id.slice(0, 64)]);

function idOf(text: string): Uuid {
  const id = fromWire(text);
  if (!id) throw noUser(text);
  return id;
}
