/**
 * The webhook inbox. A delivery is committed before the answer, and processed once: by this replica at once, or by the
 * sweep of any replica if this one ends in between.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import { createLru } from "../../platform/lru.ts";
import { Problem } from "../../core/problem.ts";
import type { NoteRefused } from "../../core/refused.ts";
import type { Json, StartTransaction } from "../../executions/index.ts";
import type { InputsOfSets, PrepareRun } from "../../pipelines/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { asIntake } from "../../platform/db/pool/budget.ts";
import { checkedJson, parsedPayload } from "../../platform/document/json/checked-json.ts";
import { actorOf } from "../actor.ts";
import { checkCall, type CheckCallDeps } from "./check-call.ts";
import { countDisabledCalls, reserveDelivery } from "./backlog.ts";
import { bodyOf, inputOf, type TriggerBody } from "../document.ts";
import { deliveredHeaders } from "./headers.ts";
import { createActiveDeliveries } from "./active-deliveries.ts";
import { problem } from "../problems.ts";
import {
  closeDelivery,
  findTriggerById,
  findTriggerByToken,
  findPendingDeliveries,
  insertDelivery,
  lockDelivery,
  type Outcome,
} from "../store/triggers.ts";
import { ownerOf, type Delivery, type Trigger } from "../trigger.ts";
import { accountOfWebhookToken, hashWebhookToken } from "./token.ts";

export const MAX_PAYLOAD = 1024 * 1024;
const MAX_DEPTH = 64;
/** Calls of one address that this replica answers at once; each may have a body of 1 MiB. */
const MAX_CALLS = 1_000;
const MAX_TURNS = 10_000;
/** Time for the receiving replica to process a delivery before the sweeps of others do. */
const SWEEP_AFTER_MS = 2_000;
/** A sweep begins deliveries of a trigger for this time, because the next sweep waits for it. */
const SWEEP_FOR_MS = 2_000;

export type ReceiveDeps = CheckCallDeps & {
  readonly db: Db;
  readonly prepareRun: PrepareRun;
  readonly mergeInputSets: InputsOfSets;
  readonly startTransaction: StartTransaction;
  /** Records a rejected start in the audit trail. */
  readonly refused: NoteRefused;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly onError: (error: unknown) => void;
};

/** The names of the trigger in the query of a webhook's URL. All are optional, because the token is sufficient. */
export type WebhookNames = {
  readonly accountIdentifier?: string | undefined;
  readonly routingId?: string | undefined;
  readonly orgIdentifier?: string | undefined;
  readonly projectIdentifier?: string | undefined;
  readonly pipelineIdentifier?: string | undefined;
  readonly triggerIdentifier?: string | undefined;
};

/**
 * Stores a delivery and returns it once it is durable. Throws `trigger.no_webhook`, also for a wrong name in the query,
 * `trigger.too_many_calls`, what `checkCall`, `reserveDelivery` and `countDisabledCalls` throw, and the problems of
 * payloads.
 */
export type ReceiveWebhook = (
  token: string,
  names: WebhookNames,
  headers: CallHeaders,
  payload: string,
) => Promise<Delivery>;

type CallHeaders = Readonly<Record<string, string | string[] | undefined>>;

export function createWebhookInbox(deps: ReceiveDeps): { receive: ReceiveWebhook; sweep: () => Promise<void> } {
  const documentOf = createDocumentCache();
  const checkWebhookCall = checkCall(deps);
  const reserve = reserveDelivery(deps);
  const countDisabled = countDisabledCalls(deps);
  const withTrigger = createCallTurns(deps);
  const activeDeliveries = createActiveDeliveries(deps.onError);

  const receive: ReceiveWebhook = (token, names, headers, payload) =>
    withTrigger(token, names, (trigger) => store(trigger, headers, payload));

  async function store(trigger: Trigger, headers: CallHeaders, payload: string): Promise<Delivery> {
    await checkWebhookCall(trigger, headers);
    checkedJson(payload, { maxBytes: MAX_PAYLOAD, maxDepth: MAX_DEPTH });
    const disabled = trigger.enabled ? undefined : disabledOutcome(trigger);
    await (disabled ? countDisabled : reserve)(trigger.accountId, trigger.id, Buffer.byteLength(payload));
    const delivery: Delivery = {
      accountId: trigger.accountId,
      id: deps.newId(),
      correlationId: randomBytes(12).toString("hex"),
      triggerId: trigger.id,
      // The content of a delivery to a disabled trigger is never read, so it is not stored.
      ...(disabled ? { headers: {}, payload: "" } : { headers: deliveredHeaders(headers), payload }),
      receivedAt: deps.clock.now(),
    };
    if (!(await insertDelivery(deps.db, delivery, disabled))) throw problem("trigger.no_webhook");
    if (!disabled) void activeDeliveries.take(delivery, () => process(delivery, trigger));
    return delivery;
  }

  async function process(delivery: Delivery, trigger: Trigger): Promise<void> {
    try {
      await startRun(delivery, trigger);
    } catch (error) {
      // The database is unavailable. The sweep processes the delivery later.
      if (error instanceof Problem && error.status === 503) throw error;
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
    const event = { type: "Webhook", payload: parsedPayload(delivery.payload) as Json, header: delivery.headers };
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
          closeDelivery(tx, delivery.accountId, delivery.id, {
            status: "TARGET_EXECUTION_REQUESTED",
            message: "Pipeline execution was requested successfully",
            executionId,
            at: deps.clock.now(),
          }),
      });
    });
  }

  const close = (delivery: Delivery, outcome: Omit<Outcome, "executionId" | "at">): Promise<void> =>
    closeDelivery(deps.db, delivery.accountId, delivery.id, { ...outcome, executionId: null, at: deps.clock.now() });

  async function processPending(delivery: Delivery): Promise<void> {
    const trigger = await findTriggerById(deps.db, delivery.accountId, delivery.triggerId);
    await (trigger ? process(delivery, trigger) : close(delivery, DELETED_TRIGGER));
  }

  async function sweep(): Promise<void> {
    const before = deps.clock.now() - SWEEP_AFTER_MS;
    const pending = await asIntake(() => findPendingDeliveries(deps.db, before, activeDeliveries.ids()), ["sweep"]);
    await Promise.all([...Map.groupBy(pending, ({ triggerId }) => triggerId).values()].map(sweepTrigger));
  }

  /** One after the other. The starts of a pipeline may wait for seconds, so the triggers do not wait for each other. */
  async function sweepTrigger(pending: readonly Delivery[]): Promise<void> {
    const since = deps.clock.elapsed();
    for (const delivery of pending) {
      if (deps.clock.elapsed() - since > SWEEP_FOR_MS) return;
      const turn = [delivery.accountId, delivery.triggerId];
      await activeDeliveries.take(delivery, () => asIntake(() => processPending(delivery), turn));
    }
  }

  return { receive, sweep };
}

