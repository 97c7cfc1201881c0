import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { commonProblem } from "../core/problems.ts";
import type { PipelineText } from "../pipelines/index.ts";
import type { Tx } from "../platform/db/db.ts";
import { faultOf } from "../platform/document/validate.ts";
import { problem } from "./problems.ts";
import { auditEntry, readTrigger, type PipelineKey, type TriggerDeps } from "./read-document.ts";
import { closePendingDeliveries, lockTrigger, markDeleted, replaceTrigger } from "./store/changes.ts";
import type { TriggerKey } from "./store/triggers.ts";
import { shownTrigger, type Trigger } from "./trigger.ts";

/** `version` is the version that the caller has read; undefined for any. */
export type TriggerToChange = {
  readonly within: PipelineKey;
  readonly identifier: string;
  readonly version: number | undefined;
};

/**
 * Saves the next version with the checks of `createTrigger`. The actor becomes its owner; the webhook stays. Throws
 * what `createTrigger` throws except the duplicate, `trigger.not_found`, `trigger.other_identifier`,
 * `core.stale_version`.
 */
export const updateTrigger =
  (deps: TriggerDeps) =>
  async (actor: Actor, { within, identifier, version }: TriggerToChange, sent: PipelineText): Promise<Trigger> => {
    const { pipeline, fields, doc, identifier: named } = await readTrigger(deps, actor, within, sent);
    if (named !== identifier) {
      const fault = faultOf(doc, ["trigger", "identifier"], `'${named}' is not '${identifier}'`);
      throw problem("trigger.other_identifier", [named, identifier], { faults: [fault] });
    }
    const to = { ...fields, updatedAt: deps.clock.now() };
    const key = { accountId: actor.accountId, pipelineId: pipeline.id, identifier };
    return deps.db.transaction(async (tx) => {
      const before = await requireLockedTrigger(tx, key, within);
      const saved = await replaceTrigger(tx, { ...key, version }, to);
      if (saved === undefined) throw staleVersion(before, version);
      const after = { ...before, ...to, version: saved };
      await deps.audit.record(tx, actor, {
        ...auditEntry("trigger.update", identifier, within),
        before: shownTrigger(before),
        after: shownTrigger(after),
      });
      return after;
    });
  };

export type UpdateTrigger = ReturnType<typeof updateTrigger>;

/**
 * Deletes a trigger: its webhook ends and its identifier is free. Its executions continue; its pending deliveries are
 * closed without an execution. Throws `pipeline.not_found`, `trigger.not_found`, `core.stale_version`.
 */
export const deleteTrigger =
  (deps: TriggerDeps & { readonly onDeliveryChanged: (triggerId: Uuid) => void }) =>
  async (actor: Actor, { within, identifier, version }: TriggerToChange): Promise<void> => {
    const { accountId } = actor;
    const { pipelineIdentifier, ...scope } = within;
    deps.authorize(actor, "core_pipeline_edit", { accountId, ...scope }, pipelineIdentifier);
    const pipeline = await deps.getPipeline(actor, scope, pipelineIdentifier);
    const key = { accountId, pipelineId: pipeline.id, identifier };
    await deps.db.transaction(async (tx) => {
      const before = await requireLockedTrigger(tx, key, within);
      const at = deps.clock.now();
      const id = await markDeleted(tx, { ...key, version }, at);
      if (id === undefined) throw staleVersion(before, version);
      const message = `Trigger ${identifier} was deleted before the event was processed.`;
      tx.afterCommit(() => deps.onDeliveryChanged(id));
      await closePendingDeliveries(tx, { accountId, triggerId: id }, { status: "TRIGGER_DELETED", message, at });
      await deps.audit.record(tx, actor, {
        ...auditEntry("trigger.delete", identifier, within),
        before: shownTrigger(before),
      });
    });
  };

export type DeleteTrigger = ReturnType<typeof deleteTrigger>;

/** Locks the trigger until the end of the transaction. Throws `trigger.not_found`. */
async function requireLockedTrigger(tx: Tx, key: TriggerKey, within: PipelineKey): Promise<Trigger> {
  const trigger = await lockTrigger(tx, key);
  if (!trigger) throw problem("trigger.not_found", [key.identifier, within.pipelineIdentifier]);
  return trigger;
}

/** The problem of a statement that changed no row of a locked trigger. */
const staleVersion = ({ identifier, version }: Trigger, change: number | undefined): Error =>
  commonProblem("core.stale_version", ["Trigger", identifier, `${version}`, `${change}`]);
