import type { Actor } from "../../core/actor.ts";
import type { Referred } from "../../core/reference.ts";
import type { Entity, Kind } from "../entity.ts";
import { problem } from "../problems.ts";
import { findEntity } from "../store/entities.ts";
import type { EntityDeps } from "./deps.ts";
import { requirePermission } from "./permission.ts";

/** Returns one entity. Throws what RequireScope throws, `<noun>.not_found`. */
export const getEntity =
  <T extends Entity>(deps: Pick<EntityDeps, "db" | "authorize" | "requireScope">, kind: Kind) =>
  async (actor: Actor, key: Referred): Promise<T> => {
    await requirePermission(deps, actor, { kind, action: "view", key });
    const entity = await findEntity<T>(deps.db, actor.accountId, { kind, key });
    if (!entity) throw problem(`${kind.noun}.not_found`, [key.identifier]);
    return entity;
  };

export type GetEntity<T extends Entity> = ReturnType<typeof getEntity<T>>;
