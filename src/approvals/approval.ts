/** A step of an execution that waits, or has waited, for approval. */
import type { Uuid } from "../core/ids.ts";
import type { ApprovalActivity, ApprovalAnswer, ApprovalRequest } from "../steps/platform-approval/request.ts";

export const APPROVAL_STATUSES = ["WAITING", "APPROVED", "REJECTED", "FAILED", "ABORTED", "EXPIRED"] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export const APPROVAL_TYPE = "PlatformApproval";

export type Approval = {
  readonly id: Uuid;
  readonly executionId: Uuid;
  readonly nodeId: Uuid;
  readonly status: ApprovalStatus;
  readonly request: ApprovalRequest;
  readonly activities: readonly ApprovalActivity[];
  /** Who did each of the activities; none for the scheduled approval. */
  readonly actors: readonly Uuid[];
  readonly error: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** What the activities come to. One rejection is enough. */
export function decisionOf(
  { approvers }: ApprovalRequest,
  activities: readonly ApprovalActivity[],
): ApprovalAnswer["decision"] {
  if (activities.some(({ action }) => action === "REJECT")) return "rejected";
  return activities.length >= approvers.minimumCount ? "approved" : "pending";
}

/** Why an actor may not decide. */
export const REFUSALS = ["NOT_APPROVER", "OWN_EXECUTION", "DISALLOWED", "ALREADY_ACTED"] as const;
export type Refusal = (typeof REFUSALS)[number];

/** What an approval belongs to. */
export type ApprovalOrigin = {
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  readonly applicationId: Uuid;
  readonly pipelineIdentifier: string;
  readonly pipelineName: string;
  readonly runSequence: number;
  readonly triggeredBy: { readonly name: string; readonly email: string | null };
};

/** An approval that waits, as an actor sees it. */
export type PendingApproval = Approval &
  ApprovalOrigin & {
    readonly stepName: string;
    readonly stageIdentifier: string;
    readonly stageName: string;
    /** Why the actor may not decide it. */
    readonly refusal: Refusal | undefined;
  };
