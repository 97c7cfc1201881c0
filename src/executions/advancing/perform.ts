/** Does what the engine asks for, in the transaction that saves the state (invariant 2). */
import {
  unreachable,
  type Attempt,
  type Effect,
  type Event,
  type Json,
  type Nodes,
  type Service,
} from "../../engine/index.ts";
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import type { CancelTask, Enqueue } from "../../delegates/index.ts";
import type { Tx } from "../../platform/db/db.ts";
import { sendTogether } from "../../platform/db/send-together.ts";
import type { RunKey } from "../store/advance.ts";

/** A node of an execution that waits for an answer. */
export type Waiting = { readonly accountId: Uuid; readonly executionId: Uuid; readonly nodeId: Uuid };

/** Answers what nodes ask of it with an event `answered`, in a transaction of its own. */
export type AnswerService<Request = Json> = {
  /** Resolves with the answer if there is nothing to wait for. */
  readonly send: (tx: Tx, node: Waiting, request: Request) => Promise<{ readonly answer: Json } | void>;
  /** The node no longer waits. `attempt`: the one that has ended. */
  readonly withdraw: (tx: Tx, node: Waiting, attempt: Pick<Attempt, "status" | "output" | "failure">) => Promise<void>;
  /** The same of all nodes of an execution that cannot be advanced. */
  readonly withdrawAll?: (tx: Tx, execution: Omit<Waiting, "nodeId">) => Promise<void>;
};

/** `holder`: the node at whose end the lock is free again. `around`: the node that asks, and all nodes around it. */
export type LockService = AnswerService<{
  readonly key: string;
  readonly holder: Uuid;
  readonly around: readonly Uuid[];
}> & {
  /** Frees the locks of a holder, and those that were asked for and not got yet. */
  readonly release: (tx: Tx, holder: Waiting) => Promise<void>;
};

/** What is not there is not supported: an execution that asks for it ends as errored. */
export type AnswerServices = {
  readonly approval?: AnswerService;
  readonly mail?: AnswerService;
  readonly lock?: LockService;
};

export type PerformDeps = {
  readonly clock: Clock;
  readonly enqueue: Enqueue;
  readonly cancel: CancelTask;
  readonly services: AnswerServices;
};

/** A run that begins queues up behind others of its pipeline; one that has begun goes before those. */
export type Run = RunKey & { readonly queueId?: Uuid };

/** Effects, and the nodes as they are after the event that caused them. */
export type Caused = { readonly effects: readonly Effect[]; readonly nodes: Nodes };

/** Performs effects in their order, and answers the events that follow at once. Timers are saved with the state. */
export async function perform(deps: PerformDeps, tx: Tx, run: Run, { effects, nodes }: Caused): Promise<Event[]> {
  const events = await sendTogether(...effects.map((effect) => () => performOne({ ...deps, nodes }, tx, run, effect)));
  return events.flatMap((event) => event ?? []);
}

type Performing = PerformDeps & { readonly nodes: Nodes };

async function performOne(deps: Performing, tx: Tx, run: Run, effect: Effect): Promise<Event | undefined> {
  switch (effect.kind) {
    case "enqueueTask": {
      const { attempt, selectors } = effect;
      const task = { accountId: run.accountId, runId: run.id, nodeId: effect.node as Uuid, attempt };
      await deps.enqueue(tx, { ...task, queueId: run.queueId ?? null, selectors, work: taskWork(effect) });
      return undefined;
    }
    case "cancelTask":
      return cancel(deps, tx, run, effect);
    case "sendRequest":
      return send(deps, tx, run, effect);
    case "releaseLocks":
      await serviceOf(deps, "lock").release(tx, nodeOf(run, effect.node));
      return undefined;
    case "withdrawRequest":
      await serviceOf(deps, effect.service).withdraw(tx, nodeOf(run, effect.node), endedAttempt(deps, effect.node));
      return undefined;
    case "startTimer":
    case "stopTimer":
    case "endExecution":
      return undefined;
    default:
      return unreachable(effect);
  }
}

async function cancel(
  { cancel: cancelTask, clock }: PerformDeps,
  tx: Tx,
  { accountId, id: runId }: Run,
  { node, attempt }: { readonly node: string; readonly attempt: number },
): Promise<Event | undefined> {
  const answer = await cancelTask(tx, { accountId, runId, nodeId: node as Uuid, attempt });
  if (answer !== "ended") return undefined;
  const outcome = { kind: "cancelled", survivors: 0, wasReady: true } as const;
  return { kind: "taskEnded", at: clock.now(), node, attempt, outcome };
}

async function send(
  deps: Performing,
  tx: Tx,
  run: Run,
  effect: Extract<Effect, { kind: "sendRequest" }>,
): Promise<Event | undefined> {
  const node = nodeOf(run, effect.node);
  const answered =
    effect.service === "lock"
      ? await serviceOf(deps, "lock").send(tx, node, {
          key: effect.key,
          holder: effect.holder as Uuid,
          around: around(deps, effect.node),
        })
      : await serviceOf(deps, effect.service).send(tx, node, effect.request);
  if (!answered) return undefined;
  return { kind: "answered", at: deps.clock.now(), node: effect.node, answer: answered.answer };
}

/** A node and all nodes around it. */
function around({ nodes }: Performing, id: string): readonly Uuid[] {
  const ids: Uuid[] = [];
  for (let at: string | null = id; at !== null; at = nodes.get(at)?.parent ?? null) ids.push(at as Uuid);
  return ids;
}

function serviceOf<Name extends Service>({ services }: PerformDeps, name: Name): NonNullable<AnswerServices[Name]> {
  const service = services[name];
  if (!service) throw new Error(`this server has no service '${name}'`);
  return service;
}

/** The attempt whose request is withdrawn: a retry may have opened the next one. */
function endedAttempt({ nodes }: Performing, id: string): Parameters<AnswerService["withdraw"]>[2] {
  const attempt = nodes.get(id)?.attempts.findLast(({ endedAt }) => endedAt !== null);
  return attempt ?? { status: null, output: null, failure: null };
}

const nodeOf = ({ accountId, id }: Run, node: string): Waiting => ({
  accountId,
  executionId: id,
  nodeId: node as Uuid,
});

// The engine does not read what the work of a task is made of; its step type and the delegates agree on it.
const taskWork = ({ work }: Extract<Effect, { kind: "enqueueTask" }>): Parameters<Enqueue>[1]["work"] => work;
