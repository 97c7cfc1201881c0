/**
 * Drives the engine. Whatever happens to an execution comes through here: its
 * row is locked, the engine says what follows, and the new state, the tasks and
 * the timers are written in the caller's transaction (invariant 2).
 */
import { isState, step, type Effect, type Event, type Plan, type State, type Transition } from "../engine/index.ts";
import type { Clock } from "../core/clock.ts";
import { createLru } from "../platform/lru.ts";
import type { Uuid } from "../core/ids.ts";
import type { CancelTask, Enqueue } from "../delegates/index.ts";
import type { Tx } from "../platform/db/db.ts";
import { sendTogether } from "../platform/db/send-together.ts";
import { stageIdsOf } from "./stage.ts";
import { findPlan, lockState, saveState, type Timer, type TimerChanges } from "./store/executions.ts";
import { throwStuck } from "./stuck.ts";
import type { Wakeups } from "./wakeups.ts";

export type AdvanceDeps = {
  readonly clock: Clock;
  readonly enqueue: Enqueue;
  readonly cancel: CancelTask;
  readonly wakeups: Pick<Wakeups, "wake">;
};

export type RunRef = { readonly accountId: Uuid; readonly id: Uuid };
/** A run that begins queues up behind others of its pipeline; one that has begun goes before those. */
type Beginning = RunRef & { readonly queueId?: Uuid };

/**
 * Plans never change, so the latest ones are kept rather than read again for every event. Characters of their JSON at
 * most: one plan may have several million, with the payload that started it.
 */
const PLANS_KEPT = 64 * 1024 * 1024;

type KeptPlan = { readonly plan: Plan; readonly length: number };

/** An execution that is ours until the transaction ends. */
export type Locked = { readonly before: State; readonly give: (event: Event) => Promise<State> };

export function makeAdvance(deps: AdvanceDeps) {
  const plans = createLru<Uuid, KeptPlan>(PLANS_KEPT, (_, { length }) => length);

  async function planOf(tx: Tx, run: RunRef): Promise<Plan> {
    const kept = plans.get(run.id);
    if (kept) return kept.plan;
    const found = await findPlan(tx, run.accountId, run.id);
    if (!found) throw new Error(`execution ${run.id} has no plan`);
    plans.set(run.id, found);
    return found.plan;
  }

  /** Does what the engine asked for; answers the events that follow at once. */
  async function perform(tx: Tx, run: Beginning, effects: readonly Effect[]): Promise<Event[]> {
    const following: Event[] = [];
    for (const effect of effects) {
      if (effect.kind !== "enqueueTask" && effect.kind !== "cancelTask") continue;
      const task = { accountId: run.accountId, runId: run.id, nodeId: effect.node as Uuid, attempt: effect.attempt };
      if (effect.kind === "enqueueTask")
        await deps.enqueue(tx, {
          ...task,
          queueId: run.queueId ?? null,
          selectors: effect.selectors,
          work: mutableWork(effect),
        });
      else if ((await deps.cancel(tx, task)) === "ended") {
        following.push({
          kind: "taskEnded",
          at: deps.clock.now(),
          node: effect.node,
          attempt: effect.attempt,
          outcome: { kind: "cancelled", survivors: 0 },
        });
      }
    }
    return following;
  }

  /** Performs the effects of a state that is written, and feeds what follows from them; answers the last state. */
  async function follow(tx: Tx, run: Beginning, plan: Plan, from: State, effects: readonly Effect[]): Promise<State> {
    tx.afterCommit(() => deps.wakeups.wake(run.id));
    const queue = await perform(tx, run, effects);
    let state = from;
    for (let event = queue.shift(); event; event = queue.shift()) {
      const next = step(plan, state, event);
      if (next.state === state) continue;
      state = next.state;
      await save(tx, run, plan, next);
      queue.push(...(await perform(tx, run, next.effects)));
    }
    return state;
  }

  async function save(tx: Tx, run: RunRef, plan: Plan, { state, effects }: Transition): Promise<void> {
    await saveState(tx, run, state, timersOf(effects), stageIdsOf(plan));
  }

  /** Locks an execution and answers its state and how to give it an event; undefined when there is none. Throws Stuck. */
  async function lock(tx: Tx, run: RunRef): Promise<Locked | undefined> {
    const before = await lockState(tx, run.accountId, run.id);
    if (before === undefined) return undefined;
    if (!isState(before)) return throwStuck(run, new Error("its stored state cannot be read"));
    return { before, give: (event) => take(tx, run, before, event).catch((error: unknown) => throwStuck(run, error)) };
  }

  async function take(tx: Tx, run: RunRef, before: State, event: Event): Promise<State> {
    const plan = await planOf(tx, run);
    const next = step(plan, before, event);
    if (next.state === before) return before;
    const [, state] = await sendTogether(
      () => save(tx, run, plan, next),
      () => follow(tx, run, plan, next.state, next.effects),
    );
    return state;
  }

  return { follow, lock, remember: plans.set };
}

export type Advance = ReturnType<typeof makeAdvance>;

export function timersOf(effects: readonly Effect[]): TimerChanges {
  const started: Timer[] = [];
  const stopped: Omit<Timer, "at">[] = [];
  for (const effect of effects) {
    if (effect.kind === "startTimer") started.push({ node: effect.node, attempt: effect.attempt, at: effect.at });
    if (effect.kind === "stopTimer") stopped.push({ node: effect.node, attempt: effect.attempt });
  }
  return { started, stopped };
}

type EnqueueTask = Extract<Effect, { kind: "enqueueTask" }>;

// The protocol's arrays are mutable, the engine's are not; the values are the same.
const mutableWork = ({ work }: EnqueueTask) => ({
  kind: work.kind,
  script: work.script,
  env: [...work.env],
  outputs: [...work.outputs],
  ...(work.secrets && { secrets: work.secrets }),
  ...(work.target && { target: work.target }),
});
