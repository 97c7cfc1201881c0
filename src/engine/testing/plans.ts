import { createEngine } from "../step.ts";
import type {
  Condition,
  Effect,
  Event,
  FailureStrategy,
  InstanceId,
  Json,
  LoopNode,
  NodeId,
  NodeInput,
  NodeState,
  OutputAlias,
  Plan,
  PlanNode,
  State,
  TaskOutcome,
} from "../model.ts";
import { FORMAT } from "../model.ts";
import { parentsIn } from "./seen.ts";
import { testStepTypes } from "./step-types.ts";
import { isFinal } from "../status.ts";

/** What may stand beside the identifier of a stage, group or step. */
type Configured = {
  /** A template. */
  readonly timeout?: string;
  readonly when?: Condition;
  readonly strategies?: readonly FailureStrategy[];
  readonly loop?: Pick<LoopNode, "strategy" | "maxConcurrency" | "onFailure">;
  readonly asks?: readonly NodeInput[];
};

/** A step in a test's words; its node's id is its identifier, so identifiers must differ within a plan. */
export type StepSketch = Configured & {
  readonly id: string;
  readonly type?: "ShellScript" | "Pause" | "Approval" | "Queue" | "Barrier" | "Poll";
  readonly env?: readonly (readonly [name: string, value: string])[];
  readonly timeoutMs?: number;
  readonly alias?: OutputAlias;
};

export type GroupSketch = Configured & {
  readonly group: string;
  readonly steps: readonly ItemSketch[];
  readonly rollback?: readonly ItemSketch[];
  readonly timeoutMs?: number;
};

export type ItemSketch =
  | StepSketch
  | GroupSketch
  | { readonly parallel: string; readonly steps: readonly ItemSketch[] };

export type StageSketch = Configured & {
  readonly id: string;
  readonly steps: readonly ItemSketch[];
  readonly rollback?: readonly ItemSketch[];
  /** Whether any failure rolls the stage back. */
  readonly rollsBack?: boolean;
  readonly timeoutMs?: number;
  readonly lock?: string;
};

type StagesSketch = StageSketch | { readonly parallel: string; readonly stages: readonly StageSketch[] };

/**
 * A plan of shell steps. Stage `a` has the groups `a.steps` and `a.rollback`; the root is `pipeline` unless told; a loop of
 * `x` is `x.loop`.
 */
export function planOf(
  sketches: readonly StagesSketch[],
  context: { readonly [key: string]: Json } = {},
  {
    root = "pipeline",
    ...rest
  }: { readonly timeoutMs?: number; readonly timeout?: string; readonly root?: string } = {},
): Plan {
  const stages = sketches.flatMap((one) => ("stages" in one ? one.stages : [one]));
  const documents = stages.map(({ id, steps, rollback = [] }) => [
    id,
    {
      identifier: id,
      name: id,
      spec: { execution: { steps: documentsOf(steps), rollbackSteps: documentsOf(rollback) } },
    },
  ]);
  const pipeline = { identifier: "p", name: "P", variables: {}, stages: Object.fromEntries(documents) };
  const nodes: PlanNode[] = [];
  const children = sketches.map((one) => addStages(nodes, one));
  nodes.push({ kind: "pipeline", id: root, identifier: "p", name: "P", path: ["pipeline"], children, ...rest });
  return {
    format: FORMAT,
    root,
    nodes: Object.fromEntries(nodes.map((node) => [node.id, node])),
    context: { pipeline, ...context },
  };
}

const documentsOf = (items: readonly ItemSketch[]): { readonly [id: string]: Json } =>
  Object.fromEntries(
    items.flatMap((item): (readonly [string, Json])[] => {
      if ("parallel" in item) return Object.entries(documentsOf(item.steps));
      if ("group" in item) return [[item.group, { identifier: item.group, steps: documentsOf(item.steps) }]];
      return [[item.id, { identifier: item.id, name: `Step ${item.id}`, type: "ShellScript" }]];
    }),
  );

