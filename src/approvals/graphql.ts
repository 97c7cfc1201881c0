/** GraphQL `approvalDetails` and `approveOrRejectApprovals`. */
import { toWire } from "../core/ids.ts";
import type { GetNodeNames } from "../executions/index.ts";
import { payloadOf, payloadType, window, type Builder, type NodeRef } from "../platform/graphql/builder.ts";
import type { ActOnApproval } from "./act.ts";
import type { Approval, PendingApproval } from "./approval.ts";
import type { ListApprovals } from "./list.ts";
import type { ListPendingApprovals } from "./pending.ts";
import { problem } from "./problems.ts";

export type ApprovalQueries = {
  readonly act: ActOnApproval;
  readonly list: ListApprovals;
  readonly listPending: ListPendingApprovals;
  readonly getNodeNames: GetNodeNames;
};

type Person = { readonly name: string; readonly email: string };

type Detail = {
  readonly approval: Approval;
  readonly stepName: string;
  readonly stageName: string;
  readonly triggeredBy: Person;
};

export function addApprovalTypes(builder: Builder, operations: ApprovalQueries): void {
  const { act, list, getNodeNames } = operations;
  const Details = detailType(builder);
  const Payload = builder.objectRef<readonly Detail[]>("ApprovalDetailsPayload").implement({
    fields: (t) => ({ approvalDetails: t.field({ type: [Details], resolve: (details) => [...details] }) }),
  });
  builder.queryField("approvalDetails", (t) =>
    t.field({
      type: Payload,
      description: "The steps of an execution that wait for approval, the oldest first.",
      args: { applicationId: t.arg.string({ required: true }), executionId: t.arg.string({ required: true }) },
      extensions: { permission: "core_pipeline_view" },
      resolve: async (_root, { applicationId, executionId }, { actor }) => {
        const { execution, namesOf } = await getNodeNames(actor, executionId);
        if (toWire(execution.applicationId) !== applicationId)
          throw problem("approval.other_application", [applicationId, executionId]);
        const { name, email } = execution.triggeredBy;
        const approvals = await list(actor, { executionId, scope: {} }, { status: "WAITING" });
        return approvals.map((approval): Detail => {
          const { step: stepName, stage: stageName } = namesOf(approval.nodeId);
          return { approval, stepName, stageName, triggeredBy: { name, email: email ?? "" } };
        });
      },
    }),
  );
  addPendingApprovals(builder, Details, operations);
  addMutation(builder, act);
}

type Pending = { readonly approvals: readonly PendingApproval[]; readonly next: string | null };

function addPendingApprovals(builder: Builder, Details: NodeRef<Detail>, { listPending }: ApprovalQueries): void {
  const Approval = builder.objectRef<PendingApproval>("PendingApproval").implement({
    fields: (t) => ({
      details: t.field({
        type: Details,
        resolve: (approval): Detail => {
          const { stepName, stageName, triggeredBy } = approval;
          return { approval, stepName, stageName, triggeredBy: { ...triggeredBy, email: triggeredBy.email ?? "" } };
        },
      }),
      message: t.string({ resolve: ({ request }) => request.message }),
      applicationId: t.string({ resolve: ({ applicationId }) => toWire(applicationId) }),
      pipelineName: t.exposeString("pipelineName"),
      mayDecide: t.boolean({
        description: "Whether the caller may decide it.",
        resolve: ({ refusal }) => refusal === undefined,
      }),
    }),
  });
  const Page = builder.objectRef<Pending>("PendingApprovals").implement({
    fields: (t) => ({
      nodes: t.field({ type: [Approval], resolve: ({ approvals }) => [...approvals] }),
      next: t.exposeString("next", {
        nullable: true,
        description: "Where the next page goes on, for `after`; null on the last one.",
      }),
    }),
  });
  builder.queryField("pendingApprovals", (t) =>
    t.field({
      type: Page,
      description: "The steps that wait for approval in an application, or in all that the caller may see.",
      args: {
        applicationId: t.arg.string(),
        mine: t.arg.boolean({ description: "Only those that the caller may decide." }),
        limit: t.arg.int(),
        after: t.arg.string(),
      },
      extensions: { permission: "core_pipeline_view" },
      resolve: async (_root, { applicationId, mine, limit, after }, { actor }) => {
        const { limit: size } = window({ limit });
        const filter = { applicationId: applicationId ?? undefined, isMine: mine ?? false, after: after ?? undefined };
        const { approvals, next } = await listPending(actor, { ...filter, size });
        return { approvals, next: next === undefined ? null : toWire(next) };
      },
    }),
  );
}

