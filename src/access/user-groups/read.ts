import type { Actor } from "../../core/actor.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { Page, Window } from "../../core/page.ts";
import { Problem } from "../../core/problem.ts";
import { scopeOf } from "../../core/reference.ts";
import type { Db } from "../../platform/db/db.ts";
import type { Permission } from "../grants/permission.ts";
import { authorize, authorizeSomewhere, refusalOf, seen } from "../grants/permits.ts";
import type { RequireScope } from "../places.ts";
import { problem } from "../problems.ts";
import {
  countGroupsOf,
  countMembers,
  countMembersOfGroups,
  membersOf,
  selectGroupsOf,
  selectMembers,
  selectMembersOfGroups,
} from "../store/members.ts";
import {
  countGroups,
  findGroup,
  findGroupById,
  findGroupsById,
  findGroupByName,
  selectGroups,
  type GroupFilter,
} from "../store/user-groups.ts";
import { allUsersOf, isBuiltIn, type GroupKey, type Member, type UserGroup } from "./user-group.ts";

/** A group that the actor may view with this permission; others do not exist. Throws `access.no_group`. */
export async function requireGroup(db: Db, actor: Actor, permission: Permission, key: GroupKey): Promise<UserGroup> {
  const { accountId } = actor;
  if ("identifier" in key) {
    authorize(actor, permission, scopeOf(accountId, key), key.identifier);
    if (allUsersOf(key).identifier === key.identifier) {
      if (permission !== "core_usergroup_view") throw problem("access.reserved_identifier", [key.identifier]);
      return allUsersOf(key);
    }
    const group = await findGroup(db, accountId, key);
    if (!group) throw problem("access.no_group", [key.identifier]);
    return group;
  }
  authorizeSomewhere(actor, permission);
  const group = await findGroupById(db, accountId, key.id);
  const refusal = group && refusalOf(actor, permission, scopeOf(accountId, group), group.identifier);
  if (!group || refusal) throw problem("access.no_group", [toWire(key.id)], { refusal });
  return group;
}

export const getGroup =
  ({ db }: { db: Db }) =>
  (actor: Actor, key: GroupKey): Promise<UserGroup> =>
    requireGroup(db, actor, "core_usergroup_view", key);

/** A group of the account itself, by name. */
export const getGroupByName =
  ({ db }: { db: Db }) =>
  async (actor: Actor, name: string): Promise<UserGroup> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_usergroup_view");
    const group = await findGroupByName(db, accountId, name);
    const refusal = group && refusalOf(actor, "core_usergroup_view", { accountId }, group.identifier);
    if (!group || refusal) throw problem("access.no_group", [name], { refusal });
    return group;
  };

/** The groups of one scope that the actor may view, by name. Throws what RequireScope throws. */
export const listGroups =
  ({ db, requireScope }: { db: Db; requireScope: RequireScope }) =>
  async (
    actor: Actor,
    { withBuiltIn = true, ...given }: Omit<GroupFilter, "seen"> & { readonly withBuiltIn?: boolean },
    window: Window,
  ): Promise<Page<UserGroup>> => {
    const { accountId } = actor;
    const scope = scopeOf(accountId, given);
    const filter = { ...given, seen: seen(actor, "core_usergroup_view", scope) };
    // An actor who may view none is refused; one who may view some gets those.
    if (filter.seen !== "all" && filter.seen.size === 0) authorize(actor, "core_usergroup_view", scope);
    await requireScope(actor, given);
    // The built-in group comes first.
    const first = withBuiltIn && matches(allUsersOf(given), filter) ? [allUsersOf(given)] : [];
    const { limit, offset } = window;
    const ahead = first.slice(offset, offset + limit);
    const from = { ...window, limit: limit - ahead.length, offset: Math.max(0, offset - first.length) };
    const items = [...ahead, ...(await selectGroups(db, accountId, filter, from))];
    return { items, ...window, total: async () => first.length + (await countGroups(db, accountId, filter)) };
  };

