import { barrierWork } from "./barriers.ts";
import { interrupt } from "./interrupts.ts";
import type { Event, NodeState, Plan, Snapshot, State, Transition } from "./model.ts";
import { FORMAT } from "./model.ts";
import { containerExpired, lockGranted } from "./nodes/container.ts";
import { inputsExpired, inputsSubmitted } from "./nodes/inputs.ts";
import { answered, stepExpired, taskEnded, taskOverdue, timePassed } from "./nodes/step.ts";
import { commit } from "./commit.ts";
import { awaitsInputs } from "./inputs.ts";
import { indexOf } from "./plan-index.ts";
import { interventionExpired } from "./recovery.ts";
import { takeReused } from "./reuse.ts";
import { beginRun, definitionOf, findNode, type Run, UNCHANGED, type Work } from "./run.ts";
import { isFinal, unreachable } from "./status.ts";
import type { StepTypes } from "./step-type.ts";
import { walk } from "./walk.ts";

/** The state before the first event. Throws when the plan is not a tree of its own nodes. */
export function initialState(plan: Plan): State {
  indexOf(plan);
  return {
    format: FORMAT,
    status: "queued",
    startedAt: null,
    endedAt: null,
    failure: null,
    aborting: false,
    paused: false,
    latestAt: 0,
    nodes: 0,
    outputBytes: 0,
    barriers: {},
  };
}

export type Engine = {
  readonly initialState: typeof initialState;
  /**
   * What an event makes of an execution: the next state, the instances that changed, and the effects that must
   * happen in the transaction that stores them, in this order. Pure: the same
   * arguments give the same answer, and nothing that is given is changed. The cost follows from what changes, not from
   * what the execution has.
   *
   * An event that comes too late or twice (the execution has ended, the node does
   * not wait for it, another task runs) returns the same state object and no effects.
   */
  readonly step: (plan: Plan, before: Snapshot, event: Event) => Transition;
};

export function createEngine(types: StepTypes): Engine {
  return {
    initialState,
    step(plan, before, event) {
      const nothing = { state: before.state, changed: UNCHANGED, effects: [] };
      if (isFinal(before.state.status)) return nothing;
      const run = beginRun(types, plan, before, event);
      const work = follow(run, event);
      if (work === undefined) return nothing;
      walk(run, work);
      for (let more = barrierWork(run); more.length > 0; more = barrierWork(run)) walk(run, more);
      return commit(run);
    },
  };
}

/** What is to be done first; undefined for an event that comes too late or twice. */
function follow(run: Run, event: Event): readonly Work[] | undefined {
  switch (event.kind) {
    case "started":
      if (findNode(run, run.plan.root)) return undefined;
      takeReused(run, event.reused ?? []);
      return [{ kind: "start", child: { definition: run.plan.root, parent: null } }];
    case "interrupted":
      return interrupt(run, event);
    case "taskEnded":
    case "timerFired":
    case "answered":
    case "inputSubmitted": {
      const node = findNode(run, event.node);
      return node && !isFinal(node.status) ? signal(run, node, event) : undefined;
    }
    default:
      return unreachable(event);
  }
}

type NodeEvent = Extract<Event, { node: string; kind: "taskEnded" | "timerFired" | "answered" | "inputSubmitted" }>;

function signal(run: Run, node: NodeState, event: NodeEvent): readonly Work[] | undefined {
  switch (event.kind) {
    case "taskEnded":
      return isOpenTask(node, event.attempt) ? taskEnded(run, node, event) : undefined;
    case "answered":
      if (node.status !== "waiting" || node.attempts.at(-1)?.endedAt !== null || awaitsInputs(node)) return undefined;
      if (definitionOf(run, node).kind !== "step") return lockGranted(run, node);
      return answered(run, node, { kind: "answered", answer: event.answer });
    case "inputSubmitted":
      return awaitsInputs(node) ? inputsSubmitted(run, node, event.values) : undefined;
    case "timerFired":
      return fired(run, node, event);
    default:
      return unreachable(event);
  }
}

const isOpenTask = ({ attempts }: NodeState, task: number): boolean => {
  const attempt = attempts.at(-1);
  return attempt?.endedAt === null && attempt.task === task && attempt.waitsFor.includes("task");
};

function fired(
  run: Run,
  node: NodeState,
  { purpose }: Extract<Event, { kind: "timerFired" }>,
): readonly Work[] | undefined {
  const isWaiting = node.status === "waiting";
  switch (purpose) {
    case "retry":
      return isWaiting && node.reason?.kind === "retry" ? [{ kind: "begin", node: node.id }] : undefined;
    case "intervention":
      return isWaiting && node.reason?.kind === "intervention" ? interventionExpired(run, node) : undefined;
    case "wait":
      if (!node.attempts.at(-1)?.waitsFor.includes("time")) return undefined;
      return isWaiting ? timePassed(run, node) : taskOverdue(run, node);
    case "timeout":
      if (!node.attempts.at(-1)?.waitsFor.includes("timeout")) return undefined;
      if (awaitsInputs(node)) return inputsExpired(run, node);
      if (definitionOf(run, node).kind === "step") return stepExpired(run, node);
      return containerExpired(run, node);
    default:
      return unreachable(purpose);
  }
}
