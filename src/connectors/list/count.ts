import type { Actor } from "../../core/actor.ts";
import { scopeOf, type Place } from "../../core/reference.ts";
import { listed } from "../../access/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { RequireScope } from "../../projects/index.ts";
import { countByTypeAndStatus, type ConnectorCounts } from "../store/overview.ts";

/** Counts the connectors of one scope that the actor may see, by type and status. Throws what RequireScope throws. */
export const countConnectors =
  (deps: { db: Db; requireScope: RequireScope }) =>
  async (actor: Actor, place: Place): Promise<ConnectorCounts> => {
    const { accountId } = actor;
    const shown = listed(actor, "core_connector_view", scopeOf(accountId, place));
    await deps.requireScope(actor, place);
    return countByTypeAndStatus(deps.db, accountId, { ...place, shown });
  };

export type CountConnectors = ReturnType<typeof countConnectors>;
