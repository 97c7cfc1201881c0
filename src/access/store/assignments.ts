import type { Uuid } from "../../core/ids.ts";
import type { Place, Referred } from "../../core/reference.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import { columnsOf } from "./named.ts";
import type { Assignment } from "../assignments/assignment.ts";

/** False if the same is assigned already, or the identifier is taken. */
export async function insertAssignment(db: Store, accountId: Uuid, one: Assignment): Promise<boolean> {
  const rows = await db.query(
    `insert into role_assignments
       (account_id, id, org_identifier, project_identifier, identifier, principal_type, principal_id, principal_identifier,
        principal_level, role_identifier, role_level, role_id, resource_group_identifier, resource_group_id, disabled,
        created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     on conflict do nothing returning id`,
    [
      accountId,
      one.id,
      one.orgIdentifier,
      one.projectIdentifier,
      one.identifier,
      one.principal.type,
      one.principal.id,
      one.principal.identifier,
      one.principal.level,
      one.role.identifier,
      one.role.level,
      one.role.id,
      one.resourceGroup.identifier,
      one.resourceGroup.id,
      one.disabled,
      one.createdAt,
      one.updatedAt,
    ],
  );
  return rows.length > 0;
}

const ASSIGNMENT = `id, org_identifier as "orgIdentifier", project_identifier as "projectIdentifier", identifier,
  jsonb_build_object('type', principal_type, 'id', principal_id, 'identifier', principal_identifier, 'level', principal_level) as principal,
  jsonb_build_object('identifier', role_identifier, 'level', role_level, 'id', role_id) as role,
  jsonb_build_object('identifier', resource_group_identifier, 'id', resource_group_id) as "resourceGroup",
  disabled, created_at as "createdAt", updated_at as "updatedAt"`;
const AT = `account_id = $1 and org_identifier is not distinct from $2 and project_identifier is not distinct from $3`;

export async function findAssignment(
  db: Store,
  accountId: Uuid,
  at: Place & { readonly identifier: string },
): Promise<Assignment | undefined> {
  const rows = await db.query<Assignment>(
    `select ${ASSIGNMENT} from role_assignments where ${AT} and identifier = $4`,
    [accountId, at.orgIdentifier, at.projectIdentifier, at.identifier],
  );
  return rows[0];
}

/**
 * Locks existing roles or resource groups against changes until the transaction ends, in the order of their ids, as
 * deletions do.
 */
export async function holdAll(
  db: Store,
  accountId: Uuid,
  { table, keys }: { readonly table: "roles" | "resource_groups"; readonly keys: readonly Referred[] },
): Promise<void> {
  await db.query(
    `select 1 from ${table} t
       join unnest($2::text[], $3::text[], $4::text[]) as k (org, project, identifier)
         on t.identifier = k.identifier and t.org_identifier is not distinct from k.org
        and t.project_identifier is not distinct from k.project
      where t.account_id = $1 order by t.id for share of t`,
    [accountId, ...columnsOf(keys)],
  );
}

/** Serializes changes of a number in an account until the transaction ends, so that its limit is exact. */
export async function lockNumber(
  db: Store,
  accountId: Uuid,
  of: "role-assignments" | "resource-group-entries",
): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('railhead.' || $2::text || ' ' || $1::text, 0))`, [
    accountId,
    of,
  ]);
}

/** False if it does not exist any more. */
export async function deleteAssignmentRow(db: Store, accountId: Uuid, id: Uuid): Promise<boolean> {
  const rows = await db.query(`delete from role_assignments where account_id = $1 and id = $2 returning id`, [
    accountId,
    id,
  ]);
  return rows.length > 0;
}

export type AssignmentFilter = {
  readonly roles?: readonly string[] | undefined;
  readonly resourceGroups?: readonly string[] | undefined;
  readonly principalTypes?: readonly string[] | undefined;
  readonly principals?: readonly { readonly type: string; readonly identifier: string }[] | undefined;
  readonly disabled?: boolean | undefined;
};

const MATCHES = `${AT} and ($4::text[] is null or role_identifier = any ($4))
   and ($5::text[] is null or resource_group_identifier = any ($5))
   and ($6::text[] is null or principal_type = any ($6))
   and ($7::text[] is null or exists (select 1 from unnest($7::text[], $8::text[]) as p (type, identifier)
         where p.type = principal_type and p.identifier = principal_identifier))
   and ($9::boolean is null or disabled = $9)`;
const filterValues = (accountId: Uuid, place: Place, filter: AssignmentFilter): unknown[] => [
  accountId,
  place.orgIdentifier,
  place.projectIdentifier,
  filter.roles ?? null,
  filter.resourceGroups ?? null,
  filter.principalTypes ?? null,
  filter.principals?.map(({ type }) => type) ?? null,
  filter.principals?.map(({ identifier }) => identifier) ?? null,
  filter.disabled ?? null,
];

type AssignmentQuery = { readonly place: Place; readonly filter: AssignmentFilter };

export const selectAssignments = (
  db: Store,
  accountId: Uuid,
  { place, filter, window: { limit, offset, order } }: AssignmentQuery & { readonly window: Window },
): Promise<Assignment[]> =>
  db.query<Assignment>(
    `${statementPrefix(order)}select ${ASSIGNMENT} from role_assignments where ${MATCHES}
      order by ${orderBy(order, "createdAt")} limit $10 offset $11`,
    [...filterValues(accountId, place, filter), limit, offset],
  );

export async function countAssignments(
  db: Store,
  accountId: Uuid,
  { place, filter }: AssignmentQuery,
): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from role_assignments where ${MATCHES}`,
    filterValues(accountId, place, filter),
  );
  return rows[0]?.total ?? 0;
}

/** A role or a resource group, by the column of its assignments. */
export type Assigned = { readonly column: "role_id" | "resource_group_id"; readonly id: Uuid };

/** The number of assignments of a role or over a resource group. */
export async function countUses(db: Store, accountId: Uuid, { column, id }: Assigned): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from role_assignments where account_id = $1 and ${column} = $2`,
    [accountId, id],
  );
  return rows[0]?.total ?? 0;
}
