import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Referred } from "../../core/reference.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { Member, UserGroup } from "../user-groups/user-group.ts";
import { columnsOf } from "./named.ts";

const OF_GROUP = `from user_group_members m join users u on u.account_id = m.account_id and u.id = m.user_id
  where m.account_id = $1 and m.group_id = $2 and (strpos(lower(u.name), lower($3)) > 0 or strpos(lower(u.email), lower($3)) > 0)`;

type MemberQuery = { readonly groupId: Uuid; readonly searchTerm: string };

export const selectMembers = (
  db: Store,
  accountId: Uuid,
  { groupId, searchTerm, window: { limit, offset, order } }: MemberQuery & { readonly window: Window },
): Promise<Member[]> =>
  db.query<Member>(
    `${statementPrefix(order)}select u.id, u.name, u.email ${OF_GROUP} order by ${orderBy(order, "name")} limit $4 offset $5`,
    [accountId, groupId, searchTerm, limit, offset],
  );

export async function countMembers(db: Store, accountId: Uuid, { groupId, searchTerm }: MemberQuery): Promise<number> {
  const rows = await db.query<{ total: number }>(`select count(*) as total ${OF_GROUP}`, [
    accountId,
    groupId,
    searchTerm,
  ]);
  return rows[0]?.total ?? 0;
}

/** The members of several groups at once, by the id of the group. */
export async function membersOf(
  db: Store,
  accountId: Uuid,
  groupIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, readonly Member[]>> {
  const rows = await db.query<Member & { groupId: Uuid }>(
    `select m.group_id as "groupId", u.id, u.name, u.email
       from user_group_members m join users u on u.account_id = m.account_id and u.id = m.user_id
      where m.account_id = $1 and m.group_id = any ($2::uuid[]) order by u.name, u.id`,
    [accountId, groupIds],
  );
  return Map.groupBy(rows, ({ groupId }) => groupId);
}

/** Name and addresses of each group, by its index in `keys`; at most `limit` addresses of a group. Checks no permission. */
export async function findGroupAddresses(
  db: Store,
  accountId: Uuid,
  { keys, limit }: { readonly keys: readonly Referred[]; readonly limit: number },
): Promise<ReadonlyMap<number, { readonly name: string; readonly addresses: readonly string[] }>> {
  const rows = await db.query<{ nth: number; name: string; addresses: string[] }>(
    `select k.nth, g.name,
            array(select u.email from user_group_members m join users u on u.account_id = m.account_id and u.id = m.user_id
                   where m.account_id = $1 and m.group_id = g.id and u.deleted_at is null
                   order by u.email limit $5) as addresses
       from unnest($2::text[], $3::text[], $4::text[]) with ordinality as k (org, project, identifier, nth)
       join user_groups g on g.account_id = $1 and g.identifier = k.identifier
        and g.org_identifier is not distinct from k.org and g.project_identifier is not distinct from k.project`,
    [accountId, ...columnsOf(keys), limit],
  );
  return new Map(rows.map(({ nth, ...group }) => [nth - 1, group]));
}

export async function memberIds(db: Store, accountId: Uuid, groupId: Uuid): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `select user_id as id from user_group_members where account_id = $1 and group_id = $2`,
    [accountId, groupId],
  );
  return rows.map(({ id }) => id);
}

/** Adds members. Returns those who were not members before. */
export async function addMembers(
  db: Store,
  accountId: Uuid,
  { groupId, ids, at }: { readonly groupId: Uuid; readonly ids: readonly Uuid[]; readonly at: number },
): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `insert into user_group_members (account_id, group_id, user_id, created_at)
     select $1, $2, id, $4 from unnest($3::uuid[]) as id on conflict do nothing returning user_id as id`,
    [accountId, groupId, ids, at],
  );
  return rows.map(({ id }) => id);
}

/** Removes members. Returns those who were members. */
export async function removeMembers(
  db: Store,
  accountId: Uuid,
  { groupId, ids }: { readonly groupId: Uuid; readonly ids: readonly Uuid[] },
): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `delete from user_group_members where account_id = $1 and group_id = $2 and user_id = any ($3::uuid[])
     returning user_id as id`,
    [accountId, groupId, ids],
  );
  return rows.map(({ id }) => id);
}

