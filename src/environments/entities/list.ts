import { listed } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Page, Window } from "../../core/page.ts";
import { scopeOf } from "../../core/reference.ts";
import type { Entity, Kind } from "../entity.ts";
import { countEntities, selectEntities, type EntityFilter } from "../store/entities.ts";
import type { EntityDeps } from "./deps.ts";

/**
 * Lists the entities of exactly this scope. `searchTerm` is a part of name or identifier, case-insensitive. Throws what
 * RequireScope throws.
 */
export const listEntities =
  <T extends Entity>({ db, requireScope }: Pick<EntityDeps, "db" | "requireScope">, kind: Kind) =>
  async (actor: Actor, given: Omit<EntityFilter, "shown">, window: Window): Promise<Page<T>> => {
    const scope = scopeOf(actor.accountId, given);
    const filter = { ...given, shown: listed(actor, `core_${kind.noun}_view`, scope) };
    await requireScope(actor, given);
    const items = await selectEntities<T>(db, actor.accountId, { kind, filter, window });
    return { items, ...window, total: () => countEntities(db, actor.accountId, { kind, filter }) };
  };

export type ListEntities<T extends Entity> = ReturnType<typeof listEntities<T>>;
