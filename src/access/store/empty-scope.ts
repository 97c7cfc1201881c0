import type { RemovedReference, Leaving } from "../../platform/removed-reference.ts";
import type { Store } from "../../platform/db/db.ts";
import { goneAt } from "../../platform/db/gone.ts";
import { ASSIGNED } from "./removed-grants.ts";

/** Assignments first, since they reference the others. */
const TABLES = [
  ["role_assignments", "ROLE_ASSIGNMENT", ASSIGNED],
  ["roles", "ROLE", "identifier"],
  ["resource_groups", "RESOURCE_GROUP", "identifier"],
  ["user_groups", "USER_GROUP", "identifier"],
] as const;

/** Deletes the rows of one scope, without its child scopes. */
export async function deleteAccessOf(db: Store, scope: Leaving): Promise<readonly RemovedReference[]> {
  const all: RemovedReference[] = [];
  for (const [table, type, what] of TABLES) all.push(...(await goneAt(db, type, table, scope, what)));
  return all;
}