/** Those of the ids that are users of the account. */
export async function findPeople(db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<readonly Member[]> {
  return db.query<Member>(
    `select id, name, email from users where account_id = $1 and deleted_at is null and id = any ($2::uuid[])`,
    [accountId, ids],
  );
}

/** Ignores case: addresses are stored in lower case. */
export async function findPeopleByEmail(
  db: Store,
  accountId: Uuid,
  emails: readonly string[],
): Promise<readonly Member[]> {
  return db.query<Member>(
    `select id, name, email from users
      where account_id = $1 and deleted_at is null and email in (select lower(one) from unnest($2::text[]) as one)`,
    [accountId, emails],
  );
}

/** A page of the members of each group, by name, in one statement. */
export const selectMembersOfGroups = (
  db: Store,
  accountId: Uuid,
  { groupIds, window: { limit, offset } }: { readonly groupIds: readonly Uuid[]; readonly window: Window },
): Promise<(Member & { readonly groupId: Uuid })[]> =>
  db.query<Member & { groupId: Uuid }>(
    `select parent.id as "groupId", page.* from unnest($2::uuid[]) as parent (id) cross join lateral (
       select u.id, u.name, u.email from user_group_members m
         join users u on u.account_id = m.account_id and u.id = m.user_id
        where m.account_id = $1 and m.group_id = parent.id order by u.name, u.id limit $3 offset $4) page
      order by parent.id, page.name, page.id`,
    [accountId, groupIds, limit, offset],
  );

/** The number of members of each group. Groups without members are missing. */
export async function countMembersOfGroups(
  db: Store,
  accountId: Uuid,
  groupIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, number>> {
  const rows = await db.query<{ id: Uuid; total: number }>(
    `select group_id as id, count(*) as total from user_group_members
      where account_id = $1 and group_id = any ($2::uuid[]) group by group_id`,
    [accountId, groupIds],
  );
  return new Map(rows.map(({ id, total }) => [id, total]));
}

const OF_USER = `from user_groups g join user_group_members m on m.account_id = g.account_id and m.group_id = g.id
  where m.account_id = $1 and ($3::text[] is null or g.identifier = any ($3)) and g.org_identifier is null`;
type OfUsers = { readonly userIds: readonly Uuid[]; readonly seen: readonly string[] | null };

/** A page of the groups of the account that each user is in, by name, in one statement. */
export const selectGroupsOf = (
  db: Store,
  accountId: Uuid,
  { userIds, seen, window }: OfUsers & { readonly window: Window },
): Promise<(Pick<UserGroup, "id" | "name"> & { readonly userId: Uuid })[]> =>
  db.query<Pick<UserGroup, "id" | "name"> & { userId: Uuid }>(
    `select parent.id as "userId", page.* from unnest($2::uuid[]) as parent (id) cross join lateral (
       select g.id, g.name ${OF_USER} and m.user_id = parent.id order by g.name, g.id limit $4 offset $5) page
      order by parent.id, page.name, page.id`,
    [accountId, userIds, seen, window.limit, window.offset],
  );

/** The number of the groups of each user. Users without groups are missing. */
export async function countGroupsOf(
  db: Store,
  accountId: Uuid,
  { userIds, seen }: OfUsers,
): Promise<ReadonlyMap<Uuid, number>> {
  const rows = await db.query<{ id: Uuid; total: number }>(
    `select m.user_id as id, count(*) as total ${OF_USER} and m.user_id = any ($2::uuid[]) group by m.user_id`,
    [accountId, userIds, seen],
  );
  return new Map(rows.map(({ id, total }) => [id, total]));
}

/** The groups of the account that a user is in, without those that an identity provider manages. */
export async function heldGroupsOf(db: Store, accountId: Uuid, userId: Uuid): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `select g.id from user_groups g join user_group_members m on m.account_id = g.account_id and m.group_id = g.id
      where m.account_id = $1 and m.user_id = $2 and g.org_identifier is null and not g.externally_managed`,
    [accountId, userId],
  );
  return rows.map(({ id }) => id);
}
