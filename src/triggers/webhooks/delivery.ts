import { fromWire, toWire } from "../../core/ids.ts";
import type { Actor } from "../../core/actor.ts";
import type { ExecutionSummary, GetSummary } from "../../executions/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { findDelivery, findTriggerNames } from "../store/triggers.ts";
import type { Delivery, DeliveryState, TriggerNames } from "../trigger.ts";

export type DeliveryDetails = {
  readonly delivery: Delivery & DeliveryState;
  readonly trigger: TriggerNames;
  readonly execution: ExecutionSummary | undefined;
};

/**
 * Returns a delivery by its correlation id, which only its sender knows, with its execution. Throws
 * `trigger.no_delivery`.
 */
export const getDelivery =
  (deps: { db: Db; getExecution: GetSummary }) =>
  async (account: string, correlationId: string): Promise<DeliveryDetails> => {
    const accountId = fromWire(account);
    const delivery = accountId && (await findDelivery(deps.db, accountId, correlationId));
    const trigger = delivery && (await findTriggerNames(deps.db, delivery.accountId, delivery.triggerId));
    if (!trigger) throw problem("trigger.no_delivery", [correlationId]);
    const system: Actor = { kind: "system", accountId: delivery.accountId };
    const execution = delivery.executionId ? await deps.getExecution(system, toWire(delivery.executionId)) : undefined;
    return { delivery, trigger, execution };
  };

export type GetDelivery = ReturnType<typeof getDelivery>;
