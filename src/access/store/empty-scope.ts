import type { Gone, Leaving } from "../../platform/gone.ts";
import type { Query } from "../../platform/db/db.ts";
import { goneAt, valuesAt } from "../../platform/db/gone.ts";
import { ASSIGNED } from "./leaving.ts";

type Store = { readonly query: Query };

/** Assignments first: they name the others. */
const TABLES = [
  ["role_assignments", "ROLE_ASSIGNMENT", ASSIGNED],
  ["roles", "ROLE", "identifier"],
  ["resource_groups", "RESOURCE_GROUP", "identifier"],
  ["user_groups", "USER_GROUP", "identifier"],
] as const;

/** Those of one scope, not of its children; and no resource group names the scope any more, should another take its name. */
export async function deleteAccessOf(db: Store, scope: Leaving): Promise<readonly Gone[]> {
  const all: Gone[] = [];
  for (const [table, type, what] of TABLES) all.push(...(await goneAt(db, type, table, scope, what)));
  await db.query(
    `update resource_groups set included_scopes = (
       select coalesce(jsonb_agg(s), '[]') from jsonb_array_elements(included_scopes) s
        where not (s ->> 'org' = $2 and s ->> 'project' is not distinct from $3::text))
      where account_id = $1 and included_scopes @> jsonb_build_array(jsonb_build_object('org', $2::text, 'project', $3::text))`,
    valuesAt(scope),
  );
  return all;
}