/**
 * Answers a call with its trigger, in turns with other triggers. Throws `trigger.no_webhook`, and
 * `trigger.too_many_calls` (429) if MAX_CALLS calls of the address are being answered.
 */
function createCallTurns({ db }: Pick<ReceiveDeps, "db">) {
  const underWay = new Map<string, number>();
  // By token, from its first call on. Until then, its calls wait among those of wrong tokens.
  const turns = createLru<string, readonly string[]>(MAX_TURNS);

  return async <T>(token: string, names: WebhookNames, answer: (trigger: Trigger) => Promise<T>): Promise<T> => {
    const accountId = accountOfWebhookToken(token);
    if (!accountId) throw problem("trigger.no_webhook");
    const tokenHash = hashWebhookToken(token);
    const key = tokenHash.toString("base64url");
    const calls = underWay.get(key) ?? 0;
    if (calls >= MAX_CALLS) throw problem("trigger.too_many_calls", [String(MAX_CALLS)], { retryAfter: 1 });
    underWay.set(key, calls + 1);
    try {
      const find = () => findTriggerByToken(db, accountId, tokenHash);
      const trigger = await asIntake(find, turns.get(key) ?? ["unknown", key]);
      if (!trigger || !isNamed(trigger, names)) throw problem("trigger.no_webhook");
      const turn = [accountId, trigger.id];
      turns.set(key, turn);
      return await asIntake(() => answer(trigger), turn);
    } finally {
      const left = (underWay.get(key) ?? 1) - 1;
      if (left > 0) underWay.set(key, left);
      else underWay.delete(key);
    }
  };
}

function isNamed(trigger: Trigger, names: WebhookNames): boolean {
  const account = toWire(trigger.accountId);
  const own: Required<WebhookNames> = {
    accountIdentifier: account,
    routingId: account,
    orgIdentifier: trigger.orgIdentifier,
    projectIdentifier: trigger.projectIdentifier,
    pipelineIdentifier: trigger.pipelineIdentifier,
    triggerIdentifier: trigger.identifier,
  };
  return Object.entries(own).every(([name, value]) => (names[name as keyof WebhookNames] ?? value) === value);
}

function triggeredBy({ accountId, orgIdentifier, projectIdentifier, identifier }: Trigger) {
  const triggerRef = [toWire(accountId), orgIdentifier, projectIdentifier, identifier].join("/");
  return { uuid: "systemUser", identifier, name: identifier, email: null, triggerRef };
}

const disabledOutcome = ({ identifier }: Trigger) =>
  ({ status: "TRIGGER_DISABLED", message: `Trigger ${identifier} is disabled.` }) as const;

/** The outcome of deliveries that an older server stored for a deleted trigger. */
const DELETED_TRIGGER = { status: "TRIGGER_DELETED", message: "The trigger was deleted." } as const;

const MAX_CACHED = 500;
/** Parses the document of a trigger once for each version, so that a busy webhook does not parse YAML at each call. */
function createDocumentCache(): (trigger: Trigger) => TriggerBody {
  const cache = createLru<Uuid, { version: number; body: TriggerBody }>(MAX_CACHED);
  return (trigger) => {
    const cached = cache.get(trigger.id);
    if (cached?.version === trigger.version) return cached.body;
    const body = bodyOf(trigger);
    cache.set(trigger.id, { version: trigger.version, body });
    return body;
  };
}
