import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { Store } from "../../platform/db/db.ts";
import type { ScopeLevel } from "../grants/permission.ts";
import type { Assigned } from "./assignments.ts";

/**
 * One assignment with everything needed to compile its grant; `permissions` and `included` are null for built-in ones.
 * Of the assignments over one resource group only the first has the group's content, which may be large.
 */
export type GrantRow = {
  readonly org: string | null;
  readonly project: string | null;
  readonly role: string;
  readonly permissions: readonly string[] | null;
  readonly resourceGroup: string;
  readonly included:
    | readonly { readonly org: string | null; readonly project: string | null; readonly children: boolean }[]
    | null;
  readonly everyResource: boolean | null;
  readonly resources: readonly { readonly type: string; readonly identifiers: readonly string[] | null }[] | null;
};

/** A grant row of one principal; `version` changes with the assignment, its role and its resource group. */
export type VersionedRow = GrantRow & { readonly version: string };

/** `xmin` is the transaction that wrote a row. */
const VERSION = `hashtextextended(format('%s %s %s %s', a.id, a.xmin, r.xmin, g.xmin), 0)::text`;

/** Whether a row is the first of those over its resource group. */
const IS_FIRST = "row_number() over (partition by a.resource_group_id) = 1";

const COLUMNS = `a.org_identifier as org, a.project_identifier as project, a.role_identifier as role, r.permissions,
        a.resource_group_identifier as "resourceGroup", case when ${IS_FIRST} then g.included_scopes end as included,
        case when ${IS_FIRST} then g.every_resource end as "everyResource",
        case when ${IS_FIRST} then g.resources end as resources, ${VERSION} as version`;

const FROM = `from role_assignments a
   left join roles r on r.account_id = a.account_id and r.id = a.role_id
   left join resource_groups g on g.account_id = a.account_id and g.id = a.resource_group_id
  where a.account_id = $1 and not a.disabled`;

const GRANTS = `select ${COLUMNS} ${FROM}`;

const MINE = `mine as (
       select group_id as id from user_group_members where account_id = $1 and user_id = $2
       union all select $2::uuid
     )`;

/** Whether a principal of `mine` has a role in the scope of `a`, an assignment to all users. */
const IS_THERE = `exists (
         select 1 from role_assignments b
          where b.account_id = $1 and not b.disabled and b.principal_type in ('USER', 'USER_GROUP')
            and b.principal_id in (select id from mine) and b.org_identifier = a.org_identifier
            and (a.principal_level = 'organization' or b.project_identifier = a.project_identifier))`;

/** Two halves, so that each uses an index. A single condition with `or` reads all assignments of the account. */
const OF_USER = `with ${MINE}
     ${GRANTS} and a.principal_type in ('USER', 'USER_GROUP') and a.principal_id in (select id from mine)
     union all
     ${GRANTS} and a.principal_type = 'USER_GROUP' and a.principal_id is null
       and (a.principal_level = 'account' or ${IS_THERE})`;

const OF_SERVICE_ACCOUNT = `${GRANTS} and a.principal_type = 'SERVICE_ACCOUNT' and a.principal_id = $2`;

/**
 * The grants of a user: direct ones, those of groups, and those of all users in the account, an organization or a
 * project.
 */
export const findUserGrants = (db: Store, accountId: Uuid, userId: Uuid): Promise<VersionedRow[]> =>
  db.query<VersionedRow>(OF_USER, [accountId, userId]);

type Principal = { readonly type: "USER" | "SERVICE_ACCOUNT"; readonly id: Uuid };

/** The same for many principals at once; `holder` names the principal of each row. */
export const findGrantsOfAll = (
  db: Store,
  accountId: Uuid,
  principals: readonly Principal[],
): Promise<readonly (VersionedRow & { readonly holder: Uuid })[]> =>
  queryOfAll(db, accountId, { principals, select: "select asked.id as holder, held.*" });

/**
 * The sum of the versions of each principal's rows, without the rows; a principal without rows is missing. The database
 * reads the rows, and the server neither receives nor compiles them.
 */
export async function findGrantVersions(
  db: Store,
  accountId: Uuid,
  principals: readonly Principal[],
): Promise<ReadonlyMap<Uuid, string>> {
  const rows = await queryOfAll<{ readonly holder: Uuid; readonly version: string }>(db, accountId, {
    principals,
    select: "select asked.id as holder, sum(held.version::bigint)::text as version",
    groupBy: "group by asked.id",
  });
  return new Map(rows.map(({ holder, version }) => [holder, version]));
}

