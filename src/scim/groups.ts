/**
 * Operations of directories on groups: on their own groups only. A group that was created here is neither listed nor
 * changed, so that no directory grants roles through a group that happens to have the same name.
 */
import { identifierOf, type Authorize, type FilledGroup, type GroupChange, type UserGroups } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Db } from "../platform/db/db.ts";
import { applyPatch } from "./document/patch.ts";
import { isMap } from "./document/read.ts";
import type { Operations, ResourceVersion, StoredResource } from "./people.ts";
import { problem } from "./problems.ts";
import type { Resource } from "./schema/attribute.ts";
import { GROUP } from "./schema/resources.ts";
import {
  findManagedGroup,
  selectMembershipsOfGroups,
  searchGroups,
  shortenPage,
  type GroupRow,
  type Membership,
} from "./store/search.ts";

export type GroupResourceDeps = {
  readonly db: Db;
  readonly authorize: Authorize;
  readonly userGroups: Pick<UserGroups, "create" | "changeProvided" | "delete">;
};

/** The fields of a group that a directory sends. */
type GroupFields = { readonly name: string; readonly externalId: string | null; readonly members: readonly Uuid[] };

const ACCOUNT = { orgIdentifier: null, projectIdentifier: null };
const MAX_TEXT = 128;

export function createGroupResources(deps: GroupResourceDeps): Operations {
  const { db, authorize, userGroups } = deps;
  const manage = (actor: Actor): void => authorize(actor, "core_usergroup_manage", { accountId: actor.accountId });

  const requireRow = async (actor: Actor, text: string): Promise<GroupRow> => {
    const id = fromWire(text);
    const group = id && (await findManagedGroup(db, actor.accountId, id));
    if (!group) throw problem("scim.no_resource", ["Group", text.slice(0, 64)]);
    return group;
  };
  const toStored = async (actor: Actor, groups: readonly GroupRow[]): Promise<StoredResource[]> => {
    const ids = groups.map(({ id }) => id);
    const members = Map.groupBy(await selectMembershipsOfGroups(db, actor.accountId, ids), ({ groupId }) => groupId);
    return groups.map((group) => ({ ...factsOf(group), resource: resourceOf(group, members.get(group.id) ?? []) }));
  };
  const one = async (actor: Actor, id: string): Promise<StoredResource> =>
    (await toStored(actor, [await requireRow(actor, id)]))[0] as StoredResource;

  /**
   * Computes the change with the group locked: of two requests that set the members the later one wins, and of two that
   * add members both take effect.
   */
  async function save(
    actor: Actor,
    target: ResourceVersion,
    to: (now: Resource) => GroupFields,
  ): Promise<StoredResource> {
    const { version } = target;
    const { id } = await requireRow(actor, target.id);
    return storedResourceOf(await userGroups.changeProvided(actor, id, { version, to: (now) => changeOf(now, to) }));
  }

  return {
    check: (actor, permission) => authorize(actor, permission, { accountId: actor.accountId }),
    create: async (actor, resource) => {
      const { name, externalId, members } = readGroupFields(resource);
      const fields = { ...ACCOUNT, name, externalId, description: "", tags: {} };
      const make = (identifier: string) =>
        userGroups.create(actor, { ...fields, identifier }, { members, writer: "provider" });
      return one(actor, toWire((await withFreeIdentifier(identifierOf(name), make)).id));
    },
    get: (actor, id) => {
      authorize(actor, "core_usergroup_view", { accountId: actor.accountId });
      return one(actor, id);
    },
    versionOf: async (actor, id) => {
      manage(actor);
      return (await requireRow(actor, id)).version;
    },
    search: async (actor, search) => {
      const { items, total } = await searchGroups(db, actor.accountId, search);
      const rows = await shortenPage(db, actor.accountId, { rows: items, by: "group_id" });
      return { items: await toStored(actor, rows), total };
    },
    replace: async (actor, target, resource) => {
      manage(actor);
      return save(actor, target, () => readGroupFields(resource));
    },
    patch: async (actor, target, operations) => {
      manage(actor);
      return save(actor, target, (now) =>
        readGroupFields(applyPatch(GROUP, { id: target.id, resource: now }, operations)),
      );
    },
    remove: async (actor, target) => {
      manage(actor);
      const { version } = target;
      const { id } = await requireRow(actor, target.id);
      await userGroups.delete(actor, { id }, { writer: "provider", version });
    },
  };
}

