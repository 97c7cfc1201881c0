/** What a person or a service account holds, when they go. */
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";

type Store = { readonly query: Query };

export async function deleteMembershipsOf(db: Store, accountId: Uuid, userId: Uuid): Promise<void> {
  await db.query(`delete from user_group_members where account_id = $1 and user_id = $2`, [accountId, userId]);
}

/** What was given to the person, or the service account, alone. */
export async function deleteAssignmentsOf(db: Store, accountId: Uuid, principalId: Uuid): Promise<void> {
  await db.query(
    `delete from role_assignments where account_id = $1 and principal_type in ('USER', 'SERVICE_ACCOUNT') and principal_id = $2`,
    [accountId, principalId],
  );
}
