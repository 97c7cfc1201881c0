/** Approvals as REST shows them, in both families. */
import { z } from "zod";
import type { Actor } from "../../core/actor.ts";
import { toWire } from "../../core/ids.ts";
import { epochMs, wireId } from "../../platform/http/response/shapes.ts";
import type { ApprovalActivity } from "../../steps/platform-approval/request.ts";
import { type Approval, APPROVAL_STATUSES, APPROVAL_TYPE } from "../approval.ts";
import type { NamedGroup } from "../groups.ts";

/** An approval, and those of its groups that exist. */
export type ShownApproval = { readonly approval: Approval; readonly groups: readonly NamedGroup[] };

const detailsOf = ({ approval: { request, activities }, groups }: ShownApproval, actor: Actor) => {
  const { message, approvers, inputs } = request;
  return {
    approvalMessage: message,
    includePipelineExecutionHistory: request.includePipelineExecutionHistory,
    approvers,
    approverInputs: inputs.map(({ name, defaultValue, required, rule }) => ({
      ...{ name, defaultValue, required },
      ...(rule?.kind === "regex" ? { regex: rule.pattern } : rule ? { [rule.kind]: rule.values } : {}),
    })),
    approvalActivities: activities,
    validatedApprovalUserGroups: groups.map(({ orgIdentifier, projectIdentifier, identifier, name }) => ({
      accountIdentifier: toWire(actor.accountId),
      ...{ orgIdentifier, projectIdentifier, identifier, name },
    })),
    autoRejectEnabled: false,
  };
};

const hasDone = ({ actors, activities }: Approval, actor: Actor, action: ApprovalActivity["action"]): boolean =>
  actors.some((id, nth) => "id" in actor && id === actor.id && activities[nth]?.action === action);

export const approvalData = (shown: ShownApproval, actor: Actor) => {
  const { approval } = shown;
  return {
    id: toWire(approval.id),
    type: APPROVAL_TYPE,
    status: approval.status,
    deadline: approval.request.deadline,
    createdAt: approval.createdAt,
    lastModifiedAt: approval.updatedAt,
    errorMessage: approval.error,
    approvedByCurrentUser: hasDone(approval, actor, "APPROVE"),
    rejectedByCurrentUser: hasDone(approval, actor, "REJECT"),
    details: detailsOf(shown, actor),
  };
};

export const approvalV1 = (shown: ShownApproval, actor: Actor) => {
  const { approval } = shown;
  return {
    id: toWire(approval.id),
    type: APPROVAL_TYPE,
    status: approval.status,
    node_execution_id: toWire(approval.nodeId),
    deadline: approval.request.deadline,
    created: approval.createdAt,
    updated: approval.updatedAt,
    error_message: approval.error,
    details: detailsOf(shown, actor),
  };
};

const inputShape = z.strictObject({ name: z.string(), value: z.string() });
const values = z.array(z.string()).optional();

const detailsShape = z.strictObject({
  approvalMessage: z.string(),
  includePipelineExecutionHistory: z.boolean(),
  approvers: z.strictObject({
    userGroups: z.array(z.string()),
    serviceAccounts: z.array(z.string()),
    minimumCount: z.int(),
    disallowPipelineExecutor: z.boolean(),
    disallowedUserEmails: z.array(z.string()),
  }),
  approverInputs: z.array(
    z.strictObject({
      name: z.string(),
      defaultValue: z.string(),
      required: z.boolean(),
      regex: z.string().optional(),
      ...{ allowedValues: values, selectOneFrom: values, selectManyFrom: values },
    }),
  ),
  approvalActivities: z.array(
    z.strictObject({
      user: z.strictObject({ name: z.string(), email: z.string() }),
      action: z.enum(["APPROVE", "REJECT"]),
      comments: z.string(),
      approverInputs: z.array(inputShape),
      approvedAt: epochMs,
    }),
  ),
  validatedApprovalUserGroups: z.array(
    z.strictObject({
      accountIdentifier: wireId,
      orgIdentifier: z.string().nullable(),
      projectIdentifier: z.string().nullable(),
      identifier: z.string(),
      name: z.string(),
    }),
  ),
  autoRejectEnabled: z.literal(false),
});

const common = { id: wireId, type: z.literal(APPROVAL_TYPE), status: z.enum(APPROVAL_STATUSES), deadline: epochMs };

export const approvalShape = z.strictObject({
  ...common,
  createdAt: epochMs,
  lastModifiedAt: epochMs,
  errorMessage: z.string().nullable(),
  approvedByCurrentUser: z.boolean(),
  rejectedByCurrentUser: z.boolean(),
  details: detailsShape,
});

export const approvalV1Shape = z.strictObject({
  ...common,
  node_execution_id: wireId,
  created: epochMs,
  updated: epochMs,
  error_message: z.string().nullable(),
  details: detailsShape,
});
