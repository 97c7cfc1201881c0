/** Executions in the shapes of the REST family. */
import type { NodeState, Plan, PlanNode, State } from "../../engine/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type {
  ExecutionDetail,
  ExecutionOutline,
  ExecutionSummary,
  RerunInfo,
  TriggeredBy,
  TriggerType,
} from "../execution.ts";
import type { Stage, StageState } from "../stage.ts";
import { planStatus, restStatus } from "./status.ts";

/** What is known of a node besides the engine's state. */
export type NodeExtras = {
  readonly waitingFor: ReadonlyMap<string, string>;
  readonly delegates: ReadonlyMap<string, { readonly id: Uuid; readonly name: string; readonly taskId: Uuid }>;
};

const MODULE = "cd";
const id = (uuid: string): string => toWire(uuid as Uuid);

const triggerInfo = (triggerType: TriggerType, by: TriggeredBy, rerunInfo: RerunInfo | null) => ({
  triggerType,
  triggeredBy: { uuid: by.uuid, identifier: by.identifier, extraInfo: { email: by.email, triggerRef: by.triggerRef } },
  isRerun: rerunInfo !== null,
  rerunInfo,
});

export type PlanExecutionFacts = {
  readonly accountId: Uuid;
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  readonly pipelineIdentifier: string;
  readonly id: Uuid;
  readonly runSequence: number;
  readonly version: number;
  readonly createdAt: number;
  readonly state: State;
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
  readonly rerunInfo: RerunInfo | null;
};

/** The answer to execute. `planId` is the execution's own id: a plan is made for one run. */
export const planExecution = (e: PlanExecutionFacts) => ({
  planExecution: {
    uuid: id(e.id),
    createdAt: e.createdAt,
    planId: id(e.id),
    setupAbstractions: {
      accountId: id(e.accountId),
      orgIdentifier: e.orgIdentifier,
      projectIdentifier: e.projectIdentifier,
    },
    validUntil: null,
    status: planStatus(e.state.status),
    startTs: e.state.startedAt,
    endTs: e.state.endedAt,
    metadata: {
      runSequence: e.runSequence,
      triggerInfo: triggerInfo(e.triggerType, e.triggeredBy, e.rerunInfo),
      pipelineIdentifier: e.pipelineIdentifier,
      executionUuid: id(e.id),
      moduleType: MODULE,
      retryInfo: null,
    },
    governanceMetadata: null,
    lastUpdatedAt: e.createdAt,
    version: e.version,
    nodeType: "PLAN",
    nodeId: id(e.id),
  },
  gitDetails: null,
});

const NOTHING = { waitingFor: new Map(), delegates: new Map() } as const;

export function executionSummary(e: ExecutionSummary, extras: NodeExtras = NOTHING) {
  const { stages, stageStates } = e;
  const statuses = stages.map((stage) => stageStates.nodes[stage.id]?.status);
  const count = (...wanted: readonly string[]): number =>
    statuses.filter((status) => status !== undefined && wanted.includes(status)).length;
  return {
    pipelineIdentifier: e.pipelineIdentifier,
    planExecutionId: id(e.id),
    name: e.pipelineName,
    status: restStatus(e.status),
    tags: Object.entries(e.tags).map(([key, value]) => ({ key, value })),
    executionTriggerInfo: triggerInfo(e.triggerType, e.triggeredBy, e.rerunInfo),
    executionErrorInfo: stageStates.failure
      ? { message: stageStates.failure.message, logTail: stageStates.failure.log ?? null }
      : null,
    governanceMetadata: null,
    moduleInfo: {},
    layoutNodeMap: Object.fromEntries(
      stages.map((stage, index) => [id(stage.id), layoutNode(e, stage, stages[index + 1], extras)]),
    ),
    modules: [MODULE],
    startingNodeId: stages[0] ? id(stages[0].id) : null,
    startTs: e.startedAt,
    endTs: e.endedAt,
    createdAt: e.createdAt,
    canRetry: false,
    showRetryHistory: false,
    runSequence: e.runSequence,
    successfulStagesCount: count("succeeded", "ignored"),
    runningStagesCount: count("running", "waiting", "queued", "paused"),
    failedStagesCount: count("failed", "errored", "aborted", "expired", "rejected"),
    totalStagesCount: stages.length,
    gitDetails: null,
    isStagesExecution: false,
    stagesExecuted: [],
    stagesExecutedNames: null,
    allowStageExecutions: false,
    executionInputConfigured: false,
  };
}