function matches(
  { identifier, name }: UserGroup,
  { searchTerm = "", identifiers, seen: visible, ...rest }: GroupFilter,
) {
  const term = searchTerm.toLowerCase();
  if (rest.externallyManaged || (identifiers && !identifiers.includes(identifier))) return false;
  if (visible !== "all" && !visible.has(identifier)) return false;
  return [name, identifier].some((text) => text.toLowerCase().includes(term));
}

/** The members by name. */
export const listMembers =
  ({ db }: { db: Db }) =>
  async (
    actor: Actor,
    key: GroupKey,
    { searchTerm = "", ...window }: Window & { readonly searchTerm?: string | undefined },
  ): Promise<Page<Member>> => {
    const { id, identifier } = await requireGroup(db, actor, "core_usergroup_view", key);
    if (isBuiltIn(identifier)) throw problem("access.everybody", [identifier]);
    const items = await selectMembers(db, actor.accountId, id, { searchTerm, ...window });
    return { items, ...window, total: () => countMembers(db, actor.accountId, id, searchTerm) };
  };

/** The members of groups that were just read with the actor's permission. */
export const createMembersOf =
  ({ db }: { db: Db }) =>
  async (actor: Actor, groups: readonly Pick<UserGroup, "id">[]): Promise<ReadonlyMap<Uuid, readonly Member[]>> =>
    groups.length === 0
      ? new Map()
      : membersOf(
          db,
          actor.accountId,
          groups.map(({ id }) => id),
        );

/** The groups of the account that each user is in and the actor may view, in the order of the users. */
export const listGroupsOf =
  ({ db }: { db: Db }) =>
  async (
    actor: Actor,
    userIds: readonly Uuid[],
    window: Window,
  ): Promise<readonly Page<Pick<UserGroup, "id" | "name">>[]> => {
    const { accountId } = actor;
    const visible = seen(actor, "core_usergroup_view", { accountId });
    const asked = { userIds, seen: visible === "all" ? null : [...visible] };
    const rows = await selectGroupsOf(db, accountId, asked, window);
    const found = Map.groupBy(rows, ({ userId }) => userId);
    return pagesOf(userIds, found, window, () => countGroupsOf(db, accountId, asked));
  };

/** The groups with these ids, in their order; `access.no_group` for those that the actor may not view. */
export const getGroups =
  ({ db }: { db: Db }) =>
  async (actor: Actor, ids: readonly Uuid[]): Promise<readonly (UserGroup | Problem)[]> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_usergroup_view");
    const groups = await findGroupsById(db, accountId, ids);
    const byId = new Map(groups.map((group) => [group.id, group]));
    return ids.map((id) => {
      const group = byId.get(id);
      const refusal = group && refusalOf(actor, "core_usergroup_view", scopeOf(accountId, group), group.identifier);
      return !group || refusal ? problem("access.no_group", [toWire(id)], { refusal }) : group;
    });
  };

/** The members of each group by name, in the order of the groups; `access.no_group` for those that the actor may not view. */
export const listMembersOfGroups =
  ({ db }: { db: Db }) =>
  async (actor: Actor, ids: readonly Uuid[], window: Window): Promise<readonly (Page<Member> | Problem)[]> => {
    const { accountId } = actor;
    const groups = await getGroups({ db })(actor, ids);
    const visible = groups.flatMap((group) => (group instanceof Problem ? [] : [group.id]));
    const rows = await selectMembersOfGroups(db, accountId, visible, window);
    const found = Map.groupBy(rows, ({ groupId }) => groupId);
    const pages = pagesOf(ids, found, window, () => countMembersOfGroups(db, accountId, visible));
    return pages.map((page, at) => (groups[at] instanceof Problem ? groups[at] : page));
  };

/** A page for each id. The totals of all are counted by one statement, when the first of them is asked for. */
function pagesOf<T>(
  ids: readonly Uuid[],
  found: ReadonlyMap<Uuid, readonly T[]>,
  window: Window,
  count: () => Promise<ReadonlyMap<Uuid, number>>,
): readonly Page<T>[] {
  let counted: Promise<ReadonlyMap<Uuid, number>> | undefined;
  const totals = () => (counted ??= count());
  return ids.map((id) => ({
    items: found.get(id) ?? [],
    ...window,
    total: async () => (await totals()).get(id) ?? 0,
  }));
}