/** Undefined if the group is up to date. `access/user-groups/members/change.ts` finds out who is added and removed. */
function changeOf(now: FilledGroup, to: (now: Resource) => GroupFields): GroupChange | undefined {
  const { name, externalId, members } = to(storedResourceOf(now).resource);
  const { group } = now;
  const isSame = name === group.name && externalId === group.externalId;
  const left = new Set(now.members.map(({ id }) => id)).symmetricDifference(new Set(members));
  return isSame && left.size === 0 ? undefined : { name, externalId, members: { replace: members } };
}

const MAX_SAME_NAMES = 20;

/**
 * Creates a group with an identifier derived from its name. Several names may give the same identifier (a.b and a-b),
 * and a renamed group keeps its own, so a number is appended if it is taken. Role assignments use the identifier.
 */
async function withFreeIdentifier<T>(identifier: string, make: (identifier: string) => Promise<T>): Promise<T> {
  for (let nth = 1; ; nth += 1) {
    try {
      return await make(nth === 1 ? identifier : `${identifier}_${nth}`);
    } catch (error) {
      if (nth === MAX_SAME_NAMES || !(error instanceof Problem) || error.code !== "access.duplicate") throw error;
    }
  }
}

const storedResourceOf = ({ group, members }: FilledGroup): StoredResource => ({
  ...factsOf(group),
  resource: resourceOf(
    group,
    members.map(({ id, name }) => ({ userId: id, user: name })),
  ),
});

const factsOf = ({
  id,
  version,
  createdAt,
  updatedAt,
}: Pick<GroupRow, "id" | "version" | "createdAt" | "updatedAt">) => ({
  id: toWire(id),
  version,
  createdAt,
  updatedAt,
});

const resourceOf = (
  { name, externalId }: Pick<GroupRow, "name" | "externalId">,
  members: readonly Pick<Membership, "userId" | "user">[],
): Resource => ({
  ...(externalId === null ? {} : { externalId }),
  displayName: name,
  ...(members.length === 0
    ? {}
    : { members: members.map(({ userId, user }) => ({ value: toWire(userId), display: user, type: "User" })) }),
});

/** Throws `scim.invalid_value`. */
function readGroupFields({ displayName, externalId, members }: Resource): GroupFields {
  const name = typeof displayName === "string" ? displayName.normalize("NFC").trim() : "";
  if (name === "" || name.length > MAX_TEXT || /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(name))
    throw problem("scim.invalid_value", [
      `displayName is required and has ${MAX_TEXT} characters at most, none of them for control.`,
    ]);
  if (typeof externalId === "string" && externalId.length > 256)
    throw problem("scim.invalid_value", ["externalId has 256 characters at most."]);
  const ids = (Array.isArray(members) ? members : []).map(memberOf);
  return { name, externalId: typeof externalId === "string" ? externalId : null, members: [...new Set(ids)] };
}

function memberOf(member: unknown): Uuid {
  const { value, type } = isMap(member) ? member : {};
  if (typeof type === "string" && type.toLowerCase() !== "user")
    throw problem("scim.invalid_value", ["Members of a group are people: groups in groups are not supported."]);
  const id = typeof value === "string" ? fromWire(value) : undefined;
  if (!id) throw problem("scim.invalid_value", [`No User has the id [${String(value).slice(0, 64)}].`]);
  return id;
}
