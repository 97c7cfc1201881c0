import type { Authorize } from "../../access/index.ts";
import type { Audit } from "../../audit/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Db } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import type { GetTrigger } from "../read.ts";
import { auditEntry } from "../read-document.ts";
import { findDelivery } from "../store/triggers.ts";
import type { Delivery } from "../trigger.ts";
import type { RepeatDelivery } from "../webhooks/receive.ts";
import type { TriggerName } from "./read.ts";

export type ReplayDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly getTrigger: GetTrigger;
  readonly repeat: RepeatDelivery;
};

/**
 * Stores a delivery anew, as if its caller had sent it again; returns once it is durable. Its execution acts for whom
 * the trigger's executions act. Throws `pipeline.not_found`, `trigger.not_found`, `trigger.no_delivery`,
 * `trigger.disabled`, `trigger.not_stored`, `trigger.too_many_waiting`.
 */
export const replayDelivery =
  (deps: ReplayDeps) =>
  async (actor: Actor, { within, identifier }: TriggerName, correlationId: string): Promise<Delivery> => {
    const { accountId } = actor;
    const { pipelineIdentifier, orgIdentifier, projectIdentifier } = within;
    deps.authorize(actor, "core_pipeline_execute", { accountId, orgIdentifier, projectIdentifier }, pipelineIdentifier);
    const trigger = await deps.getTrigger(actor, within, identifier);
    const original = await findDelivery(deps.db, accountId, correlationId);
    if (original?.triggerId !== trigger.id) throw problem("trigger.no_delivery", [correlationId.slice(0, 64)]);
    if (!trigger.enabled) throw problem("trigger.disabled", [identifier]);
    if (original.payload === "") throw problem("trigger.not_stored", [correlationId]);
    return deps.repeat(trigger, original, (tx, delivery) =>
      deps.audit.record(tx, actor, {
        ...auditEntry("trigger.replay", identifier, within),
        after: { event: delivery.correlationId, replayOf: correlationId },
      }),
    );
  };

export type ReplayDelivery = ReturnType<typeof replayDelivery>;
