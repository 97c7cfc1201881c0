import type { Entity, Fields } from "../entity.ts";
import type { EntityDeps } from "./deps.ts";

/** The entity of a request, with a new id and version 1. */
export function newEntity<T extends Entity>(deps: Pick<EntityDeps, "clock" | "newId">, fields: Fields<T>): T {
  const at = deps.clock.now();
  return { ...fields, id: deps.newId(), version: 1, createdAt: at, updatedAt: at } as unknown as T;
}
