import type { Effect, Failure, NodeId, NodeState, Plan, PlanNode, State, Status, Transition } from "./model.ts";
import { childrenOf, indexOf, nodeOf } from "./plan-index.ts";
import { isFinal } from "./status.ts";

/** What is to be done next in the walk over the tree. */
export type Work = { readonly kind: "start" | "ended"; readonly node: NodeId };

/**
 * One transition in the making. Changes are collected here and laid over the old
 * state once, at the end, so that a transition copies the node table one time
 * however many nodes it touches. It never leaves `step`.
 */
export type Run = {
  readonly plan: Plan;
  readonly before: State;
  /** The time of the event, and not before anything that the state tells of: no duration is negative. */
  readonly at: number;
  readonly aborting: boolean;
  readonly changed: Map<NodeId, NodeState>;
  readonly effects: Effect[];
};

export const beginRun = (plan: Plan, before: State, at: number, aborting = before.aborting): Run => ({
  plan,
  before,
  at: notBefore(before, at),
  aborting,
  changed: new Map(),
  effects: [],
});

/** Replicas agree on the time to some milliseconds only, and a step may take less than that. */
function notBefore({ startedAt, nodes }: State, at: number): number {
  let latest = Math.max(at, startedAt ?? at);
  for (const node of Object.values(nodes)) latest = Math.max(latest, node.startedAt ?? at, node.endedAt ?? at);
  return latest;
}

/** The node's state as it is by now; undefined when it was never reached. */
export function stateOf(run: Pick<Run, "before" | "changed">, id: NodeId): NodeState | undefined {
  const changed = run.changed.get(id);
  if (changed) return changed;
  return Object.hasOwn(run.before.nodes, id) ? run.before.nodes[id] : undefined;
}

/** The status of a node by now; a node that was not reached is queued. */
export const statusOf = (run: Run, id: NodeId): Status => stateOf(run, id)?.status ?? "queued";

export const UNTOUCHED: NodeState = {
  status: "queued",
  attempt: 1,
  startedAt: null,
  endedAt: null,
  outputs: [],
  exitCode: null,
  failure: null,
  stopping: null,
  survivors: null,
};

/** Changes some of a node's state. */
export function change(run: Run, id: NodeId, changes: Partial<NodeState>): NodeState {
  const next = { ...(stateOf(run, id) ?? UNTOUCHED), ...changes };
  run.changed.set(id, next);
  return next;
}

/** Marks a node as running from now on. */
export const open = (run: Run, id: NodeId): NodeState => change(run, id, { status: "running", startedAt: run.at });

/**
 * Gives a node its final state, and everything below it that was never reached
 * the status skipped: when an execution ends, every node has a final state.
 */
export function close(run: Run, node: PlanNode, status: Status, rest: Partial<NodeState> = {}): readonly Work[] {
  change(run, node.id, { ...rest, status, endedAt: run.at });
  for (const child of childrenOf(node)) skip(run, child);
  return [{ kind: "ended", node: node.id }];
}

function skip(run: Run, id: NodeId): void {
  if (stateOf(run, id)) return;
  change(run, id, { status: "skipped", endedAt: run.at });
  for (const child of childrenOf(nodeOf(run.plan, id))) skip(run, child);
}

/** The failure of a node, as its parent passes it on. */
export const failureOf = (run: Run, id: NodeId): Failure | null => stateOf(run, id)?.failure ?? null;

/** The parent of a node; undefined for the root. */
export function parentOf(run: Run, id: NodeId): PlanNode | undefined {
  const parent = indexOf(run.plan).parents.get(id);
  return parent === undefined ? undefined : nodeOf(run.plan, parent);
}

/** The new state and what must happen. The status of the execution is that of the root. */
export function commit(run: Run): Transition {
  const root = stateOf(run, run.plan.root);
  const status = root?.status ?? run.before.status;
  const state: State = {
    status,
    startedAt: root?.startedAt ?? run.before.startedAt,
    endedAt: isFinal(status) ? run.at : null,
    failure: root?.failure ?? run.before.failure,
    aborting: run.aborting,
    nodes: { ...run.before.nodes, ...Object.fromEntries(run.changed) },
  };
  return { state, effects: run.effects };
}