type PrincipalQuery = {
  readonly principals: readonly Principal[];
  readonly select: string;
  readonly groupBy?: string;
};

/** One statement for each type of principal. */
async function queryOfAll<Row extends { readonly holder: Uuid }>(
  db: Store,
  accountId: Uuid,
  { principals, select, groupBy = "" }: PrincipalQuery,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [type, one] of [
    ["USER", OF_USER],
    ["SERVICE_ACCOUNT", OF_SERVICE_ACCOUNT],
  ] as const) {
    const ids = principals.filter((principal) => principal.type === type).map(({ id }) => id);
    if (ids.length === 0) continue;
    const found = await db.query<Row>(
      `${select} from unnest($2::uuid[]) as asked (id)
        cross join lateral (${one.replaceAll(/\$2(::uuid)?/g, "asked.id")}) held ${groupBy}`,
      [accountId, ids],
    );
    for (const row of found) rows.push(row);
  }
  return rows;
}

/**
 * What a user or the members of a group gain as one of all users by a first role in this place; nothing if they have a
 * role there.
 */
export const findEnteredGrants = (
  db: Store,
  accountId: Uuid,
  { id, place }: { readonly id: Uuid; readonly place: Place },
): Promise<GrantRow[]> =>
  db.query<GrantRow>(
    `with ${MINE}
     ${GRANTS} and a.principal_type = 'USER_GROUP' and a.principal_id is null and a.org_identifier = $3
       and (a.principal_level = 'organization' or (a.principal_level = 'project' and a.project_identifier = $4))
       and not ${IS_THERE}`,
    [accountId, id, place.orgIdentifier, place.projectIdentifier],
  );

export const findServiceAccountGrants = (db: Store, accountId: Uuid, id: Uuid): Promise<VersionedRow[]> =>
  db.query<VersionedRow>(OF_SERVICE_ACCOUNT, [accountId, id]);

const OF_GROUP = `with mine as (select $2::uuid as id)
     ${GRANTS} and a.principal_type = 'USER_GROUP' and a.principal_id = $2
     union all
     ${GRANTS} and a.principal_type = 'USER_GROUP' and a.principal_id is null and a.principal_level <> 'account'
       and ${IS_THERE}`;

/** The grants of a group's members: its own, and those of all users where it has a role. */
export const findGroupGrants = (db: Store, accountId: Uuid, groupId: Uuid): Promise<GrantRow[]> =>
  db.query<GrantRow>(OF_GROUP, [accountId, groupId]);

/** A grant row with the names of its assignment, for people who read why something is permitted. */
export type NamedGrantRow = VersionedRow & {
  readonly identifier: string;
  readonly roleLevel: ScopeLevel;
  /** Null for built-in ones, also below. */
  readonly roleName: string | null;
  readonly resourceGroupName: string | null;
  readonly principalType: "USER" | "USER_GROUP" | "SERVICE_ACCOUNT";
  /** Null for the groups of all users. */
  readonly principalId: Uuid | null;
  readonly principalIdentifier: string;
  readonly principalLevel: ScopeLevel;
  readonly groupName: string | null;
};

const NAMED = `select ${COLUMNS}, a.identifier, a.role_level as "roleLevel", r.name as "roleName", g.name as "resourceGroupName",
        a.principal_type as "principalType", a.principal_id as "principalId", a.principal_identifier as "principalIdentifier",
        a.principal_level as "principalLevel",
        (select ug.name from user_groups ug where ug.account_id = a.account_id and ug.id = a.principal_id) as "groupName" ${FROM}`;

const NAMED_GRANTS = {
  USER: OF_USER.replaceAll(GRANTS, NAMED),
  USER_GROUP: OF_GROUP.replaceAll(GRANTS, NAMED),
  SERVICE_ACCOUNT: OF_SERVICE_ACCOUNT.replaceAll(GRANTS, NAMED),
} as const;

/** The grants of a principal with the names of their assignments. */
export const findNamedGrants = (
  db: Store,
  accountId: Uuid,
  { type, id }: { readonly type: keyof typeof NAMED_GRANTS; readonly id: Uuid },
): Promise<NamedGrantRow[]> => db.query<NamedGrantRow>(NAMED_GRANTS[type], [accountId, id]);

/** The grants of the assignments of a role or over a resource group. */
export const findGrantsBy = (db: Store, accountId: Uuid, { column, id }: Assigned): Promise<GrantRow[]> =>
  db.query<GrantRow>(`${GRANTS.replace(" and not a.disabled", "")} and a.${column} = $2`, [accountId, id]);
