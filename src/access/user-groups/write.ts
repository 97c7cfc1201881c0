/**
 * Operations that create, change and delete groups. One operation changes name, description and members, since one
 * document contains them. Groups of an identity provider are changed by the provider only, and it changes no others.
 */
import type { Audit } from "../../audit/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { goneToo } from "../../platform/removed-reference.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import { commonProblem } from "../../core/problems.ts";
import { scopeOf, within } from "../../core/reference.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { compile } from "../grants/compile.ts";
import { preventEscalation } from "../grants/escalation.ts";
import type { Dereference } from "../references/dereference.ts";
import type { KeepAdministrator } from "../administrators/keep-administrator.ts";
import { authorize } from "../grants/permits.ts";
import type { RequireScope } from "../places.ts";
import { problem } from "../problems.ts";
import { findGroupGrants } from "../store/grants.ts";
import { addMembers, findPeople, memberIds, membersOf, removeMembers } from "../store/members.ts";
import { deleteGroupRow, insertGroup, lockGroup, updateGroupRow } from "../store/user-groups.ts";
import { requireGroup } from "./read.ts";
import {
  isBuiltIn,
  type FilledGroup,
  type GroupKey,
  type MemberChange,
  type NewUserGroup,
  type UserGroup,
  type Writer,
} from "./user-group.ts";

export type GroupDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly requireScope: RequireScope;
  readonly keepAdministrator: KeepAdministrator;
  readonly dereference: Dereference;
  /** Called after a change of grants. */
  readonly invalidateGrants: (tx: Tx, accountId: Uuid) => void;
};

/**
 * Throws what RequireScope throws, `access.reserved_identifier`, `access.duplicate`, `access.name_taken`,
 * `access.no_person`.
 */
