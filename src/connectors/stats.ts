import type { Actor } from "../core/actor.ts";
import { scopeOf, type Place } from "../core/reference.ts";
import { listed } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import { countEach, type ConnectorCounts } from "./store/overview.ts";

/** The connectors of one scope that the actor may see, counted. Throws what RequireScope throws. */
export type CountConnectors = (actor: Actor, place: Place) => Promise<ConnectorCounts>;

export const makeCountConnectors =
  (deps: { db: Db; requireScope: RequireScope }): CountConnectors =>
  async (actor, place) => {
    const { accountId } = actor;
    const shown = listed(actor, "core_connector_view", scopeOf(accountId, place));
    await deps.requireScope(actor, place);
    return countEach(deps.db, accountId, place, shown);
  };
