import { type Budget, newEventBudget } from "./expression/budget.ts";
import { instanceOf, type NewNode } from "./instance.ts";
import type { Effect, Event, Plan, PlanNode } from "./model.ts";
import type { Attempt, InstanceId, NodeState, Progress, Snapshot, State, Status } from "./model.ts";
import { progressBytesOf } from "./output-bytes.ts";
import { nodeOf } from "./plan-index.ts";
import type { StepTypes } from "./step-type.ts";

/** What is to be done next in the walk over the tree. */
export type Work =
  | { readonly kind: "start"; readonly child: NewNode }
  /** The node begins, after it was created, resumed or made to wait for another try. */
  | { readonly kind: "begin"; readonly node: InstanceId }
  /** What undoes the node begins. `undo`: the stages of a pipeline that are to be undone. */
  | { readonly kind: "rollBack"; readonly node: InstanceId; readonly undo?: readonly InstanceId[] }
  | { readonly kind: "ended"; readonly node: InstanceId };

/**
 * One transition in the making. Changes are collected and laid over the old nodes, so that a transition costs what it
 * changes and not what the execution has. It never leaves `step`.
 */
export type Run = {
  readonly types: StepTypes;
  readonly plan: Plan;
  readonly before: Snapshot;
  /** The time of the event, and not before anything that the state tells of: no duration is negative. */
  readonly at: number;
  readonly changed: Map<InstanceId, NodeState>;
  readonly effects: Effect[];
  /** The instances that it has created, in order. */
  readonly created: InstanceId[];
  aborting: boolean;
  paused: boolean;
  nodes: number;
  outputBytes: number;
  barriers: State["barriers"];
  /** Retries that have begun in this event. */
  immediateRetries: number;
  /** What its expressions have cost. */
  readonly budget: Budget;
  /** Those of rollbacks: what undoes work must not fail for what the work has cost. */
  readonly rollbackBudget: Budget;
};

export function beginRun(types: StepTypes, plan: Plan, before: Snapshot, event: Event): Run {
  const { aborting, paused, nodes, outputBytes, barriers, latestAt } = before.state;
  const reused = event.kind === "started" ? (event.reused ?? []) : [];
  // Replicas agree on the time to some milliseconds only, and a step may take less than that.
  const now = reused.reduce((latest, { endedAt }) => Math.max(latest, endedAt ?? 0), Math.max(event.at, latestAt));
  return {
    types,
    plan,
    before,
    at: now,
    changed: new Map(),
    effects: [],
    created: [],
    aborting,
    paused,
    nodes,
    outputBytes,
    barriers,
    immediateRetries: 0,
    budget: newEventBudget(),
    rollbackBudget: newEventBudget(),
  };
}

/** The instance as it is by now; undefined when it was never reached. */
export const findNode = (run: Pick<Run, "before" | "changed">, id: InstanceId): NodeState | undefined =>
  run.changed.get(id) ?? run.before.nodes.get(id);

/** The same of an instance that must have been reached. */
export function nodeAt(run: Run, id: InstanceId): NodeState {
  const node = findNode(run, id);
  if (!node) throw new Error(`the execution has no node ${id}`);
  return node;
}

export const definitionOf = (run: Pick<Run, "plan">, { definition }: NodeState): PlanNode =>
  nodeOf(run.plan, definition);

export const parentOf = (run: Run, { parent }: NodeState): NodeState | undefined =>
  parent === null ? undefined : nodeAt(run, parent);

/** Changes some of an instance; returns it as it is then. */
export function change(run: Run, id: InstanceId, changes: Partial<NodeState>): NodeState {
  const next = { ...nodeAt(run, id), ...changes };
  run.changed.set(id, next);
  return next;
}

export const changeProgress = (run: Run, node: NodeState, changes: Partial<Progress>): NodeState =>
  change(run, node.id, { progress: { ...progressOf(node), ...changes } });

export function progressOf({ progress, path }: NodeState): Progress {
  if (!progress) throw new Error(`node ${path} has not begun`);
  return progress;
}

export const BEGUN: Progress = { phase: "main", next: 0, open: 0, failed: null, ignored: false };

/** Creates an instance. */
export function createNode(run: Run, child: NewNode): NodeState {
  return createNodeAt(run, instanceAt(run, child), child);
}

export const instanceAt = (run: Run, child: NewNode): ReturnType<typeof instanceOf> =>
  instanceOf(run.plan, (known) => findNode(run, known), child);

