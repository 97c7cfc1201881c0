import type { Actor } from "../../core/actor.ts";
import type { Place } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { Entity, Fields } from "../entity.ts";
import type { EntityDeps } from "./deps.ts";

/** The entity of a request, with a new id and version 1. */
export function newEntity<T extends Entity>(deps: Pick<EntityDeps, "clock" | "newId">, fields: Fields<T>): T {
  const at = deps.clock.now();
  return { ...fields, id: deps.newId(), version: 1, createdAt: at, updatedAt: at } as unknown as T;
}

/** Runs `work` in a transaction. Reports a scope that was deleted after `requirePermission` as missing. */
export async function saveInScope<R>(
  deps: Pick<EntityDeps, "db" | "requireScope">,
  actor: Actor,
  scope: Place,
  work: (tx: Tx) => Promise<R>,
): Promise<R> {
  try {
    return await deps.db.transaction(work);
  } catch (error) {
    if (isForeignKeyViolation(error)) await deps.requireScope(actor, scope);
    throw error;
  }
}

/** Recognizes the SQLSTATE of a violated foreign key, also in the cause of a database problem. */
const isForeignKeyViolation = (error: unknown): boolean =>
  error instanceof Error && (("code" in error && error.code === "23503") || isForeignKeyViolation(error.cause));
