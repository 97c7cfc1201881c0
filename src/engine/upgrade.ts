/**
 * Reads executions as earlier versions stored them. Format 1 had one kind of stage, one kind of step and one attempt; its
 * state held all nodes.
 */
import { nodeOf, indexOf } from "./plan-index.ts";
import type {
  Attempt,
  Failure,
  FailureStrategy,
  InstanceId,
  NodeState,
  Output,
  Plan,
  PlanNode,
  Progress,
  State,
  Status,
} from "./model.ts";
import { FORMAT } from "./model.ts";
import { BEGUN } from "./run.ts";
import { isFinal, isStatus, letsPass } from "./status.ts";

export type Stored = { readonly plan: unknown; readonly state: unknown };
export type Upgraded = {
  readonly plan: Plan;
  readonly state: State;
  readonly nodes: ReadonlyMap<InstanceId, NodeState>;
};

/** The format of a stored plan or state; 1 for those that name none. */
export const formatOf = (stored: unknown): number => {
  const format = isRecord(stored) ? stored["format"] : undefined;
  return typeof format === "number" ? format : 1;
};

type NodeOf1 = {
  readonly status: Status;
  readonly attempt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly outputs: readonly Output[];
  readonly exitCode: number | null;
  readonly failure: Failure | null;
  readonly stopping: "aborted" | "expired" | null;
  readonly survivors: number | "unknown" | null;
};

type StateOf1 = Pick<State, "status" | "startedAt" | "endedAt" | "failure" | "aborting"> & {
  readonly nodes: { readonly [id: string]: NodeOf1 };
};

/** A plan of any format that this version reads. Throws for one that is damaged. */
export function upgradePlan(stored: unknown): Plan {
  if (!isRecord(stored) || typeof stored["root"] !== "string" || !isRecord(stored["nodes"]))
    throw new Error("the stored plan cannot be read");
  if (formatOf(stored) > FORMAT) throw new Error(`the plan has the format ${formatOf(stored)} of a later version`);
  const plan = (formatOf(stored) === FORMAT ? stored : planOf1(stored)) as Plan;
  indexOf(plan);
  return plan;
}

/** A whole execution of format 1. Throws for one that is damaged. */
export function upgrade(stored: Stored): Upgraded {
  const plan = upgradePlan(stored.plan);
  if (!isStateOf1(stored.state)) throw new Error("the stored state cannot be read");
  const { nodes: before, ...header } = stored.state;
  const nodes = new Map<InstanceId, NodeState>();
  addNodes({ plan, before, nodes, aborting: header.aborting }, plan.root, null);
  const all = [...nodes.values()];
  const times = all.flatMap(({ startedAt, endedAt }) => [startedAt ?? 0, endedAt ?? 0]);
  const outputs = all.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.outputs));
  const state: State = {
    ...{ format: FORMAT, status: header.status, startedAt: header.startedAt, endedAt: header.endedAt },
    ...{ failure: header.failure, aborting: header.aborting, paused: false },
    latestAt: times.reduce((latest, time) => Math.max(latest, time), header.startedAt ?? 0),
    nodes: nodes.size,
    barriers: {},
    outputBytes: outputs.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0),
  };
  return { plan, state, nodes };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isStateOf1 = (value: unknown): value is StateOf1 =>
  isRecord(value) &&
  isStatus(value["status"]) &&
  isRecord(value["nodes"]) &&
  Object.values(value["nodes"]).every(
    (node) =>
      isRecord(node) && isStatus(node["status"]) && Number.isInteger(node["attempt"]) && Array.isArray(node["outputs"]),
  );

/** Format 1 named the kind of a strategy by its action, and the two groups of a stage by their identifiers. */
function planOf1(stored: Readonly<Record<string, unknown>>): unknown {
  const nodes = stored["nodes"] as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  return {
    ...stored,
    format: FORMAT,
    nodes: Object.fromEntries(Object.entries(nodes).map(([id, node]) => [id, nodeOf1(node)])),
  };
}

