/** The principals of role assignments in some scopes, with what each is assigned. */
import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Place } from "../../core/reference.ts";
import type { Store } from "../../platform/db/db.ts";
import type { ScopeLevel } from "../grants/permission.ts";
import type { GrantRow } from "./grants.ts";

/** A role over a resource group in a scope, which any number of principals may have. */
export type Combination = GrantRow & {
  readonly roleLevel: ScopeLevel;
  /** Null for built-in ones, also below. */
  readonly roleName: string | null;
  readonly resourceGroupName: string | null;
};

/** The different combinations of the enabled assignments in these scopes, each with the content of its resource group. */
export const findCombinations = (db: Store, accountId: Uuid, places: readonly Place[]): Promise<Combination[]> =>
  db.query<Combination>(
    `with c as (
       select distinct a.org_identifier, a.project_identifier, a.role_identifier, a.role_level, a.role_id,
              a.resource_group_identifier, a.resource_group_id
         from unnest($2::text[], $3::text[]) as place (org, project)
         join role_assignments a on a.account_id = $1 and a.org_identifier is not distinct from place.org
          and a.project_identifier is not distinct from place.project
        where not a.disabled)
     select c.org_identifier as org, c.project_identifier as project, c.role_identifier as role, c.role_level as "roleLevel",
            r.name as "roleName", r.permissions, c.resource_group_identifier as "resourceGroup", g.name as "resourceGroupName",
            g.included_scopes as included, g.every_resource as "everyResource", g.resources
       from c
       left join roles r on r.account_id = $1 and r.id = c.role_id
       left join resource_groups g on g.account_id = $1 and g.id = c.resource_group_id`,
    [accountId, places.map((place) => place.orgIdentifier), places.map((place) => place.projectIdentifier)],
  );

export type PrincipalFilter = {
  readonly combinations: readonly Combination[];
  readonly types: readonly string[] | undefined;
  readonly searchTerm: string | undefined;
};

export type PrincipalRow = Place & {
  readonly type: "USER" | "USER_GROUP" | "SERVICE_ACCOUNT";
  /** Null for the groups of all users. */
  readonly id: Uuid | null;
  readonly identifier: string;
  readonly level: ScopeLevel;
  /** Empty for the groups of all users. */
  readonly name: string;
  readonly email: string | null;
  readonly isActive: boolean;
  /** Indexes of `combinations`. */
  readonly combinations: readonly number[];
  readonly assignments: number;
  /** The oldest of them, each with the index of its combination. */
  readonly first: readonly { readonly identifier: string; readonly combination: number }[];
};

/** Assignments of one principal that a list names. */
const MAX_NAMED = 20;

const MATCHES = `from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    with ordinality as c (org, project, role, level, resource_group, nth)
  join role_assignments a on a.account_id = $1 and a.role_identifier = c.role and a.role_level = c.level
   and a.resource_group_identifier = c.resource_group and a.org_identifier is not distinct from c.org
   and a.project_identifier is not distinct from c.project
  left join users u on a.principal_type = 'USER' and u.account_id = a.account_id and u.id = a.principal_id
  left join service_accounts s on a.principal_type = 'SERVICE_ACCOUNT' and s.account_id = a.account_id and s.id = a.principal_id
  left join user_groups g on a.principal_type = 'USER_GROUP' and g.account_id = a.account_id and g.id = a.principal_id
  where not a.disabled and ($7::text[] is null or a.principal_type = any ($7))
    and ($8::text is null or strpos(lower(coalesce(u.name, s.name, g.name, '')), lower($8)) > 0
         or (a.principal_type <> 'USER' and strpos(lower(a.principal_identifier), lower($8)) > 0))`;

/** A principal is at its level of the scope of the assignment, which is below it or its own. */
const PRINCIPAL = `a.principal_type, a.principal_id, a.principal_identifier, a.principal_level,
  case when a.principal_level <> 'account' then a.org_identifier end,
  case when a.principal_level = 'project' then a.project_identifier end`;

const valuesOf = (accountId: Uuid, { combinations, types, searchTerm }: PrincipalFilter): unknown[] => [
  accountId,
  combinations.map(({ org }) => org),
  combinations.map(({ project }) => project),
  combinations.map(({ role }) => role),
  combinations.map(({ roleLevel }) => roleLevel),
  combinations.map(({ resourceGroup }) => resourceGroup),
  types ?? null,
  searchTerm ?? null,
];

/** Sorted by type and name. */
export const selectPrincipals = (
  db: Store,
  accountId: Uuid,
  { filter, window: { limit, offset } }: { readonly filter: PrincipalFilter; readonly window: Window },
): Promise<PrincipalRow[]> =>
  db.query<PrincipalRow>(
    `select a.principal_type as type, a.principal_id as id, a.principal_identifier as identifier, a.principal_level as level,
            case when a.principal_level <> 'account' then a.org_identifier end as "orgIdentifier",
            case when a.principal_level = 'project' then a.project_identifier end as "projectIdentifier",
            min(coalesce(u.name, s.name, g.name, '')) as name, min(coalesce(u.email, s.email)) as email,
            bool_and(coalesce(u.active, true)) as "isActive", json_agg(distinct c.nth - 1) as combinations,
            count(*) as assignments,
            to_json((array_agg(json_build_object('identifier', a.identifier, 'combination', c.nth - 1)
                               order by a.created_at, a.id))[1:${MAX_NAMED}]) as first
       ${MATCHES} group by ${PRINCIPAL} order by 1, name, 2, 3, 5, 6 limit $9 offset $10`,
    [...valuesOf(accountId, filter), limit, offset],
  );

export async function countPrincipals(db: Store, accountId: Uuid, filter: PrincipalFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from (select 1 ${MATCHES} group by ${PRINCIPAL}) found`,
    valuesOf(accountId, filter),
  );
  return rows[0]?.total ?? 0;
}
