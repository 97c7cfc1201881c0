import type { Event, NodeId, NodeState, Plan, PlanNode, State, Transition } from "./model.ts";
import { stopStep, taskEnded } from "./nodes/step.ts";
import { childrenOf, indexOf, nodeOf } from "./plan-index.ts";
import { beginRun, change, close, commit, stateOf, statusOf, type Run } from "./run.ts";
import { isFinal, unreachable } from "./status.ts";
import { walk } from "./walk.ts";

/** The state before the first event. Throws when the plan is not a tree of its own nodes. */
export function initialState(plan: Plan): State {
  indexOf(plan);
  return { status: "queued", startedAt: null, endedAt: null, failure: null, aborting: false, nodes: {} };
}

/**
 * What an event makes of an execution: the next state, and the effects that must
 * happen in the transaction that stores it, in this order. Pure: the same
 * arguments give the same answer, and the given state is never changed.
 *
 * An event that comes too late or twice (the execution has ended, the node does
 * not run, another attempt runs) returns the same state object and no effects.
 */
export function step(plan: Plan, state: State, event: Event): Transition {
  if (isFinal(state.status)) return unchanged(state);
  switch (event.kind) {
    case "started":
      return started(plan, state, event.at);
    case "taskEnded":
      return forRunningStep(plan, state, event, (run, node, before) => {
        walk(run, taskEnded(run, node, before, event));
      });
    case "timerFired":
      return forRunningStep(plan, state, event, (run, node, before) => {
        if (before.stopping === null) stopStep(run, node, before, "expired");
      });
    case "interrupted":
      return interrupted(plan, state, event);
    default:
      return unreachable(event);
  }
}

const unchanged = (state: State): Transition => ({ state, effects: [] });

function started(plan: Plan, state: State, at: number): Transition {
  if (state.status !== "queued") return unchanged(state);
  const run = beginRun(plan, state, at);
  walk(run, [{ kind: "start", node: plan.root }]);
  return commit(run);
}

type StepNode = PlanNode & { readonly kind: "step" };

/** Acts on the step that an event names, provided that this attempt of it still runs. */
function forRunningStep(
  plan: Plan,
  state: State,
  { node: id, attempt, at }: { readonly node: NodeId; readonly attempt: number; readonly at: number },
  act: (run: Run, node: StepNode, before: NodeState) => void,
): Transition {
  const before = Object.hasOwn(state.nodes, id) ? state.nodes[id] : undefined;
  if (before?.status !== "running" || before.attempt !== attempt) return unchanged(state);
  const node = nodeOf(plan, id);
  if (node.kind !== "step") return unchanged(state);
  const run = beginRun(plan, state, at);
  act(run, node, before);
  return run.changed.size === 0 ? unchanged(state) : commit(run);
}

function interrupted(plan: Plan, state: State, event: Event & { kind: "interrupted" }): Transition {
  switch (event.interrupt) {
    case "AbortAll":
      return state.aborting ? unchanged(state) : abortAll(plan, state, event);
    default:
      return unreachable(event.interrupt);
  }
}

/**
 * Nothing new starts and every running task is asked to end. The execution is
 * aborted once all of them have answered; at once when none runs. A task that is
 * already being stopped because its time is up stays that way.
 */
function abortAll(plan: Plan, state: State, { at, by }: Event & { kind: "interrupted" }): Transition {
  const run = beginRun(plan, state, at, true);
  if (by !== undefined) change(run, plan.root, { failure: { message: `Aborted by ${by}`, types: [] } });
  const running = runningSteps(run, plan.root);
  for (const [node, before] of running) if (before.stopping === null) stopStep(run, node, before, "aborted");
  if (running.length === 0) walk(run, close(run, nodeOf(plan, plan.root), "aborted"));
  return commit(run);
}

/** In the order of the plan; only nodes that run are entered. */
function runningSteps(run: Run, id: NodeId): readonly (readonly [StepNode, NodeState])[] {
  if (statusOf(run, id) !== "running") return [];
  const node = nodeOf(run.plan, id);
  const state = stateOf(run, id);
  if (node.kind === "step") return state ? [[node, state]] : [];
  return childrenOf(node).flatMap((child) => runningSteps(run, child));
}
