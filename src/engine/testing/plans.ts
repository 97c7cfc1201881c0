import type { Effect, Event, Json, NodeId, Plan, PlanNode, State, TaskOutcome, Transition } from "../model.ts";
import { initialState, step } from "../step.ts";

/** A step in a test's words; its node's id is its identifier, so identifiers must differ within a plan. */
export type StepSketch = {
  readonly id: string;
  readonly env?: readonly (readonly [name: string, value: string])[];
  readonly timeoutMs?: number;
};

export type StageSketch = {
  readonly id: string;
  readonly steps: readonly StepSketch[];
  readonly rollback?: readonly StepSketch[];
  /** Whether any failure rolls the stage back. */
  readonly rollsBack?: boolean;
};

/** A plan of shell steps. Stage `a` has the groups `a.steps` and `a.rollback`; the root is `pipeline`. */
export function planOf(stages: readonly StageSketch[], context: { readonly [key: string]: Json } = {}): Plan {
  const documents = stages.map(({ id, steps, rollback = [] }) => [
    id,
    {
      identifier: id,
      name: id,
      spec: { execution: { steps: documentsOf(steps), rollbackSteps: documentsOf(rollback) } },
    },
  ]);
  const pipeline = { identifier: "p", name: "P", variables: {}, stages: Object.fromEntries(documents) };
  const root: PlanNode = {
    kind: "pipeline",
    id: "pipeline",
    identifier: "p",
    name: "P",
    path: ["pipeline"],
    children: stages.map(({ id }) => id),
  };
  const nodes = [root, ...stages.flatMap(stageNodes)];
  return {
    root: root.id,
    nodes: Object.fromEntries(nodes.map((node) => [node.id, node])),
    context: { pipeline, ...context },
  };
}

const documentsOf = (steps: readonly StepSketch[]): Json =>
  Object.fromEntries(steps.map(({ id }) => [id, { identifier: id, name: `Step ${id}`, type: "ShellScript" }]));

function stageNodes(stage: StageSketch): readonly PlanNode[] {
  const { id, steps, rollback = [], rollsBack = false } = stage;
  const path = ["pipeline", "stages", id];
  const node: PlanNode = {
    kind: "stage",
    type: "Deployment",
    id,
    identifier: id,
    name: id,
    path,
    steps: `${id}.steps`,
    rollback: `${id}.rollback`,
    failureStrategies: rollsBack ? [{ errors: ["AllErrors"], action: "StageRollback" }] : [],
  };
  const place = [...path, "spec", "execution"];
  return [
    node,
    ...groupNodes(node.steps, [...place, "steps"], steps),
    ...groupNodes(node.rollback, [...place, "rollbackSteps"], rollback),
  ];
}

function groupNodes(id: NodeId, path: readonly string[], steps: readonly StepSketch[]): readonly PlanNode[] {
  const name = path.at(-1) ?? "";
  const group: PlanNode = { kind: "group", id, identifier: name, name, path, children: steps.map((one) => one.id) };
  return [group, ...steps.map((one) => stepNode(one, [...path, one.id]))];
}

function stepNode({ id, env = [], timeoutMs = 600_000 }: StepSketch, path: readonly string[]): PlanNode {
  const work = {
    kind: "shell",
    script: `echo ${id}`,
    env: env.map(([name, value]) => ({ name, value })),
    outputs: [],
  } as const;
  return {
    kind: "step",
    type: "ShellScript",
    id,
    identifier: id,
    name: `Step ${id}`,
    path,
    timeoutMs,
    selectors: [],
    work,
  };
}

export const exited = (exitCode: number, outputs: Readonly<Record<string, string>> = {}): TaskOutcome => ({
  kind: "exited",
  exitCode,
  outputs: Object.entries(outputs).map(([name, value]) => ({ name, value })),
});
export const cancelled = (survivors: number | "unknown" = 0): TaskOutcome => ({ kind: "cancelled", survivors });
export const lost = (message = "the delegate is gone"): TaskOutcome => ({
  kind: "lost",
  type: "DelegateRestart",
  message,
});

export const started = (at = 0): Event => ({ kind: "started", at });
export const ended = (at: number, node: NodeId, outcome: TaskOutcome, attempt = 1): Event => ({
  kind: "taskEnded",
  at,
  node,
  attempt,
  outcome,
});
export const fired = (at: number, node: NodeId, attempt = 1): Event => ({ kind: "timerFired", at, node, attempt });
export const abort = (at: number): Event => ({ kind: "interrupted", at, interrupt: "AbortAll" });

/** Every transition of a history, in order; the state before the first event is not among them. */
export function play(plan: Plan, events: readonly Event[], from: State = initialState(plan)): readonly Transition[] {
  let state = from;
  return events.map((event) => {
    const transition = step(plan, state, event);
    state = transition.state;
    return transition;
  });
}

/** The state after a history, and the effects of all its events. */
export function outcomeOf(plan: Plan, events: readonly Event[]): Transition {
  const transitions = play(plan, events);
  const state = transitions.at(-1)?.state ?? initialState(plan);
  return { state, effects: transitions.flatMap(({ effects }) => effects) };
}

/** `enqueueTask build`, `startTimer build`: effects as short words. */
export const words = (effects: readonly Effect[]): readonly string[] =>
  effects.map((effect) => `${effect.kind} ${"node" in effect ? effect.node : effect.status}`);

/** Freezes a value and all that hangs on it; writing to it then throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
