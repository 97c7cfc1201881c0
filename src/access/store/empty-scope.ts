import type { Gone } from "../../platform/gone.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import { gone } from "../../platform/db/gone.ts";
import { ASSIGNED } from "./leaving.ts";

type Store = { readonly query: Query };

/** Assignments first: they name the others. */
const TABLES = [
  ["role_assignments", "ROLE_ASSIGNMENT", ASSIGNED],
  ["roles", "ROLE", "identifier as what"],
  ["resource_groups", "RESOURCE_GROUP", "identifier as what"],
  ["user_groups", "USER_GROUP", "identifier as what"],
] as const;

/** Those of one scope, not of its children; and no resource group names the scope any more, should another take its name. */
export async function deleteAccessOf(
  db: Store,
  accountId: Uuid,
  orgIdentifier: string,
  projectIdentifier: string | null,
): Promise<readonly Gone[]> {
  const values = [accountId, orgIdentifier, projectIdentifier];
  const all: Gone[] = [];
  for (const [table, type, what] of TABLES) {
    const here = "account_id = $1 and org_identifier = $2 and project_identifier is not distinct from $3";
    all.push(...(await gone(db, type, `delete from ${table} where ${here} returning ${what}`, values)));
  }
  await db.query(
    `update resource_groups set included_scopes = (
       select coalesce(jsonb_agg(s), '[]') from jsonb_array_elements(included_scopes) s
        where not (s ->> 'org' = $2 and s ->> 'project' is not distinct from $3::text))
      where account_id = $1 and included_scopes @> jsonb_build_array(jsonb_build_object('org', $2::text, 'project', $3::text))`,
    values,
  );
  return all;
}
