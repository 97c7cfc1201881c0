import { FORMAT, type InstanceId, type NodeState, type Plan, type State, type Status } from "../engine/index.ts";
import type { Uuid } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import { stageIdsOf, stagesOf, stageStatesOf, type Stage, type StageStates } from "./stage.ts";
import { readStored, type StoredExecution } from "./stored.ts";

export const TRIGGER_TYPES = ["MANUAL", "WEBHOOK_CUSTOM"] as const;
export type TriggerType = (typeof TRIGGER_TYPES)[number];

/** Who or what started a run. `identifier` names the trigger, or the person by e-mail. */
export type TriggeredBy = {
  readonly uuid: string;
  readonly identifier: string;
  readonly name: string;
  readonly email: string | null;
  /** `account/org/project/trigger`, when a trigger started it. */
  readonly triggerRef: string | null;
};

/** One run of one version of a pipeline, as lists show it. */
export type Execution = {
  readonly id: Uuid;
  readonly status: Status;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly applicationId: Uuid;
  readonly applicationName: string;
  readonly pipelineId: Uuid;
  readonly pipelineName: string;
};

/** What only some lists show: why it ran, and what is noted beside it. */
export type ExecutionMore = {
  readonly notes: string | null;
  /** The message of what went wrong. */
  readonly failure: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
  /** The person or the trigger, by `triggerType`; null when the system started it. */
  readonly startedBy: Uuid | null;
};

/** A run in the lightest list, which goes on from a cursor of `begunAt` and `id`. */
export type ExecutionOutline = Pick<Execution, "id" | "status" | "startedAt" | "endedAt" | "pipelineName"> & {
  /** The start, and until then the creation: the order of lists. */
  readonly begunAt: number;
  readonly pipelineIdentifier: string;
  readonly runSequence: number;
};

/** Where a list goes on: after this execution. */
export type Cursor = Pick<ExecutionOutline, "begunAt" | "id">;

/** Which run a rerun repeats, and which was the first of that row. */
export type RerunInfo = {
  readonly prevExecutionId: string;
  readonly prevTriggerType: TriggerType;
  readonly rootExecutionId: string;
  readonly rootTriggerType: TriggerType;
};

/** How a run stands in a row of retries. */
export type RetryLinks = {
  /** The first of the row; null if the run is no retry. */
  readonly retryRootId: Uuid | null;
  /** The one that it retries. */
  readonly retryParentId: Uuid | null;
  /** The one that has retried it. */
  readonly retriedById: Uuid | null;
};

/** Which stages a run takes. */
export type StageFacts = {
  /** In the order of the pipeline; null for all of them. */
  readonly selectedStages: readonly string[] | null;
  /** Whether the pipeline allows to choose. */
  readonly allowStageExecutions: boolean;
};

/** A run without what is large of it. */
export type ListedExecution = Execution &
  ExecutionMore &
  RetryLinks &
  StageFacts & {
    readonly orgIdentifier: string;
    readonly projectIdentifier: string;
    readonly pipelineIdentifier: string;
    readonly pipelineVersion: number;
    readonly runSequence: number;
    readonly rerunInfo: RerunInfo | null;
  };

export type WithStages = { readonly stages: readonly Stage[]; readonly stageStates: StageStates };

/** A run with its stages, as lists of the REST family show it. */
export type ExecutionSummary = ListedExecution & WithStages & { readonly canRetry: boolean };

/**
 * A page that stands after `beyond`. `total` counts up to `countAtMost`, and at least those of the page; what stands before
 * the page counts, too. The next page goes on at `last`.
 */
export type ExecutionPage = Page<ExecutionSummary> & {
  readonly beyond: Cursor | undefined;
  readonly countAtMost: number;
  readonly last: Cursor | undefined;
};

/** Everything about a run. The plan is large: it holds what started the run. */
export type ExecutionDetail = ListedExecution & {
  readonly plan: Plan;
  readonly state: State;
  /** The nodes that were reached. */
  readonly nodes: ReadonlyMap<InstanceId, NodeState>;
};

export const NO_PLAN: Plan = { format: FORMAT, root: "", nodes: {}, context: {} };

/**
 * A run as it was read, with nothing in place of a plan or a state that is damaged or of a later format: one such
 * execution must not hide the others of its list, nor what else is known of it. The columns stand in for the state.
 */
export function detailOf(row: ListedExecution & StoredExecution): ExecutionDetail {
  const { format: _format, header: _header, ...listed } = row;
  const { plan, state, nodes } = readStored(row);
  return { ...listed, plan: plan ?? NO_PLAN, state: state ?? stateOfColumns(row), nodes };
}

type Columns = Pick<StoredExecution, "status" | "startedAt" | "endedAt"> & { readonly failure?: string | null };

/** What the columns of a row say of a state that cannot be read. */
export const stateOfColumns = ({ status, startedAt, endedAt, failure }: Columns): State => ({
  ...{ format: FORMAT, status, startedAt, endedAt },
  failure: failure ? { message: failure, types: [] } : null,
  aborting: false,
  paused: false,
  latestAt: endedAt ?? startedAt ?? 0,
  nodes: 0,
  outputBytes: 0,
  barriers: {},
});

/** The summary of a run that was read whole. */
export function summaryOf(detail: ExecutionDetail, canRetry: boolean): ExecutionSummary {
  const { plan, state, nodes } = detail;
  return { ...detail, stages: stagesOf(plan), stageStates: stageStatesOf(state, nodes, stageIdsOf(plan)), canRetry };
}
