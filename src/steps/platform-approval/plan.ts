import type { PlanContext } from "../step-module.ts";
import { inputOf } from "./approver-input.ts";
import { deadlineOf } from "./deadline.ts";
import type { ApprovalRequest } from "./request.ts";
import type { PlatformApprovalSpec } from "./schema.ts";

/** The work of an approval step: its request before expressions are resolved. The deadline follows from its timeout. */
export type ApprovalTemplate = Omit<ApprovalRequest, "deadline"> & {
  readonly kind: "approval";
  readonly autoApproval: { readonly at: number; readonly comments: string } | null;
};

export function plan(spec: PlatformApprovalSpec, { home }: PlanContext): ApprovalTemplate {
  const { approvers, autoApproval } = spec;
  return {
    kind: "approval",
    message: spec.approvalMessage ?? "",
    approvers: {
      userGroups: approvers.userGroups ?? [],
      serviceAccounts: approvers.serviceAccounts ?? [],
      minimumCount: Number(approvers.minimumCount),
      disallowPipelineExecutor: approvers.disallowPipelineExecutor,
      disallowedUserEmails: approvers.disallowedUserEmails ?? [],
    },
    inputs: (spec.approverInputs ?? []).map(inputOf),
    includePipelineExecutionHistory: spec.includePipelineExecutionHistory,
    callbackId: spec.callbackId ?? null,
    place: { orgIdentifier: home.orgIdentifier, projectIdentifier: home.projectIdentifier },
    autoApproval: autoApproval
      ? { at: deadlineOf(autoApproval.scheduledDeadline), comments: autoApproval.comments ?? "" }
      : null,
  };
}
