import { saveInScope } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Entity, Fields, Kind } from "../entity.ts";
import { problem } from "../problems.ts";
import { insertEntity } from "../store/entities.ts";
import { entityEntry } from "./audit.ts";
import type { EntityDeps } from "./deps.ts";
import { requirePermission } from "./permission.ts";
import { newEntity } from "./new-entity.ts";

/** Creates an entity in the scope that `fields` name. Throws what RequireScope throws, `<noun>.duplicate`. */
export const createEntity =
  <T extends Entity>(deps: Omit<EntityDeps, "dereference">, kind: Kind) =>
  async (actor: Actor, fields: Fields<T>): Promise<T> => {
    await requirePermission(deps, actor, { kind, action: "edit", key: fields });
    const entity = newEntity<T>(deps, fields);
    await saveInScope(deps, actor, fields, async (tx) => {
      if (!(await insertEntity(tx, actor.accountId, { kind, entity })))
        throw problem(`${kind.noun}.duplicate`, [fields.identifier]);
      await deps.audit.record(tx, actor, entityEntry(kind, "create", { key: fields, after: entity }));
    });
    return entity;
  };

export type CreateEntity<T extends Entity> = ReturnType<typeof createEntity<T>>;
