import { isPlan, isState, type Plan, type State, type Status } from "../engine/index.ts";
import type { Uuid } from "../core/ids.ts";
import { stageIdsOf, stagesOf, stageStatesOf, type Stage, type StageStates } from "./stage.ts";

export type TriggerType = "MANUAL" | "WEBHOOK_CUSTOM";

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

/** Which run a rerun repeats, and which was the first of that row. */
export type RerunInfo = {
  readonly prevExecutionId: string;
  readonly prevTriggerType: TriggerType;
  readonly rootExecutionId: string;
  readonly rootTriggerType: TriggerType;
};

/** A run without what is large of it. */
export type ListedExecution = Execution &
  ExecutionMore & {
    readonly orgIdentifier: string;
    readonly projectIdentifier: string;
    readonly pipelineIdentifier: string;
    readonly pipelineVersion: number;
    readonly runSequence: number;
    readonly rerunInfo: RerunInfo | null;
  };

export type WithStages = { readonly stages: readonly Stage[]; readonly stageStates: StageStates };

/** A run with its stages, as lists of the REST family show it. */
export type ExecutionSummary = ListedExecution & WithStages;

/** Everything about a run. The plan is large: it holds what started the run. */
export type ExecutionDetail = ListedExecution & { readonly plan: Plan; readonly state: State };

/** The state of a run with the columns that can stand in for it. */
export type StateRow = Pick<ExecutionDetail, "state" | "status" | "startedAt" | "endedAt">;

const NO_PLAN: Plan = { root: "", nodes: {}, context: {} };

/**
 * The same, with nothing in place of a plan or a state that is damaged: one such execution must not hide the others of
 * its list, nor what else is known of it. The columns of the row stand in for the state.
 */
export function legible(detail: ExecutionDetail): ExecutionDetail {
  const { plan, state } = detail;
  if (isPlan(plan) && isState(state)) return detail;
  return { ...detail, plan: isPlan(plan) ? plan : NO_PLAN, state: legibleState(detail) };
}

/** The state, or what the columns of the row say in its place. */
export const legibleState = ({ state, status, startedAt, endedAt }: StateRow): State =>
  isState(state) ? state : { status, startedAt, endedAt, failure: null, aborting: false, nodes: {} };

/** The summary of a run that was read whole. */
export function summaryOf(detail: ExecutionDetail): ExecutionSummary {
  const { plan, state } = detail;
  return { ...detail, stages: stagesOf(plan), stageStates: stageStatesOf(state, stageIdsOf(plan)) };
}
