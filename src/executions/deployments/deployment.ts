/** A stage of an execution that deploys a service to an environment. */
import type { InstanceId, Status } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { TriggeredBy, TriggerType } from "../execution.ts";

/** Where a service is deployed; both as the project of the execution refers to them, as in `org.web`. */
export type Target = { readonly service: string; readonly environment: string };

/** What an event makes of a deployment. */
export type DeploymentChange = Target & {
  /** The node of the stage. */
  readonly id: InstanceId;
  readonly version: string | null;
  readonly commitId: string | null;
  readonly committedAt: number | null;
  readonly status: Status;
  readonly startedAt: number;
  readonly endedAt: number | null;
};

export type Deployment = Omit<DeploymentChange, "id"> & {
  readonly id: Uuid;
  readonly executionId: Uuid;
  readonly pipelineIdentifier: string;
  readonly pipelineName: string;
  readonly runSequence: number;
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
  /** The retention has deleted the execution. */
  readonly isExecutionDeleted: boolean;
};

/** What runs at a target, and what was tried last. */
export type DeployedService = Target & {
  /** The last deployment that succeeded. */
  readonly running: Deployment | null;
  readonly latest: Deployment;
};

/** Where a list goes on. */
export type DeploymentCursor = Pick<Deployment, "startedAt" | "id">;
