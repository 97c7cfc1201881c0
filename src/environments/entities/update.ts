import type { Actor } from "../../core/actor.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { Entity, Fields, Kind } from "../entity.ts";
import { findEntity, updateEntityRow } from "../store/entities.ts";
import { recordEntity } from "./audit.ts";
import type { EntityDeps } from "./deps.ts";
import { explainMissedRow } from "./missed-row.ts";
import { requirePermission } from "./permission.ts";
import { newEntity } from "./save.ts";

type Deps = Omit<EntityDeps, "dereference">;
type EntityUpdate<T extends Entity> = { readonly fields: Fields<T>; readonly version: number | undefined };

/**
 * Replaces the entity that scope and identifier of `fields` name. `version` is the version that the caller has read;
 * undefined accepts any. Throws what RequireScope throws, `<noun>.not_found`, `core.stale_version`.
 */
export const updateEntity =
  <T extends Entity>(deps: Deps, kind: Kind) =>
  async (actor: Actor, fields: Fields<T>, version: number | undefined): Promise<T> => {
    await requirePermission(deps, kind, actor, "edit", fields);
    return deps.db.transaction((tx) => replaceEntity<T>(tx, deps, kind, actor, { fields, version }));
  };

export type UpdateEntity<T extends Entity> = ReturnType<typeof updateEntity<T>>;

/** The update itself, in the caller's transaction. Locks the entity. */
export async function replaceEntity<T extends Entity>(
  tx: Tx,
  deps: Pick<EntityDeps, "audit" | "clock" | "newId">,
  kind: Kind,
  actor: Actor,
  { fields, version }: EntityUpdate<T>,
): Promise<T> {
  const before = await findEntity<T>(tx, kind, actor.accountId, fields, "lock");
  const updated = await updateEntityRow(tx, kind, actor.accountId, newEntity<T>(deps, fields), version);
  if (!updated) throw await explainMissedRow(tx, kind, actor, fields, version);
  await recordEntity(tx, deps, kind, actor, { operation: "update", key: fields, before, after: updated });
  return updated;
}
