import { saveInScope } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Entity, Fields, Kind } from "../entity.ts";
import { findEntity, upsertEntityRow } from "../store/entities.ts";
import { entityEntry } from "./audit.ts";
import type { EntityDeps } from "./deps.ts";
import { requirePermission } from "./permission.ts";
import { newEntity } from "./new-entity.ts";
import { replaceEntity } from "./update.ts";

/**
 * Creates or replaces the entity. With a version, the entity must exist. Throws what RequireScope throws,
 * `<noun>.not_found`, `core.stale_version`.
 */
export const upsertEntity =
  <T extends Entity>(deps: Omit<EntityDeps, "dereference">, kind: Kind) =>
  async (actor: Actor, fields: Fields<T>, version: number | undefined): Promise<T> => {
    const { accountId } = actor;
    await requirePermission(deps, actor, { kind, action: "edit", key: fields });
    return saveInScope(deps, actor, fields, async (tx) => {
      if (version !== undefined) return replaceEntity<T>(tx, deps, { actor, kind, fields, version });
      const before = await findEntity<T>(tx, accountId, { kind, key: fields, lock: "for no key update" });
      const entity = await upsertEntityRow(tx, accountId, { kind, entity: newEntity<T>(deps, fields) });
      const operation = entity.version === 1 ? "create" : "update";
      await deps.audit.record(tx, actor, entityEntry(kind, operation, { key: fields, before, after: entity }));
      return entity;
    });
  };

export type UpsertEntity<T extends Entity> = ReturnType<typeof upsertEntity<T>>;
