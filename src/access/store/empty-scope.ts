import type { RemovedReference, DeletedScope } from "../../platform/removed-reference.ts";
import type { Store } from "../../platform/db/db.ts";
import { deleteFromScope } from "../../platform/db/removed-rows.ts";
import { ASSIGNED } from "./removed-grants.ts";

/** Assignments first, since they reference the others. */
const TABLES = [
  ["role_assignments", "ROLE_ASSIGNMENT", ASSIGNED],
  ["roles", "ROLE", "identifier"],
  ["resource_groups", "RESOURCE_GROUP", "identifier"],
  ["user_groups", "USER_GROUP", "identifier"],
] as const;

/** Deletes the rows of one scope, without its child scopes. */
export async function deleteAccessOf(db: Store, scope: DeletedScope): Promise<readonly RemovedReference[]> {
  const all: RemovedReference[] = [];
  for (const [table, type, name] of TABLES) all.push(...(await deleteFromScope(db, scope, { type, table, name })));
  return all;
}
