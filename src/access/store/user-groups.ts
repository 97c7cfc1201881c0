import type { RemovedReference } from "../../platform/removed-reference.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Place, Referred } from "../../core/reference.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import { summarizeRemoval } from "../../platform/db/removed-rows.ts";
import { problem } from "../problems.ts";
import type { UserGroup } from "../user-groups/user-group.ts";
import { ASSIGNED } from "./removed-grants.ts";

const GROUP = `id, org_identifier as "orgIdentifier", project_identifier as "projectIdentifier", identifier, name,
  description, tags, externally_managed as "externallyManaged", external_id as "externalId", version,
  created_at as "createdAt", updated_at as "updatedAt"`;
const AT = `account_id = $1 and org_identifier is not distinct from $2 and project_identifier is not distinct from $3`;

/**
 * Maps the unique violation of two managed groups with the same name. The database decides, since two may be created at
 * once. Throws `access.name_taken`.
 */
async function refusingName<T>({ name }: UserGroup, written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    const isTaken =
      error instanceof Error && "constraint" in error && error.constraint === "user_groups_by_provided_name";
    throw isTaken ? problem("access.name_taken", [name]) : error;
  }
}

/** False if the identifier is taken. Throws `access.name_taken`. */
export async function insertGroup(db: Store, accountId: Uuid, group: UserGroup): Promise<boolean> {
  const insert = db.query(
    `insert into user_groups (account_id, id, org_identifier, project_identifier, identifier, name, description, tags,
                              externally_managed, external_id, version, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     on conflict (account_id, org_identifier, project_identifier, identifier) do nothing returning id`,
    [
      accountId,
      group.id,
      group.orgIdentifier,
      group.projectIdentifier,
      group.identifier,
      group.name,
      group.description,
      JSON.stringify(group.tags),
      group.externallyManaged,
      group.externalId,
      group.version,
      group.createdAt,
      group.updatedAt,
    ],
  );
  return (await refusingName(group, insert)).length > 0;
}

export async function findGroup(
  db: Store,
  accountId: Uuid,
  { orgIdentifier, projectIdentifier, identifier }: Place & { readonly identifier: string },
): Promise<UserGroup | undefined> {
  const rows = await db.query<UserGroup>(`select ${GROUP} from user_groups where ${AT} and identifier = $4`, [
    accountId,
    orgIdentifier,
    projectIdentifier,
    identifier,
  ]);
  return rows[0];
}

const KEYS = `unnest($2::text[], $3::text[], $4::text[]) as k (org, project, identifier)
  on g.identifier = k.identifier and g.org_identifier is not distinct from k.org and g.project_identifier is not distinct from k.project`;
const keyValues = (keys: readonly Referred[]): readonly (readonly (string | null)[])[] => [
  keys.map((key) => key.orgIdentifier),
  keys.map((key) => key.projectIdentifier),
  keys.map((key) => key.identifier),
];

/** Those of the groups that exist, in any order. */
export const findGroupsByKeys = (
  db: Store,
  accountId: Uuid,
  keys: readonly Referred[],
): Promise<(Referred & { readonly name: string })[]> =>
  db.query<Referred & { name: string }>(
    `select g.org_identifier as "orgIdentifier", g.project_identifier as "projectIdentifier", g.identifier, g.name
       from user_groups g join ${KEYS} where g.account_id = $1`,
    [accountId, ...keyValues(keys)],
  );

/** Whether the user is in one of the groups. */
export async function isMember(
  db: Store,
  accountId: Uuid,
  { userId, keys }: { readonly userId: Uuid; readonly keys: readonly Referred[] },
): Promise<boolean> {
  const rows = await db.query(
    `select 1 from user_groups g join ${KEYS}
       join user_group_members m on m.account_id = g.account_id and m.group_id = g.id
      where g.account_id = $1 and m.user_id = $5 limit 1`,
    [accountId, ...keyValues(keys), userId],
  );
  return rows.length > 0;
}

/** The groups of all scopes that a user is a member of, in any order. */
export const findGroupsOfUser = (db: Store, accountId: Uuid, userId: Uuid): Promise<Referred[]> =>
  db.query<Referred>(
    `select g.org_identifier as "orgIdentifier", g.project_identifier as "projectIdentifier", g.identifier
       from user_group_members m join user_groups g on g.account_id = m.account_id and g.id = m.group_id
      where m.account_id = $1 and m.user_id = $2`,
    [accountId, userId],
  );