function detailType(builder: Builder): NodeRef<Detail> {
  const Type = builder.enumType("ApprovalStepType", { values: ["USER_GROUP"] as const });
  const By = builder.objectRef<Person>("ApprovalTriggeredBy").implement({
    fields: (t) => ({ name: t.exposeString("name"), email: t.exposeString("email") }),
  });
  const Variable = builder.objectRef<{ name: string; value: string }>("ApprovalVariable").implement({
    fields: (t) => ({ name: t.exposeString("name"), value: t.exposeString("value") }),
  });
  return builder.objectRef<Detail>("UserGroupApprovalDetails").implement({
    fields: (t) => ({
      approvalId: t.string({ resolve: ({ approval }) => toWire(approval.id) }),
      approvalType: t.field({ type: Type, resolve: () => "USER_GROUP" as const }),
      stepName: t.exposeString("stepName"),
      stageName: t.exposeString("stageName"),
      startedAt: t.string({
        description: "Epoch milliseconds.",
        resolve: ({ approval }) => String(approval.createdAt),
      }),
      willExpireAt: t.string({
        description: "Epoch milliseconds.",
        resolve: ({ approval }) => String(approval.request.deadline),
      }),
      triggeredBy: t.expose("triggeredBy", { type: By }),
      executionId: t.string({ resolve: ({ approval }) => toWire(approval.executionId) }),
      approvers: t.stringList({
        description: "References of user groups and service accounts.",
        resolve: ({ approval: { request } }) => [...request.approvers.userGroups, ...request.approvers.serviceAccounts],
      }),
      variables: t.field({
        type: [Variable],
        description: "The values that an approver may enter, with their defaults.",
        resolve: ({ approval }) =>
          approval.request.inputs.map(({ name, defaultValue }) => ({ name, value: defaultValue })),
      }),
    }),
  });
}

function addMutation(builder: Builder, act: ActOnApproval): void {
  const Action = builder.enumType("ApprovalAction", { values: ["APPROVE", "REJECT"] as const });
  const Variable = builder.inputType("ApprovalVariableInput", {
    fields: (t) => ({ name: t.string({ required: true }), value: t.string({ required: true }) }),
  });
  const Input = builder.inputType("ApproveOrRejectApprovalsInput", {
    fields: (t) => ({
      clientMutationId: t.string(),
      approvalId: t.string({ required: true }),
      action: t.field({ type: Action, required: true }),
      applicationId: t.string({ required: true }),
      executionId: t.string({ required: true }),
      comments: t.string(),
      variableInputs: t.field({ type: [Variable], required: { list: false, items: true } }),
    }),
  });
  const Payload = payloadType<{ success: boolean }>(builder, "ApproveOrRejectApprovalsPayload", (t) => ({
    success: t.exposeBoolean("success", { description: "Always true: what is refused is an error." }),
  }));
  builder.mutationField("approveOrRejectApprovals", (t) =>
    t.field({
      type: Payload,
      description: "For the approvers that the step names. One rejection rejects; each approver acts once.",
      args: { input: t.arg({ type: Input, required: true }) },
      extensions: { permission: "core_pipeline_view" },
      resolve: async (_root, { input }, { actor }) => {
        const { approvalId: id, action, applicationId, executionId } = input;
        const key = { id, within: { applicationId, executionId } };
        await act(actor, key, { action, comments: input.comments ?? "", inputs: input.variableInputs ?? [] });
        return payloadOf(input, { success: true });
      },
    }),
  );
}
