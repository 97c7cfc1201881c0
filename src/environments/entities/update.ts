import type { Actor } from "../../core/actor.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { Entity, Fields, Kind } from "../entity.ts";
import { findEntity, updateEntityRow } from "../store/entities.ts";
import { entityEntry } from "./audit.ts";
import type { EntityDeps } from "./deps.ts";
import { explainMissedRow } from "./missed-row.ts";
import { requirePermission } from "./permission.ts";
import { newEntity } from "./new-entity.ts";

type Deps = Omit<EntityDeps, "dereference">;
type EntityUpdate<T extends Entity> = {
  readonly actor: Actor;
  readonly kind: Kind;
  readonly fields: Fields<T>;
  readonly version: number | undefined;
};

/**
 * Replaces the entity that scope and identifier of `fields` name. `version` is the version that the caller has read;
 * undefined accepts any. Throws what RequireScope throws, `<noun>.not_found`, `core.stale_version`.
 */
export const updateEntity =
  <T extends Entity>(deps: Deps, kind: Kind) =>
  async (actor: Actor, fields: Fields<T>, version: number | undefined): Promise<T> => {
    await requirePermission(deps, actor, { kind, action: "edit", key: fields });
    return deps.db.transaction((tx) => replaceEntity<T>(tx, deps, { actor, kind, fields, version }));
  };

export type UpdateEntity<T extends Entity> = ReturnType<typeof updateEntity<T>>;

/** The update itself, in the caller's transaction. Locks the entity. */
export async function replaceEntity<T extends Entity>(
  tx: Tx,
  deps: Pick<EntityDeps, "audit" | "clock" | "newId">,
  { actor, kind, fields, version }: EntityUpdate<T>,
): Promise<T> {
  const { accountId } = actor;
  const before = await findEntity<T>(tx, accountId, { kind, key: fields, lock: "for no key update" });
  const updated = await updateEntityRow(tx, accountId, { kind, entity: newEntity<T>(deps, fields), version });
  if (!updated) throw await explainMissedRow(tx, accountId, { kind, key: fields, version });
  await deps.audit.record(tx, actor, entityEntry(kind, "update", { key: fields, before, after: updated }));
  return updated;
}
