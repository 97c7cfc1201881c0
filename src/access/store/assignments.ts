import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import type { Assignment } from "../assignment.ts";

type Store = { readonly query: Query };

/** False when the same is assigned already, or the identifier is taken. */
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