/** The same where the node's parent may not have been reached yet. */
export function createNodeAt(run: Run, { id, path }: ReturnType<typeof instanceOf>, child: NewNode): NodeState {
  if (findNode(run, id)) throw new Error(`the execution has node ${path} already`);
  const node: NodeState = {
    id,
    definition: child.definition,
    parent: child.parent,
    path,
    status: "queued",
    reason: null,
    startedAt: null,
    endedAt: null,
    failure: null,
    attempts: [],
    tasks: 0,
    stopping: null,
    iteration: child.iteration ?? null,
    progress: null,
    isReused: false,
    ...(nodeOf(run.plan, child.definition).kind !== "step" && { hasActed: false }),
    holdsLocks: false,
    recovery: null,
  };
  run.nodes += 1;
  run.created.push(id);
  run.changed.set(id, node);
  return node;
}

const NEW_ATTEMPT = {
  endedAt: null,
  status: null,
  failure: null,
  exitCode: null,
  outputs: [],
  survivors: null,
  delegate: null,
  task: null,
  waitsFor: [],
  progress: null,
  output: null,
} as const;

/** Begins the next attempt of a node. */
export function openAttempt(run: Run, node: NodeState, progress: Progress | null): NodeState {
  return change(run, node.id, {
    status: "running",
    reason: null,
    failure: null,
    startedAt: node.startedAt ?? run.at,
    stopping: null,
    progress,
    attempts: [...node.attempts, { ...NEW_ATTEMPT, startedAt: run.at }],
  });
}

export function attemptOf({ attempts, path }: NodeState): Attempt {
  const attempt = attempts.at(-1);
  if (!attempt) throw new Error(`node ${path} has not begun`);
  return attempt;
}

export const changeAttempt = (run: Run, node: NodeState, changes: Partial<Attempt>): NodeState =>
  change(run, node.id, { attempts: [...node.attempts.slice(0, -1), { ...attemptOf(node), ...changes }] });

/** Whether the node has begun already: it waited for inputs, and has got them. */
export const hasOpenAttempt = ({ attempts }: NodeState): boolean => attempts.at(-1)?.endedAt === null;

/** Limits the time of the open attempt. */
export function startTimeout(run: Run, node: NodeState, ms: number): NodeState {
  run.effects.push({ kind: "startTimer", node: node.id, purpose: "timeout", at: run.at + ms });
  return changeAttempt(run, node, { waitsFor: [...attemptOf(node).waitsFor, "timeout"] });
}

type Awaited = Attempt["waitsFor"][number];

/** One of the things that an attempt waits for has come. */
export const withoutWait = (run: Run, node: NodeState, come: Awaited): NodeState =>
  changeAttempt(run, node, { waitsFor: attemptOf(node).waitsFor.filter((one) => one !== come) });

/** Takes back the timers and requests of the open attempt, or those of them that are named. A task ends by itself. */
export function withdraw(run: Run, node: NodeState, which?: readonly Awaited[]): NodeState {
  const { waitsFor } = attemptOf(node);
  const isWithdrawn = (one: Awaited): boolean => one !== "task" && (which?.includes(one) ?? true);
  const withdrawn = waitsFor.filter(isWithdrawn);
  if (withdrawn.length === 0) return node;
  for (const one of withdrawn) {
    if (one === "timeout") run.effects.push({ kind: "stopTimer", node: node.id, purpose: "timeout" });
    else if (one === "time") run.effects.push({ kind: "stopTimer", node: node.id, purpose: "wait" });
    else if (one !== "task" && one !== "cancel" && one !== "barrier" && one !== "input")
      run.effects.push({ kind: "withdrawRequest", node: node.id, service: one });
  }
  return changeAttempt(run, node, { waitsFor: waitsFor.filter((one) => !isWithdrawn(one)) });
}

/** Ends the open attempt of a node, if it has one, with all that it waits for. */
export function endAttempt(run: Run, node: NodeState, status: Status, changes: Partial<Attempt> = {}): NodeState {
  const attempt = node.attempts.at(-1);
  if (!attempt || attempt.endedAt !== null) return node;
  // Only its step type has read what it kept, and asks no more: it makes room for others.
  run.outputBytes = Math.max(0, run.outputBytes - progressBytesOf(attempt.progress));
  const ended = { status, endedAt: run.at, waitsFor: [], progress: null };
  return changeAttempt(run, withdraw(run, node), { ...changes, ...ended });
}

/** Gives a node its final state; what follows for its parent is done next. */
export function close(run: Run, node: NodeState, status: Status, changes: Partial<NodeState> = {}): readonly Work[] {
  const ended = endAttempt(run, nodeAt(run, node.id), status, { failure: changes.failure ?? null });
  if (ended.holdsLocks) run.effects.push({ kind: "releaseLocks", node: node.id });
  change(run, ended.id, { reason: null, ...changes, status, endedAt: run.at, stopping: null, holdsLocks: false });
  return [{ kind: "ended", node: node.id }];
}

export const UNCHANGED: ReadonlyMap<InstanceId, NodeState> = new Map();
