/**
 * The webhook inbox. A delivery is committed before the answer, and processed once: by this replica at once, or by the
 * sweep of any replica if this one ends in between.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { toWire, type NewId } from "../../core/ids.ts";
import { createLru } from "../../platform/lru.ts";
import { asIntake } from "../../platform/db/pool/budget.ts";
import type { Tx } from "../../platform/db/db.ts";
import { checkedJson } from "../../platform/document/json/checked-json.ts";
import { checkCall, type CheckCallDeps } from "./check-call.ts";
import { countDisabledCalls, reserveDelivery } from "./backlog.ts";
import { deliveredHeaders } from "./headers.ts";
import { createActiveDeliveries } from "./processing/active-deliveries.ts";
import { createDeliveryProcessor, disabledOutcome, type ProcessDeps } from "./processing/process.ts";
import { problem } from "../problems.ts";
import { addToSum } from "../../platform/add-to-sum.ts";
import { findTriggerByToken, findPendingDeliveries, insertDelivery } from "../store/triggers.ts";
import type { Delivery, Trigger } from "../trigger.ts";
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

export type ReceiveDeps = CheckCallDeps &
  ProcessDeps & {
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
export type ReceiveWebhook = (token: string, names: WebhookNames, event: ReceivedEvent) => Promise<Delivery>;

type ReceivedEvent = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly payload: string;
};

/**
 * Stores a delivery anew, with what `record` writes in the same transaction, and processes it. Throws
 * `trigger.no_webhook` for a trigger that was deleted meanwhile, and what `reserveDelivery` throws.
 */
export type RepeatDelivery = (
  trigger: Trigger,
  original: Pick<Delivery, "correlationId" | "headers" | "payload">,
  record: (tx: Tx, delivery: Delivery) => Promise<unknown>,
) => Promise<Delivery>;

type WebhookInbox = {
  readonly receive: ReceiveWebhook;
  readonly repeat: RepeatDelivery;
  readonly sweep: () => Promise<void>;
};

export function createWebhookInbox(deps: ReceiveDeps): WebhookInbox {
  const checkWebhookCall = checkCall(deps);
  const reserve = reserveDelivery(deps);
  const countDisabled = countDisabledCalls(deps);
  const withTrigger = createCallTurns(deps);
  const { process, processPending } = createDeliveryProcessor(deps);
  const activeDeliveries = createActiveDeliveries(deps.onError);

  const receive: ReceiveWebhook = (token, names, event) =>
    withTrigger(token, names, (trigger) => store(trigger, event));

  async function store(trigger: Trigger, { headers, payload }: ReceivedEvent): Promise<Delivery> {
    await checkWebhookCall(trigger, headers);
    checkedJson(payload, { maxBytes: MAX_PAYLOAD, maxDepth: MAX_DEPTH });
    const disabled = trigger.enabled ? undefined : disabledOutcome(trigger);
    await (disabled ? countDisabled : reserve)(trigger.accountId, trigger.id, Buffer.byteLength(payload));
    // The content of a delivery to a disabled trigger is never read, so it is not stored.
    const content = disabled ? { headers: {}, payload: "" } : { headers: deliveredHeaders(headers), payload };
    const delivery = newDelivery(trigger, content);
    if (!(await insertDelivery(deps.db, delivery, disabled))) throw problem("trigger.no_webhook");
    deps.onDeliveryChanged(trigger.id);
    if (!disabled) void activeDeliveries.take(delivery, () => process(delivery, trigger));
    return delivery;
  }

  const newDelivery = ({ accountId, id }: Trigger, content: Pick<Delivery, "headers" | "payload">): Delivery => ({
    ...{ accountId, id: deps.newId(), correlationId: randomBytes(12).toString("hex"), triggerId: id },
    ...content,
    receivedAt: deps.clock.now(),
  });

  const repeat: RepeatDelivery = async (trigger, { correlationId, headers, payload }, record) => {
    await reserve(trigger.accountId, trigger.id, Buffer.byteLength(payload));
    const delivery = { ...newDelivery(trigger, { headers, payload }), replayOf: correlationId };
    await deps.db.transaction(async (tx) => {
      if (!(await insertDelivery(tx, delivery))) throw problem("trigger.no_webhook");
      await record(tx, delivery);
    });
    deps.onDeliveryChanged(trigger.id);
    void activeDeliveries.take(delivery, () => process(delivery, trigger));
    return delivery;
  };

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

  return { receive, repeat, sweep };
}

/**
 * Answers a call with its trigger, in turns with other triggers. Throws `trigger.no_webhook`, and
 * `trigger.too_many_calls` (429) if MAX_CALLS calls of the address are being answered.
 */
function createCallTurns({ db }: Pick<ReceiveDeps, "db">) {
  const underWay = new Map<string, number>();
  // By token, from its first call on. Until then, its calls wait among those of unauthenticated senders.
  const turns = createLru<string, readonly string[]>(MAX_TURNS);

  return async <T>(token: string, names: WebhookNames, answer: (trigger: Trigger) => Promise<T>): Promise<T> => {
    const accountId = accountOfWebhookToken(token);
    if (!accountId) throw problem("trigger.no_webhook");
    const tokenHash = hashWebhookToken(token);
    const key = tokenHash.toString("base64url");
    const calls = underWay.get(key) ?? 0;
    if (calls >= MAX_CALLS) throw problem("trigger.too_many_calls", [String(MAX_CALLS)], { retryAfter: 1 });
    addToSum(underWay, key, 1);
    try {
      const find = () => findTriggerByToken(db, accountId, tokenHash);
      const known = turns.get(key);
      const trigger = await (known ? asIntake(find, known) : find());
      if (!trigger || !isNamed(trigger, names)) throw problem("trigger.no_webhook");
      const turn = [accountId, trigger.id];
      turns.set(key, turn);
      return await asIntake(() => answer(trigger), turn);
    } finally {
      addToSum(underWay, key, -1);
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
