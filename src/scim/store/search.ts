/** Searches of users and groups by a filter. The identity and access slices write them. */
import type { Uuid } from "../../core/ids.ts";
import { PERSON, type StoredUser } from "../../identity/index.ts";
import type { Store } from "../../platform/db/db.ts";
import type { AttributePath, Filter } from "../filter/syntax.ts";
import { GROUP, USER } from "../schema/resources.ts";
import type { ResourceType } from "../schema/attribute.ts";
import { columnOf } from "./columns.ts";
import { conditionOf, orderOf } from "./condition.ts";

export type Search = {
  readonly filter?: Filter | undefined;
  readonly sortBy?: AttributePath | undefined;
  readonly descending: boolean;
  readonly limit: number;
  /** Counts from 0. */
  readonly offset: number;
};

export type Found<T> = { readonly items: readonly T[]; readonly total: number };

/** A group that a directory manages. */
export type GroupRow = {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly externalId: string | null;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

const GROUP_ROW = `u.id, u.identifier, u.name, u.external_id as "externalId", u.version, u.created_at as "createdAt",
  greatest(u.created_at, u.updated_at) as "updatedAt"`;

/** Directories neither see nor change groups that were created here. */
const MANAGED =
  "u.account_id = $1 and u.externally_managed and u.org_identifier is null and u.project_identifier is null";

async function searchRows<T extends object>(
  db: Store,
  { type, columns, from }: { readonly type: ResourceType; readonly columns: string; readonly from: string },
  accountId: Uuid,
  search: Search,
): Promise<Found<T>> {
  const values: unknown[] = [accountId];
  const param = (value: unknown): string => `$${values.push(value)}`;
  const condition = search.filter ? ` and ${conditionOf(type, search.filter, param)}` : "";
  const where = `from ${from}${condition}`;
  const count = [...values];
  const order = search.sortBy ? `${orderOf(columnOf(type, search.sortBy, "sort"))} ${direction(search)}, u.id` : "u.id";
  const window = `limit ${param(search.limit)} offset ${param(search.offset)}`;
  const items =
    search.limit === 0 ? [] : await db.query<T>(`select ${columns} ${where} order by ${order} ${window}`, values);
  // A partial page that is not beyond the end gives the total without a second query.
  if (items.length > 0 && items.length < search.limit) return { items, total: search.offset + items.length };
  const [row] = await db.query<{ total: number }>(`select count(*) as total ${where}`, count);
  return { items, total: row?.total ?? 0 };
}

/** Missing values come last in ascending and first in descending order (RFC 7644 section 3.4.2.3). */
const direction = ({ descending }: Search): string => (descending ? "desc nulls first" : "asc nulls last");

export const searchUsers = (db: Store, accountId: Uuid, search: Search): Promise<Found<StoredUser>> =>
  searchRows(
    db,
    { type: USER, columns: PERSON, from: "users u where u.account_id = $1 and u.deleted_at is null" },
    accountId,
    search,
  );

export const searchGroups = (db: Store, accountId: Uuid, search: Search): Promise<Found<GroupRow>> =>
  searchRows(db, { type: GROUP, columns: GROUP_ROW, from: `user_groups u where ${MANAGED}` }, accountId, search);

export async function findUserRow(db: Store, accountId: Uuid, id: Uuid): Promise<StoredUser | undefined> {
  const rows = await db.query<StoredUser>(
    `select ${PERSON} from users u where u.account_id = $1 and u.id = $2 and u.deleted_at is null`,
    [accountId, id],
  );
  return rows[0];
}

export async function findManagedGroup(db: Store, accountId: Uuid, id: Uuid): Promise<GroupRow | undefined> {
  const rows = await db.query<GroupRow>(`select ${GROUP_ROW} from user_groups u where ${MANAGED} and u.id = $2`, [
    accountId,
    id,
  ]);
  return rows[0];
}

export type Membership = {
  readonly groupId: Uuid;
  readonly userId: Uuid;
  readonly group: string;
  readonly user: string;
};

const MEMBERSHIPS = `select m.group_id as "groupId", m.user_id as "userId", u.name as "group", p.name as "user"
   from user_group_members m
   join user_groups u on u.account_id = m.account_id and u.id = m.group_id
   join users p on p.account_id = m.account_id and p.id = m.user_id
  where ${MANAGED} and m.account_id = $1`;

/** Memberships that one page of a list shows. A group has up to 10,000 members. */
const MOST_MEMBERSHIPS = 20_000;

/**
 * The first rows, with at most 20,000 memberships together, but always the first row. A page may have fewer resources
 * than were asked for (RFC 7644 section 3.4.2.4).
 */
export async function shortenPage<T extends { readonly id: Uuid }>(
  db: Store,
  accountId: Uuid,
  { rows, by }: { readonly rows: readonly T[]; readonly by: "group_id" | "user_id" },
  most = MOST_MEMBERSHIPS,
): Promise<readonly T[]> {
  const counts = await db.query<{ id: Uuid; count: number }>(
    `select ${by} as id, count(*) as count from user_group_members
      where account_id = $1 and ${by} = any ($2::uuid[]) group by 1`,
    [accountId, rows.map(({ id }) => id)],
  );
  const countOf = new Map(counts.map(({ id, count }) => [id, count]));
  let shown = 0;
  const end = rows.findIndex(({ id }, nth) => (shown += countOf.get(id) ?? 0) > most && nth > 0);
  return end < 0 ? rows : rows.slice(0, end);
}

export const selectMembershipsOfUsers = (db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<Membership[]> =>
  db.query<Membership>(`${MEMBERSHIPS} and m.user_id = any ($2::uuid[]) order by u.name, u.id`, [accountId, ids]);

export const selectMembershipsOfGroups = (db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<Membership[]> =>
  db.query<Membership>(`${MEMBERSHIPS} and m.group_id = any ($2::uuid[]) order by p.name, p.id`, [accountId, ids]);
