import type { Actor } from "../core/actor.ts";
import type { Place } from "../core/reference.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { RequireScope } from "./places.ts";

type Deps = { readonly db: Pick<Db, "transaction">; readonly requireScope: RequireScope };

/**
 * Runs `work`, which saves a resource of the scope, in a transaction. Throws what `requireScope` throws if the scope
 * was deleted after the check of the permission.
 */
export async function saveInScope<R>(
  { db, requireScope }: Deps,
  actor: Actor,
  scope: Place,
  work: (tx: Tx) => Promise<R>,
): Promise<R> {
  try {
    return await db.transaction(work);
  } catch (error) {
    if (isForeignKeyViolation(error)) await requireScope(actor, scope);
    throw error;
  }
}

/** Recognizes the SQLSTATE of a violated foreign key, also in the cause of a database problem. */
const isForeignKeyViolation = (error: unknown): boolean =>
  error instanceof Error && (("code" in error && error.code === "23503") || isForeignKeyViolation(error.cause));
