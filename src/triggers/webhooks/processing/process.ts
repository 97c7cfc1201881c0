/** Processes stored deliveries: starts a run of the trigger's pipeline, and closes the delivery with the outcome. */
import type { Clock } from "../../../core/clock.ts";
import { toWire, type Uuid } from "../../../core/ids.ts";
import { Problem } from "../../../core/problem.ts";
import type { NoteRefused } from "../../../core/refused.ts";
import type { Json, StartTransaction } from "../../../executions/index.ts";
import type { InputsOfSets, PrepareRun } from "../../../pipelines/index.ts";
import type { Db } from "../../../platform/db/db.ts";
import { parseCheckedJson } from "../../../platform/document/json/checked-json.ts";
import { createLru } from "../../../platform/lru.ts";
import { actorOf } from "../../actor.ts";
import { bodyOf, inputOf, type TriggerBody } from "../../document.ts";
import { problem } from "../../problems.ts";
import { closeDelivery, findTriggerById, lockDelivery, type Outcome } from "../../store/triggers.ts";
import { ownerOf, type Delivery, type Trigger } from "../../trigger.ts";

export type ProcessDeps = {
  readonly db: Db;
  readonly prepareRun: PrepareRun;
  readonly mergeInputSets: InputsOfSets;
  readonly startTransaction: StartTransaction;
  /** Records a rejected start in the audit trail. */
  readonly refused: NoteRefused;
  readonly clock: Pick<Clock, "now">;
  /** Wakes the followers of the trigger's deliveries. */
  readonly onDeliveryChanged: (triggerId: Uuid) => void;
};

export const disabledOutcome = ({ identifier }: Trigger) =>
  ({ status: "TRIGGER_DISABLED", message: `Trigger ${identifier} is disabled.` }) as const;

/** The outcome of deliveries that an older server stored for a deleted trigger. */
const DELETED_TRIGGER = { status: "TRIGGER_DELETED", message: "The trigger was deleted." } as const;

export function createDeliveryProcessor(deps: ProcessDeps) {
  const documentOf = createDocumentCache();

  /**
   * Starts the run of a delivery, and closes the delivery. Rejects if the delivery stays pending or failed
   * unexpectedly.
   */
  async function process(delivery: Delivery, trigger: Trigger): Promise<void> {
    try {
      await startRun(delivery, trigger);
    } catch (error) {
      // The database or a place to read the pipeline is unavailable. The sweep processes the delivery later.
      if (error instanceof Problem && (error.status === 503 || error.status === 429)) throw error;
      const known = error instanceof Problem;
      if (known && error.status === 403) noteRefused(delivery, trigger, error);
      await close(delivery, {
        status: known ? "INVALID_RUNTIME_INPUT_YAML" : "EXCEPTION_WHILE_PROCESSING",
        message: known ? error.message : "The event could not be processed; the log of the server has the details.",
      });
      if (!known) throw error;
    }
  }

  /** Records the refusal in the audit trail, because the caller of a webhook does not learn the reason. */
  function noteRefused({ accountId }: Delivery, trigger: Trigger, { code, status }: Problem): void {
    const { orgIdentifier, projectIdentifier, pipelineIdentifier } = trigger;
    deps.refused({
      ...{ accountId, actor: actorOf(trigger), operation: "execution.start", code, status },
      ...{ resourceType: "PIPELINE", resourceId: pipelineIdentifier, scope: { orgIdentifier, projectIdentifier } },
    });
  }

  async function startRun(delivery: Delivery, trigger: Trigger): Promise<void> {
    if (!trigger.enabled) return close(delivery, disabledOutcome(trigger));
    const { orgIdentifier, projectIdentifier, pipelineIdentifier } = trigger;
    const scope = { orgIdentifier, projectIdentifier };
    const actor = actorOf(trigger);
    const body = documentOf(trigger);
    const sets = body.inputSetRefs ?? [];
    const input = await deps.mergeInputSets(actor, scope, pipelineIdentifier, sets, inputOf(body));
    // Parsed again from the stored text. The value from the check at receipt would take several times the memory while
    // the delivery waits for its turn at the database, and a sweep has only the text.
    const event = { type: "Webhook", payload: parseCheckedJson(delivery.payload) as Json, header: delivery.headers };
    const run = { trigger: event, principals: [ownerOf(trigger)] };
    const prepared = await deps.prepareRun(actor, scope, pipelineIdentifier, input, run);
    // Another pipeline may have the identifier now.
    if (prepared.pipelineId !== trigger.pipelineId) throw problem("trigger.no_pipeline", [pipelineIdentifier]);
    await deps.startTransaction(trigger.pipelineId, async (tx, startExecution) => {
      // False: another replica processed the delivery, or the trigger was changed and the sweep takes the new version.
      if (!(await lockDelivery(tx, delivery, trigger.version))) return;
      await startExecution(actor, {
        scope,
        pipelineIdentifier,
        prepared,
        inputYaml: input?.text ?? null,
        triggerType: "WEBHOOK_CUSTOM",
        triggeredBy: triggeredBy(trigger),
        trigger: event,
        alongside: (executionId) =>
          closeDelivery(tx, delivery, {
            status: "TARGET_EXECUTION_REQUESTED",
            message: "Pipeline execution was requested successfully",
            executionId,
            at: deps.clock.now(),
          }),
      });
    });
    deps.onDeliveryChanged(trigger.id);
  }

  async function close(delivery: Delivery, outcome: Omit<Outcome, "executionId" | "at">): Promise<void> {
    await closeDelivery(deps.db, delivery, { ...outcome, executionId: null, at: deps.clock.now() });
    deps.onDeliveryChanged(delivery.triggerId);
  }

  /** As `process`, with the trigger as it is now. */
  async function processPending(delivery: Delivery): Promise<void> {
    const trigger = await findTriggerById(deps.db, delivery.accountId, delivery.triggerId);
    await (trigger ? process(delivery, trigger) : close(delivery, DELETED_TRIGGER));
  }

  return { process, processPending };
}

function triggeredBy({ accountId, orgIdentifier, projectIdentifier, identifier }: Trigger) {
  const triggerRef = [toWire(accountId), orgIdentifier, projectIdentifier, identifier].join("/");
  return { uuid: "systemUser", identifier, name: identifier, email: null, triggerRef };
}

/** Characters of the documents whose parsed form is cached. */
const MAX_CACHED = 8 * 1024 * 1024;
/** Parses the document of a trigger once for each version, so that a busy webhook does not parse YAML at each call. */
function createDocumentCache(): (trigger: Trigger) => TriggerBody {
  const cache = createLru<Uuid, { version: number; body: TriggerBody; length: number }>(
    MAX_CACHED,
    (_id, { length }) => length,
  );
  return (trigger) => {
    const cached = cache.get(trigger.id);
    if (cached?.version === trigger.version) return cached.body;
    const body = bodyOf(trigger);
    cache.set(trigger.id, { version: trigger.version, body, length: trigger.yaml.length });
    return body;
  };
}