export const createGroup =
  (deps: GroupDeps) =>
  async (
    actor: Actor,
    input: NewUserGroup,
    members: readonly Uuid[],
    writer: Writer = "interface",
  ): Promise<UserGroup> => {
    const { accountId } = actor;
    authorize(actor, "core_usergroup_manage", scopeOf(accountId, input), input.identifier);
    await deps.requireScope(actor, input);
    if (isBuiltIn(input.identifier)) throw problem("access.reserved_identifier", [input.identifier]);
    const at = deps.clock.now();
    const group: UserGroup = {
      ...input,
      id: deps.newId(),
      externallyManaged: writer === "provider",
      externalId: input.externalId ?? null,
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    await deps.db.transaction(async (tx) => {
      await requirePeople(tx, accountId, members);
      if (!(await insertGroup(tx, accountId, group)))
        throw problem("access.duplicate", ["user group", group.identifier]);
      await addMembers(tx, accountId, group.id, { ids: members, at });
      await record(tx, deps, actor, { operation: "user-group.create", group, after: view(group, { added: members }) });
      deps.invalidateGrants(tx, accountId);
    });
    return group;
  };

/** A change of a group. Missing fields stay as they are. */
export type GroupChange = Partial<Pick<UserGroup, "name" | "description" | "tags" | "externalId">> & {
  readonly members?: MemberChange | undefined;
};

/**
 * Throws `access.no_group`, `access.externally_managed`, `access.name_taken`, `access.no_person`,
 * `access.last_administrator`, and `access.beyond_own` if the group grants a new member more than the actor holds.
 */
export const updateGroup =
  (deps: GroupDeps) =>
  async (
    actor: Actor,
    key: GroupKey,
    change: GroupChange,
    writer: Writer = "interface",
    version?: number,
  ): Promise<UserGroup> => {
    const found = await requireGroup(deps.db, actor, "core_usergroup_manage", key);
    return deps.db.transaction((tx) => changeGroup(tx, deps, actor, { found, change, writer, version }));
  };

/**
 * As `updateGroup`, for an identity provider. `to` computes the change with the group locked; undefined changes
 * nothing. Returns the group after the change.
 */
export const changeProvidedGroup =
  (deps: GroupDeps) =>
  async (
    actor: Actor,
    id: Uuid,
    {
      version,
      to,
    }: { readonly version: number | undefined; readonly to: (now: FilledGroup) => GroupChange | undefined },
  ): Promise<FilledGroup> => {
    const { accountId } = actor;
    const found = await requireGroup(deps.db, actor, "core_usergroup_manage", { id });
    return deps.db.transaction(async (tx) => {
      const update = { found, writer: "provider", version } as const;
      const now = await filled(tx, accountId, await lockFor(tx, accountId, found, update));
      const change = to(now);
      return change ? filled(tx, accountId, await changeGroup(tx, deps, actor, { ...update, change })) : now;
    });
  };

async function filled(tx: Tx, accountId: Uuid, group: UserGroup): Promise<FilledGroup> {
  return { group, members: (await membersOf(tx, accountId, [group.id])).get(group.id) ?? [] };
}

type GroupUpdate = {
  readonly found: UserGroup;
  readonly change: GroupChange;
  readonly writer: Writer;
  readonly version?: number | undefined;
};

/** The change itself, in the caller's transaction. */
export async function changeGroup(tx: Tx, deps: GroupDeps, actor: Actor, update: GroupUpdate): Promise<UserGroup> {
  const { accountId } = actor;
  const { members, ...fields } = update.change;
  const group = await lockFor(tx, accountId, update.found, update);
  const { added, removed } = await changeMembers(tx, deps, actor, { group, members });
  const to: UserGroup = { ...group, ...fields, version: group.version + 1, updatedAt: deps.clock.now() };
  await updateGroupRow(tx, accountId, to);
  const [before, after] = [view(group, {}), view(to, { added, removed })];
  await record(tx, deps, actor, { operation: "user-group.update", group, before, after });
  deps.invalidateGrants(tx, accountId);
  if (removed.length > 0) await deps.keepAdministrator(tx, accountId);
  return to;
}

/** Deletes a group with its memberships and assignments. Throws what `updateGroup` throws. */
export const deleteGroup =
  (deps: GroupDeps) =>
  async (actor: Actor, key: GroupKey, writer: Writer = "interface", version?: number): Promise<UserGroup> => {
    const { accountId } = actor;
    const found = await requireGroup(deps.db, actor, "core_usergroup_manage", key);
    return deps.db.transaction(async (tx) => {
      const group = await lockFor(tx, accountId, found, { writer, version });
      const held = await deleteGroupRow(tx, accountId, group.id);
      const gone = [...held, ...(await deps.dereference(tx, accountId, group, { USERGROUP: group.identifier }))];
      const before = { ...goneToo(gone), ...view(group, {}) };
      await record(tx, deps, actor, { operation: "user-group.delete", group, before });
      deps.invalidateGrants(tx, accountId);
      await deps.keepAdministrator(tx, accountId);
      return group;
    });
  };

/** Locks the group. Throws `core.stale_version` if `version`, which the caller has read, is outdated. */
async function lockFor(
  tx: Tx,
  accountId: Uuid,
  { id, identifier }: UserGroup,
  { writer, version }: { readonly writer: Writer; readonly version?: number | undefined },
): Promise<UserGroup> {
  const group = await lockGroup(tx, accountId, id);
  if (!group) throw problem("access.no_group", [identifier]);
  if (writer === "interface" && group.externallyManaged) throw problem("access.externally_managed", [identifier]);
  if (writer === "provider" && !group.externallyManaged) throw problem("access.no_group", [identifier]);
  if (version !== undefined && version !== group.version)
    throw commonProblem("core.stale_version", ["User Group", identifier, String(group.version), String(version)]);
  return group;
}

type Changed = { readonly added: readonly Uuid[]; readonly removed: readonly Uuid[] };

async function changeMembers(
  tx: Tx,
  deps: GroupDeps,
  actor: Actor,
  { group, members = {} }: { readonly group: UserGroup; readonly members: MemberChange | undefined },
): Promise<Changed> {
  const { accountId } = actor;
  const { add, remove } =
    "replace" in members
      ? await difference(tx, accountId, group.id, members.replace)
      : { add: [], remove: [], ...members };
  await requirePeople(tx, accountId, add);
  const at = deps.clock.now();
  const added = add.length === 0 ? [] : await addMembers(tx, accountId, group.id, { ids: add, at });
  if (added.length > 0) preventEscalation(actor, compile(await findGroupGrants(tx, accountId, group.id)));
  const removed = remove.length === 0 ? [] : await removeMembers(tx, accountId, group.id, remove);
  return { added, removed };
}

async function difference(tx: Tx, accountId: Uuid, groupId: Uuid, to: readonly Uuid[]) {
  const now = new Set(await memberIds(tx, accountId, groupId));
  const then = new Set(to);
  return { add: [...then.difference(now)], remove: [...now.difference(then)] };
}

async function requirePeople(tx: Tx, accountId: Uuid, ids: readonly Uuid[]): Promise<void> {
  if (ids.length === 0) return;
  const found = new Set((await findPeople(tx, accountId, ids)).map(({ id }) => id));
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throw problem("access.no_person", [toWire(missing)]);
}

const view = ({ name, description, tags, externalId }: UserGroup, members: Partial<Changed>) => ({
  name,
  description,
  tags,
  externalId,
  ...(members.added?.length ? { membersAdded: members.added.map(toWire) } : {}),
  ...(members.removed?.length ? { membersRemoved: members.removed.map(toWire) } : {}),
});

type View = ReturnType<typeof view>;
type Recorded = {
  readonly operation: string;
  readonly group: UserGroup;
  readonly before?: View;
  readonly after?: View;
};

const record = (tx: Tx, { audit }: GroupDeps, actor: Actor, { operation, group, before, after }: Recorded) => {
  const scope = within(group);
  return audit.record(tx, actor, {
    operation,
    resourceType: "USER_GROUP",
    resourceId: group.identifier,
    scope,
    before,
    after,
  });
};
