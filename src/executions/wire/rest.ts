/** Executions in the shapes of the REST family. */
import type { State } from "../../engine/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { ExecutionOutline, ExecutionSummary, RerunInfo, TriggeredBy, TriggerType } from "../execution.ts";
import type { Stage } from "../stage.ts";
import type { RetryOf } from "../started.ts";
import { failureOf } from "./failure.ts";
import type { NodeExtras } from "./graph.ts";
import { nodeStatus, planStatus, restStatus } from "./status.ts";

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
  readonly state: Pick<State, "status" | "startedAt" | "endedAt">;
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
  readonly rerunInfo: RerunInfo | null;
  readonly retryOf?: RetryOf | undefined;
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
      retryInfo: e.retryOf
        ? { isRetry: true, rootExecutionId: id(e.retryOf.rootId), parentRetryId: id(e.retryOf.parentId) }
        : null,
    },
    governanceMetadata: null,
    lastUpdatedAt: e.createdAt,
    version: e.version,
    nodeType: "PLAN",
    nodeId: id(e.id),
  },
  gitDetails: null,
});

const NOTHING = { waitingFor: new Map(), serviceReasons: new Map(), delegates: new Map() } as const;

export function executionSummary(e: ExecutionSummary, extras: NodeExtras = NOTHING) {
  const { stages, stageStates } = e;
  const layout = layoutOf(e, extras);
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
    layoutNodeMap: Object.fromEntries(layout.map((node) => [node.nodeUuid, node])),
    modules: [MODULE],
    startingNodeId: layout[0]?.nodeUuid ?? null,
    startTs: e.startedAt,
    endTs: e.endedAt,
    createdAt: e.createdAt,
    canRetry: e.canRetry,
    showRetryHistory: e.retryRootId !== null || e.retriedById !== null,
    runSequence: e.runSequence,
    successfulStagesCount: count("succeeded", "ignored"),
    runningStagesCount: count("running", "waiting", "queued", "paused"),
    failedStagesCount: count("failed", "errored", "aborted", "expired", "rejected"),
    totalStagesCount: stages.length,
    gitDetails: null,
    isStagesExecution: e.selectedStages !== null,
    stagesExecuted: e.selectedStages ?? [],
    stagesExecutedNames:
      e.selectedStages && Object.fromEntries(stages.map(({ identifier, name }) => [identifier, name])),
    allowStageExecutions: e.allowStageExecutions,
    executionInputConfigured: stages.some(({ asks }) => asks === true),
  };
}

/** The stages in their order. Those that run at the same time follow the node that holds them. */
function layoutOf(e: ExecutionSummary, extras: NodeExtras) {
  const columns = columnsOf(e.stages);
  return columns.flatMap(({ parallel, stages }, nth) => {
    const following = columns[nth + 1];
    const next = following && (following.parallel ?? following.stages[0]?.id);
    const nextIds = next === undefined ? [] : [id(next)];
    const nodes = stages.map((stage) => layoutNode(e, stage, parallel ? [] : nextIds, extras));
    return parallel ? [forkNode(parallel, nodes, nextIds), ...nodes] : nodes;
  });
}

type Column = { readonly parallel: Uuid | undefined; readonly stages: Stage[] };

function columnsOf(stages: readonly Stage[]): readonly Column[] {
  const columns: Column[] = [];
  for (const stage of stages) {
    const last = columns.at(-1);
    if (stage.parallel && last?.parallel === stage.parallel) last.stages.push(stage);
    else columns.push({ parallel: stage.parallel, stages: [stage] });
  }
  return columns;
}

const NO_STAGE = {
  module: MODULE,
  moduleInfo: {},
  skipInfo: null,
  nodeRunInfo: null,
  barrierFound: false,
  strategyMetadata: null,
} as const;

type LayoutNode = ReturnType<typeof layoutNode>;

function layoutNode(e: ExecutionSummary, stage: Stage, nextIds: readonly string[], extras: NodeExtras) {
  const state = e.stageStates.nodes[stage.id];
  return {
    ...NO_STAGE,
    nodeType: stage.type,
    nodeGroup: "STAGE",
    nodeIdentifier: stage.identifier,
    name: stage.name,
    nodeUuid: id(stage.id),
    status: state ? nodeStatus(state, extras.waitingFor.has(stage.id)) : "NotStarted",
    startTs: state?.startedAt ?? null,
    endTs: state?.endedAt ?? null,
    edgeLayoutList: { currentNodeChildren: [] as readonly string[], nextIds },
    failureInfo: state?.failure ? { message: state.failure.message } : null,
    failureInfoDTO: failureOf(state),
    nodeExecutionId: id(stage.id),
    executionInputConfigured: stage.asks === true,
  };
}

/** The first of these that a member has is the status of all. */
const FORK_STATUSES = [
  ...([
    "Running",
    "TaskWaiting",
    "ApprovalWaiting",
    "InputWaiting",
    "InterventionWaiting",
    "ResourceWaiting",
    "TimedWaiting",
  ] as const),
  ...(["Paused", "Queued", "NotStarted", "Errored", "Failed", "ApprovalRejected", "Expired", "Aborted"] as const),
  ...(["IgnoreFailed", "Success", "Skipped"] as const),
];

function forkNode(parallel: Uuid, members: readonly LayoutNode[], nextIds: readonly string[]): LayoutNode {
  const statuses = new Set(members.map(({ status }) => status));
  const times = (key: "startTs" | "endTs"): number[] => members.flatMap((member) => member[key] ?? []);
  const hasEnded = members.every(({ endTs }) => endTs !== null);
  const begun = times("startTs");
  return {
    ...NO_STAGE,
    nodeType: "FORK",
    nodeGroup: "STAGE",
    nodeIdentifier: "parallel",
    name: "parallel",
    nodeUuid: id(parallel),
    status: FORK_STATUSES.find((status) => statuses.has(status)) ?? "NotStarted",
    startTs: begun.length === 0 ? null : Math.min(...begun),
    endTs: hasEnded ? Math.max(...times("endTs")) : null,
    edgeLayoutList: { currentNodeChildren: members.map(({ nodeUuid }) => nodeUuid), nextIds },
    failureInfo: null,
    failureInfoDTO: null,
    nodeExecutionId: id(parallel),
    executionInputConfigured: members.some((member) => member.executionInputConfigured),
  };
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