/** The groups of all scopes with these ids, in any order. */
export const findGroupsById = (db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<UserGroup[]> =>
  db.query<UserGroup>(`select ${GROUP} from user_groups where account_id = $1 and id = any ($2::uuid[])`, [
    accountId,
    ids,
  ]);

export async function findGroupById(db: Store, accountId: Uuid, id: Uuid): Promise<UserGroup | undefined> {
  const rows = await db.query<UserGroup>(`select ${GROUP} from user_groups where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return rows[0];
}

/** A group of the account itself; the oldest one if two share the name. */
export async function findGroupByName(db: Store, accountId: Uuid, name: string): Promise<UserGroup | undefined> {
  const rows = await db.query<UserGroup>(
    `select ${GROUP} from user_groups where account_id = $1 and name = $2 and org_identifier is null order by id limit 1`,
    [accountId, name],
  );
  return rows[0];
}

/** Locks the group until the transaction ends, so that neither its members nor its roles change meanwhile. */
export async function lockGroup(db: Store, accountId: Uuid, id: Uuid): Promise<UserGroup | undefined> {
  const rows = await db.query<UserGroup>(
    `select ${GROUP} from user_groups where account_id = $1 and id = $2 for update`,
    [accountId, id],
  );
  return rows[0];
}

/** Throws `access.name_taken`. */
export async function updateGroupRow(db: Store, accountId: Uuid, group: UserGroup): Promise<void> {
  const update = db.query(
    `update user_groups set name = $3, description = $4, tags = $5, external_id = $6, version = $7, updated_at = $8
      where account_id = $1 and id = $2`,
    [
      accountId,
      group.id,
      group.name,
      group.description,
      JSON.stringify(group.tags),
      group.externalId,
      group.version,
      group.updatedAt,
    ],
  );
  await refusingName(group, update);
}

/** Deletes the group with its memberships and assignments. */
export async function deleteGroupRow(db: Store, accountId: Uuid, id: Uuid): Promise<readonly RemovedReference[]> {
  const values = [accountId, id];
  const assignments = `delete from role_assignments
    where account_id = $1 and principal_type = 'USER_GROUP' and principal_id = $2 returning ${ASSIGNED} as what`;
  const members = `delete from user_group_members m using users u
    where m.account_id = $1 and m.group_id = $2 and u.account_id = m.account_id and u.id = m.user_id returning u.email as what`;
  const all = [
    ...(await summarizeRemoval(db, { type: "ROLE_ASSIGNMENT", text: assignments, values })),
    ...(await summarizeRemoval(db, { type: "MEMBER", text: members, values })),
  ];
  await db.query(`delete from user_groups where account_id = $1 and id = $2`, values);
  return all;
}

export type GroupFilter = Place & {
  readonly searchTerm?: string | undefined;
  /** Null: all of them. */
  readonly identifiers?: readonly string[] | null;
  readonly seen: "all" | ReadonlySet<string>;
  readonly externallyManaged?: boolean;
};

// Not `like`, so that no character has a special meaning.
const MATCHES = `${AT} and (strpos(lower(name), lower($4)) > 0 or strpos(lower(identifier), lower($4)) > 0)
   and ($5::text[] is null or identifier = any ($5)) and ($6::text[] is null or identifier = any ($6))
   and ($7::boolean is null or externally_managed = $7)`;
const values = (accountId: Uuid, filter: GroupFilter): unknown[] => [
  accountId,
  filter.orgIdentifier,
  filter.projectIdentifier,
  filter.searchTerm ?? "",
  filter.identifiers ?? null,
  filter.seen === "all" ? null : [...filter.seen],
  filter.externallyManaged ?? null,
];

export const selectGroups = (
  db: Store,
  accountId: Uuid,
  { filter, window: { limit, offset, order } }: { readonly filter: GroupFilter; readonly window: Window },
): Promise<UserGroup[]> =>
  db.query<UserGroup>(
    `${statementPrefix(order)}select ${GROUP} from user_groups where ${MATCHES}
      order by ${orderBy(order, "name")} limit $8 offset $9`,
    [...values(accountId, filter), limit, offset],
  );

export async function countGroups(db: Store, accountId: Uuid, filter: GroupFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from user_groups where ${MATCHES}`,
    values(accountId, filter),
  );
  return rows[0]?.total ?? 0;
}
