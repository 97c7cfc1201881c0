import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";

type Store = { readonly query: Query };

/** Those of one scope, not of its children; and no resource group names the scope any more, should another take its name. */
export async function deleteAccessOf(
  db: Store,
  accountId: Uuid,
  orgIdentifier: string,
  projectIdentifier: string | null,
): Promise<void> {
  const values = [accountId, orgIdentifier, projectIdentifier];
  // Assignments first: they name the others.
  for (const table of ["role_assignments", "roles", "resource_groups", "user_groups"])
    await db.query(
      `delete from ${table} where account_id = $1 and org_identifier = $2 and project_identifier is not distinct from $3`,
      values,
    );
  await db.query(
    `update resource_groups set included_scopes = (
       select coalesce(jsonb_agg(s), '[]') from jsonb_array_elements(included_scopes) s
        where not (s ->> 'org' = $2 and s ->> 'project' is not distinct from $3::text))
      where account_id = $1 and included_scopes @> jsonb_build_array(jsonb_build_object('org', $2::text, 'project', $3::text))`,
    values,
  );
}