function nodeOf1(node: Readonly<Record<string, unknown>>): unknown {
  if (node["kind"] === "group")
    return { ...node, role: node["identifier"] === "rollbackSteps" ? "rollbackSteps" : "steps" };
  if (node["kind"] !== "stage" || !Array.isArray(node["failureStrategies"])) return node;
  const strategies = node["failureStrategies"] as readonly { readonly errors: FailureStrategy["errors"] }[];
  return {
    ...node,
    failureStrategies: strategies.map(({ errors }) => ({ errors, action: { type: "StageRollback" } })),
  };
}

type Building = {
  readonly plan: Plan;
  readonly before: StateOf1["nodes"];
  readonly nodes: Map<InstanceId, NodeState>;
  readonly aborting: boolean;
};

/** Adds a node and what is known below it: also what format 1 marked as skipped without reaching it. */
function addNodes(building: Building, id: string, parent: NodeState | null): void {
  const { plan, before, nodes } = building;
  const old = Object.hasOwn(before, id) ? before[id] : undefined;
  if (!old) return;
  const definition = nodeOf(plan, id);
  const path = parent ? `${parent.path}/${definition.identifier}` : definition.identifier;
  const reached = old.startedAt !== null;
  const node: NodeState = {
    ...{ id, definition: id, parent: parent?.id ?? null, path, status: old.status, reason: null },
    ...{ startedAt: old.startedAt, endedAt: old.endedAt, failure: old.failure },
    attempts: reached ? [attemptOf1(definition, old)] : [],
    tasks: reached && definition.kind === "step" ? old.attempt : 0,
    // Format 1 marked only the steps: nothing new starts in what stands around them either.
    stopping: building.aborting && definition.kind !== "step" && !isFinal(old.status) ? "aborted" : old.stopping,
    iteration: null,
    progress: reached && definition.kind !== "step" ? progressOf1(definition, before) : null,
    isReused: false,
    holdsLocks: false,
    recovery: null,
  };
  nodes.set(id, node);
  for (const child of childIds(definition)) addNodes(building, child, node);
}

function attemptOf1(definition: PlanNode, old: NodeOf1): Attempt {
  const isOpen = !isFinal(old.status);
  return {
    startedAt: old.startedAt ?? 0,
    endedAt: old.endedAt,
    status: isOpen ? null : old.status,
    failure: isOpen ? null : old.failure,
    ...{ exitCode: old.exitCode, outputs: old.outputs, survivors: old.survivors, delegate: null },
    task: definition.kind === "step" ? old.attempt : null,
    waitsFor:
      isOpen && definition.kind === "step" ? ["task", ...(old.stopping === null ? (["timeout"] as const) : [])] : [],
    ...{ progress: null, output: null },
  };
}

const childIds = (node: PlanNode): readonly string[] => {
  if (node.kind === "pipeline" || node.kind === "group") return node.children;
  return node.kind === "stage" ? [node.steps, ...(node.rollback === undefined ? [] : [node.rollback])] : [];
};

/** How far a node had come, by what had become of its children. */
function progressOf1(node: PlanNode, before: StateOf1["nodes"]): Progress {
  const rollback = node.kind === "stage" && node.rollback !== undefined ? before[node.rollback] : undefined;
  const isRollback = rollback !== undefined && rollback.startedAt !== null;
  const children = (
    isRollback && node.kind === "stage"
      ? [node.rollback ?? ""]
      : childIds(node).filter((id) => node.kind !== "stage" || id === node.steps)
  ).map((id) => before[id]);
  const reached = children.filter((child) => child !== undefined && child.startedAt !== null);
  const failed = reached.find((child) => child && isFinal(child.status) && !letsPass(child.status));
  return {
    ...BEGUN,
    phase: isRollback ? "rollback" : "main",
    next: reached.length,
    open: reached.filter((child) => child && !isFinal(child.status)).length,
    failed: failed ? { status: failed.status, failure: failed.failure, recovery: null } : null,
  };
}
