/** The users of a scope, and the roles assigned to them directly. */
import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { Store } from "../../platform/db/db.ts";

export type PeopleFilter = {
  readonly roles?: readonly string[] | undefined;
  readonly resourceGroups?: readonly string[] | undefined;
};

/**
 * The ids of users with a role in exactly this scope, filtered by roles and resource groups. Without filters also the
 * members of the scope's user groups.
 */
export async function findPeopleAt(
  db: Store,
  accountId: Uuid,
  { place, filter: { roles, resourceGroups } }: { readonly place: Place; readonly filter: PeopleFilter },
): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `select a.principal_id as id from role_assignments a
      where a.account_id = $1 and a.org_identifier is not distinct from $2 and a.project_identifier is not distinct from $3
        and a.principal_type = 'USER' and ($4::text[] is null or a.role_identifier = any ($4))
        and ($5::text[] is null or a.resource_group_identifier = any ($5))
      union
     select m.user_id from user_groups g join user_group_members m on m.account_id = g.account_id and m.group_id = g.id
      where g.account_id = $1 and g.org_identifier is not distinct from $2 and g.project_identifier is not distinct from $3
        and $4::text[] is null and $5::text[] is null`,
    [accountId, place.orgIdentifier, place.projectIdentifier, roles ?? null, resourceGroups ?? null],
  );
  return rows.map(({ id }) => id);
}

export type AssignedRole = {
  readonly personId: Uuid;
  /** The identifier of the assignment. */
  readonly identifier: string;
  readonly roleIdentifier: string;
  /** Null for a built-in role or, below, a built-in resource group. */
  readonly roleName: string | null;
  readonly resourceGroupIdentifier: string;
  readonly resourceGroupName: string | null;
};

/** The assignments to these users in exactly this scope, oldest first. */
export const findRolesOf = (
  db: Store,
  accountId: Uuid,
  { place, people }: { readonly place: Place; readonly people: readonly Uuid[] },
): Promise<AssignedRole[]> =>
  db.query<AssignedRole>(
    `select a.principal_id as "personId", a.identifier, a.role_identifier as "roleIdentifier", r.name as "roleName",
            a.resource_group_identifier as "resourceGroupIdentifier", g.name as "resourceGroupName"
       from role_assignments a
       left join roles r on r.account_id = a.account_id and r.id = a.role_id
       left join resource_groups g on g.account_id = a.account_id and g.id = a.resource_group_id
      where a.account_id = $1 and a.org_identifier is not distinct from $2 and a.project_identifier is not distinct from $3
        and a.principal_type = 'USER' and a.principal_id = any ($4::uuid[])
      order by a.created_at, a.id`,
    [accountId, place.orgIdentifier, place.projectIdentifier, people],
  );
