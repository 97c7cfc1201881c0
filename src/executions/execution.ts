import type { Plan, State, Status } from "../engine/index.ts";
import type { Uuid } from "../core/ids.ts";

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

/** Everything about a run. */
export type ExecutionDetail = Execution & {
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  readonly pipelineIdentifier: string;
  readonly pipelineVersion: number;
  readonly runSequence: number;
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
  readonly plan: Plan;
  readonly state: State;
};