function addStages(nodes: PlanNode[], sketch: StagesSketch): NodeId {
  if (!("stages" in sketch)) return addStage(nodes, sketch);
  const children = sketch.stages.map((one) => addStage(nodes, one));
  const { parallel: id } = sketch;
  nodes.push({ kind: "parallel", id, identifier: id, name: id, path: ["pipeline", "stages"], children });
  return id;
}

function configured({ when, strategies, timeout, asks }: Configured) {
  return {
    ...(asks && { asks: { template: null, inputs: asks } }),
    ...(timeout !== undefined && { timeout }),
    ...(when && { when }),
    ...(strategies && { failureStrategies: strategies }),
  };
}

/** The node itself, or the loop around it. */
function addLooped(nodes: PlanNode[], node: PlanNode, { loop, when }: Configured): NodeId {
  nodes.push(node);
  if (!loop) return node.id;
  const id = `${node.id}.loop`;
  const { identifier, name, path } = node;
  const status = when && { when: { status: when.status } };
  nodes.push({ kind: "loop", id, identifier, name, path, body: node.id, ...loop, ...status });
  return id;
}

const ROLLS_BACK: FailureStrategy = { errors: ["AllErrors"], action: { type: "StageRollback" } };

function addStage(nodes: PlanNode[], stage: StageSketch): NodeId {
  const { id, steps, rollback = [], rollsBack = false, timeoutMs, lock } = stage;
  const path = ["pipeline", "stages", id];
  const place = [...path, "spec", "execution"];
  const strategies = rollsBack ? [ROLLS_BACK] : stage.strategies;
  const node: PlanNode = {
    kind: "stage",
    type: "Deployment",
    id,
    identifier: id,
    name: id,
    path,
    steps: addGroup(nodes, { id: `${id}.steps`, role: "steps", path: [...place, "steps"] }, steps),
    rollback: addGroup(
      nodes,
      { id: `${id}.rollback`, role: "rollbackSteps", path: [...place, "rollbackSteps"] },
      rollback,
    ),
    ...configured({ ...stage, ...(strategies && { strategies }) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(lock === undefined ? {} : { lock }),
  };
  return addLooped(nodes, node, stage);
}

type Group = { readonly id: NodeId; readonly role: "steps" | "rollbackSteps"; readonly path: readonly string[] };

function addGroup(nodes: PlanNode[], { id, role, path }: Group, items: readonly ItemSketch[]): NodeId {
  const children = items.map((item) => addItem(nodes, item, path));
  nodes.push({ kind: "group", role, id, identifier: role, name: role, path, children });
  return id;
}

function addItem(nodes: PlanNode[], item: ItemSketch, path: readonly string[]): NodeId {
  if ("parallel" in item) {
    const { parallel: id } = item;
    const children = item.steps.map((one) => addItem(nodes, one, path));
    nodes.push({ kind: "parallel", id, identifier: id, name: id, path, children });
    return id;
  }
  if (!("group" in item)) return addLooped(nodes, stepNode(item, [...path, item.id]), item);
  const { group: id, rollback, timeoutMs } = item;
  const own = [...path, id];
  const children = item.steps.map((one) => addItem(nodes, one, [...own, "steps"]));
  const undo =
    rollback &&
    addGroup(nodes, { id: `${id}.rollback`, role: "rollbackSteps", path: [...own, "rollbackSteps"] }, rollback);
  const node: PlanNode = {
    ...{ kind: "group", role: "stepGroup", id, identifier: id, name: id, path: own, children },
    ...(undo && { rollback: undo }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...configured(item),
  };
  return addLooped(nodes, node, item);
}

function stepNode(
  { id, type = "ShellScript", env = [], timeoutMs = 600_000, alias, ...rest }: StepSketch,
  path: readonly string[],
): PlanNode {
  const script = {
    kind: "shell",
    script: `echo ${id}`,
    env: env.map(([name, value]) => ({ name, value })),
    outputs: [],
  };
  const work = type === "Barrier" ? { kind: "barrier", reference: "b" } : script;
  return {
    ...{ kind: "step", type, id, identifier: id, name: `Step ${id}`, path, timeoutMs, selectors: [], work },
    ...(alias && { outputAlias: alias }),
    ...configured(rest),
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
export const ended = (at: number, node: InstanceId, outcome: TaskOutcome, attempt = 1): Event => ({
  kind: "taskEnded",
  at,
  node,
  attempt,
  outcome,
});
export const fired = (
  at: number,
  node: InstanceId,
  purpose: Extract<Event, { kind: "timerFired" }>["purpose"] = "timeout",
): Event => ({ kind: "timerFired", at, node, purpose });
export const abort = (at: number): Event => ({ kind: "interrupted", at, interrupt: "AbortAll" });
export const interrupted = (
  at: number,
  interrupt: Extract<Event, { kind: "interrupted" }>["interrupt"],
  node?: InstanceId,
): Event => ({ kind: "interrupted", at, interrupt, ...(node !== undefined && { node }) });

export const engine = createEngine(testStepTypes);

/** An instance, with the facts of its last attempt beside it. */
export type SeenNode = NodeState & {
  readonly attempt: number;
  readonly outputs: NodeState["attempts"][number]["outputs"];
  readonly exitCode: number | null;
  readonly survivors: number | "unknown" | null;
};

/** A state with its nodes by id; definitions that were passed over are shown as skipped. */
export type Seen = Omit<State, "nodes"> & { readonly nodes: { readonly [id: string]: SeenNode } };
export type Played = { readonly state: Seen; readonly effects: readonly Effect[]; readonly isChanged: boolean };

export type Execution = { readonly state: State; readonly nodes: ReadonlyMap<InstanceId, NodeState> };

export const initial = (plan: Plan): Execution => ({ state: engine.initialState(plan), nodes: new Map() });

/** The execution after an event. The one before it is not changed. */
export function give(plan: Plan, before: Execution, event: Event): Execution & Pick<Played, "effects" | "isChanged"> {
  const { state, changed, effects } = engine.step(plan, before, event);
  return { state, nodes: new Map([...before.nodes, ...changed]), effects, isChanged: state !== before.state };
}

/** Every transition of a history, in order; the state before the first event is not among them. */
export function play(plan: Plan, events: readonly Event[], from: Execution = initial(plan)): readonly Played[] {
  let execution = from;
  return events.map((event) => {
    const { effects, isChanged, ...after } = give(plan, execution, event);
    execution = after;
    return { state: seen(plan, execution), effects, isChanged };
  });
}

export function seen(plan: Plan, { state, nodes }: Execution): Seen {
  const reached = [...nodes.values()].map((node) => [node.id, seenNode(node)] as const);
  const skipped = parentsIn(plan).flatMap(([id, parents]) => {
    const around = parents.map((parent) => nodes.get(parent)).find((node) => node !== undefined);
    if (nodes.has(id) || !around || !isFinal(around.status)) return [];
    return [[id, { ...seenNode(around), status: "skipped", failure: null, startedAt: null }] as const];
  });
  return { ...state, nodes: Object.fromEntries([...skipped, ...reached]) };
}

function seenNode(node: NodeState): SeenNode {
  const last = node.attempts.at(-1);
  const { outputs = [], exitCode = null, survivors = null } = last ?? {};
  return { ...node, attempt: node.attempts.length, outputs, exitCode, survivors };
}

/** The state after a history, and the effects of all its events. */
export function outcomeOf(plan: Plan, events: readonly Event[]): Played {
  const played = play(plan, events);
  const state = played.at(-1)?.state ?? seen(plan, initial(plan));
  return { state, effects: played.flatMap(({ effects }) => effects), isChanged: played.some((one) => one.isChanged) };
}

/** `enqueueTask build`, `startTimer build`: effects as short words; timers that are no timeouts say their purpose. */
export const words = (effects: readonly Effect[]): readonly string[] =>
  effects.map((effect) => {
    const purpose = "purpose" in effect && effect.purpose !== "timeout" ? ` ${effect.purpose}` : "";
    return `${effect.kind} ${"node" in effect ? effect.node : effect.status}${purpose}`;
  });

/** Freezes a value and all that hangs on it; writing to it then throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value) && !(value instanceof Map)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  if (value instanceof Map) for (const inner of value.values()) deepFreeze(inner);
  return value;
}
