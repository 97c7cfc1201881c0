/** The nodes of one execution in the shapes of the REST family. */
import {
  asksOf,
  instanceIdentifier,
  nameOf,
  type Attempt,
  type InstanceId,
  type NodeState,
  type PlanNode,
} from "../../engine/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { ExecutionDetail } from "../execution.ts";
import { fullPathOf } from "../pipelines-around.ts";
import { shownNodes, type ShownNode } from "../shown-nodes.ts";
import { typeOf } from "../stage.ts";
import { failureOf, NO_FAILURE } from "./failure.ts";
import { nodeStatus } from "./status.ts";

export type TaskDelegate = { readonly id: Uuid; readonly name: string; readonly taskId: Uuid };

/** What is known of nodes besides the engine's state. */
export type NodeExtras = {
  /** Why nodes wait for a delegate. */
  readonly waitingFor: ReadonlyMap<string, string>;
  /** Why nodes wait for a lock or for the mail server. */
  readonly serviceReasons: ReadonlyMap<string, string>;
  /** Why the execution has not begun. */
  readonly queueReason?: string;
  /** By `taskKey`. */
  readonly delegates: ReadonlyMap<string, TaskDelegate>;
};

/** Tasks of a node count from 1. */
export const taskKey = (node: InstanceId, task: number): string => `${node} ${task}`;

const id = (uuid: string): string => toWire(uuid as Uuid);

/** The whole tree, every node with its times, outputs, failure, delegate, and why it waits. */
export function executionGraph(e: ExecutionDetail, extras: NodeExtras) {
  const nodes = [...shownNodes(e).values()];
  return {
    rootNodeId: id(e.plan.root),
    nodeMap: Object.fromEntries(nodes.map((node) => [id(node.id), executionNode(e, node, extras)])),
    nodeAdjacencyListMap: Object.fromEntries(nodes.map((node) => [id(node.id), adjacency(node)])),
    representationStrategy: "camelCase",
  };
}

export const adjacency = ({ children, next }: ShownNode) => ({
  children: children.map(id),
  nextIds: next === undefined ? [] : [id(next)],
});

export function executionNode(e: ExecutionDetail, node: ShownNode, extras: NodeExtras) {
  const { state, definition } = node;
  const waitingFor = extras.waitingFor.get(node.id);
  const queueReason = node.id === e.plan.root ? extras.queueReason : undefined;
  const last = state.attempts.at(-1);
  return {
    uuid: id(node.id),
    setupId: id(definition.id),
    name: nameOf(definition, state),
    identifier: instanceIdentifier(definition, state),
    baseFqn: fullPathOf(e.plan, definition).join("."),
    outcomes: outcomesOf(last),
    stepParameters: null,
    startTs: state.startedAt,
    endTs: state.endedAt,
    stepType: stepTypeOf(definition),
    status:
      node.isReached || state.status !== "queued" || queueReason !== undefined
        ? nodeStatus(state, waitingFor !== undefined)
        : "NotStarted",
    waitReason: queueReason ?? waitingFor ?? extras.serviceReasons.get(node.id) ?? state.reason?.message ?? null,
    failureInfo: failureOf(state) ?? NO_FAILURE,
    skipInfo: null,
    nodeRunInfo: null,
    executableResponses: [],
    unitProgresses: [],
    progressData: null,
    delegateInfoList: delegatesOf(node, last, extras),
    interruptHistories: [],
    stepDetails: cancelOf(last),
    strategyMetadata: strategyOf(state),
    retryNodeMetadata: state.origin
      ? { originalExecutionId: id(state.origin.execution), originalNodeExecutionId: id(state.origin.node) }
      : null,
    earlierAttempts: state.attempts.slice(0, -1).map((attempt, nth) => earlierAttempt(node, attempt, nth + 1, extras)),
    executionInputConfigured: asksOf(definition) !== undefined,
    logBaseKey: `${id(e.id)}/${id(node.id)}`,
  };
}

/** The words of the REST family for stages; other nodes have that of their kind. */
const STAGE_STEP_TYPES: ReadonlyMap<string, string> = new Map([
  ["Custom", "CUSTOM_STAGE"],
  ["Approval", "APPROVAL_STAGE"],
  ["Pipeline", "PIPELINE_STAGE"],
]);

const stepTypeOf = (definition: PlanNode): string =>
  (definition.kind === "stage" ? STAGE_STEP_TYPES.get(definition.type) : undefined) ?? typeOf(definition);

/** An attempt that was followed by another one. Its log: `nodeExecutionId` with `attempt`. */
function earlierAttempt(node: ShownNode, attempt: Attempt, number: number, extras: NodeExtras) {
  const { status, startedAt, endedAt, exitCode } = attempt;
  return {
    attempt: number,
    status: status === null ? "Running" : nodeStatus({ status, reason: null }, false),
    startTs: startedAt,
    endTs: endedAt,
    failureInfo: failureOf(attempt),
    exitCode,
    outcomes: outcomesOf(attempt),
    delegateInfoList: delegatesOf(node, attempt, extras),
    stepDetails: cancelOf(attempt),
    children: (node.earlier.get(number) ?? []).map(id),
  };
}

const cancelOf = (attempt: Attempt | undefined) =>
  attempt?.survivors == null ? {} : { cancel: { survivors: attempt.survivors } };

function outcomesOf(attempt: Attempt | undefined) {
  if (!attempt || (attempt.outputs.length === 0 && attempt.output === null)) return {};
  const outputVariables = Object.fromEntries(attempt.outputs.map((output) => [output.name, output.value]));
  return { output: { ...attempt.output, outputVariables } };
}

function delegatesOf({ id: node, definition, state }: ShownNode, attempt: Attempt | undefined, extras: NodeExtras) {
  const task = attempt?.task;
  const delegate = task == null ? undefined : extras.delegates.get(taskKey(node, task));
  if (!delegate) return [];
  const taskName = nameOf(definition, state);
  return [{ id: id(delegate.id), name: delegate.name, taskId: id(delegate.taskId), taskName }];
}

function strategyOf({ iteration }: NodeState) {
  if (!iteration) return null;
  const { index, total, postfix, matrix, item, partition } = iteration;
  return {
    iteration: index,
    total,
    identifierPostfix: postfix,
    matrix: matrix ?? null,
    item: item ?? partition ?? null,
  };
}
