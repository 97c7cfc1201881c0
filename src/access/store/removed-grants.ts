/** Deletes what a user, a service account or a group holds. */
import type { RemovedReference } from "../../platform/removed-reference.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import { summarizeRemoval } from "../../platform/db/removed-rows.ts";

/** The description of an assignment: principal, role and resource group, since its identifier is generated. */
export const ASSIGNED = `principal_type || ' ' || principal_identifier || ': ' || role_identifier || ' over ' || resource_group_identifier
   || coalesce(' in ' || org_identifier || coalesce('/' || project_identifier, ''), '')`;

export const deleteMembershipsOf = (db: Store, accountId: Uuid, userId: Uuid): Promise<readonly RemovedReference[]> =>
  summarizeRemoval(db, {
    type: "USER_GROUP",
    text: `delete from user_group_members m using user_groups g
      where m.account_id = $1 and m.user_id = $2 and g.account_id = m.account_id and g.id = m.group_id
     returning g.identifier as what`,
    values: [accountId, userId],
  });

/** Deletes the roles that were assigned to the user or service account directly. */
export const deleteAssignmentsOf = (
  db: Store,
  accountId: Uuid,
  principalId: Uuid,
): Promise<readonly RemovedReference[]> =>
  summarizeRemoval(db, {
    type: "ROLE_ASSIGNMENT",
    text: `delete from role_assignments
      where account_id = $1 and principal_type in ('USER', 'SERVICE_ACCOUNT') and principal_id = $2 returning ${ASSIGNED} as what`,
    values: [accountId, principalId],
  });