function layoutNode(e: ExecutionSummary, stage: Stage, next: Stage | undefined, extras: NodeExtras) {
  const state = e.stageStates.nodes[stage.id];
  return {
    nodeType: stage.type,
    nodeGroup: "STAGE",
    nodeIdentifier: stage.identifier,
    name: stage.name,
    nodeUuid: id(stage.id),
    status: nodeStatus(state, extras.waitingFor.has(stage.id)),
    module: MODULE,
    moduleInfo: {},
    startTs: state?.startedAt ?? null,
    endTs: state?.endedAt ?? null,
    edgeLayoutList: { currentNodeChildren: [], nextIds: next ? [id(next.id)] : [] },
    skipInfo: null,
    nodeRunInfo: null,
    barrierFound: false,
    failureInfo: state?.failure ? { message: state.failure.message } : null,
    failureInfoDTO: failureOf(state),
    nodeExecutionId: id(stage.id),
    executionInputConfigured: false,
    strategyMetadata: null,
  };
}

const failureOf = (state: Pick<NodeState, "failure"> | undefined) =>
  state?.failure
    ? {
        message: state.failure.message,
        failureTypeList: state.failure.types,
        responseMessages: [],
        logTail: state.failure.log ?? null,
      }
    : null;

const nodeStatus = (state: StageState | undefined, waiting: boolean): string =>
  state === undefined ? "NotStarted" : waiting ? "TaskWaiting" : restStatus(state.status);

/** The whole tree, every node with its times, outputs, failure, delegate, and why it waits. */
export function executionGraph(e: ExecutionDetail, extras: NodeExtras) {
  const nodes = Object.values(e.plan.nodes);
  return {
    rootNodeId: id(e.plan.root),
    nodeMap: Object.fromEntries(nodes.map((node) => [id(node.id), executionNode(e, node, extras)])),
    nodeAdjacencyListMap: Object.fromEntries(nodes.map((node) => [id(node.id), adjacency(e.plan, node)])),
    representationStrategy: "camelCase",
  };
}

export function executionNode(e: ExecutionDetail, node: PlanNode, extras: NodeExtras) {
  const state = e.state.nodes[node.id];
  const waitingFor = extras.waitingFor.get(node.id);
  const delegate = extras.delegates.get(node.id);
  return {
    uuid: id(node.id),
    setupId: id(node.id),
    name: node.name,
    identifier: node.identifier,
    baseFqn: node.path.join("."),
    outcomes: outcomesOf(state),
    stepParameters: null,
    startTs: state?.startedAt ?? null,
    endTs: state?.endedAt ?? null,
    stepType: stepType(node),
    status: nodeStatus(state, waitingFor !== undefined),
    waitReason: waitingFor ?? null,
    failureInfo: failureOf(state),
    skipInfo: null,
    nodeRunInfo: null,
    executableResponses: [],
    unitProgresses: [],
    progressData: null,
    delegateInfoList: delegate
      ? [{ id: id(delegate.id), name: delegate.name, taskId: id(delegate.taskId), taskName: node.name }]
      : [],
    interruptHistories: [],
    stepDetails: state?.survivors == null ? {} : { cancel: { survivors: state.survivors } },
    logBaseKey: `${id(e.id)}/${id(node.id)}`,
  };
}

function outcomesOf(state: NodeState | undefined) {
  if (!state || state.outputs.length === 0) return {};
  return {
    output: { outputVariables: Object.fromEntries(state.outputs.map((output) => [output.name, output.value])) },
  };
}

function stepType(node: PlanNode): string {
  switch (node.kind) {
    case "pipeline":
      return "PIPELINE_SECTION";
    case "group":
      return "NG_SECTION";
    case "stage":
    case "step":
      return node.type;
  }
}

function adjacency(plan: Plan, node: PlanNode) {
  const parent = Object.values(plan.nodes).find(
    (one) => (one.kind === "pipeline" || one.kind === "group") && one.children.includes(node.id),
  );
  const siblings = parent && "children" in parent ? parent.children : [];
  const next = siblings[siblings.indexOf(node.id) + 1];
  return { children: childrenOf(node).map(id), nextIds: next === undefined ? [] : [id(next)] };
}

function childrenOf(node: PlanNode): readonly string[] {
  switch (node.kind) {
    case "pipeline":
    case "group":
      return node.children;
    case "stage":
      return [node.steps, node.rollback];
    case "step":
      return [];
  }
}

/** The lightest page of executions; its end names the cursor of the next one, null when there is none. */
export function outlinePage(executions: readonly ExecutionOutline[], size: number) {
  const last = executions.length === size ? executions.at(-1) : undefined;
  return {
    content: executions.map((e) => ({
      planExecutionId: id(e.id),
      pipelineIdentifier: e.pipelineIdentifier,
      name: e.pipelineName,
      runSequence: e.runSequence,
      status: restStatus(e.status),
      startTs: e.startedAt,
      endTs: e.endedAt,
    })),
    size,
    lastSeenExecutionId: last ? id(last.id) : null,
    lastSeenStartTime: last?.begunAt ?? null,
  };
}
