/** GraphQL `approvalDetails` and `approveOrRejectApprovals`. */
import { toWire } from "../core/ids.ts";
import type { GetNodeNames } from "../executions/index.ts";
import { payloadOf, payloadType, type Builder, type NodeRef } from "../platform/graphql/builder.ts";
import type { ActOnApproval } from "./act.ts";
import type { Approval } from "./approval.ts";
import type { ListApprovals } from "./list.ts";
import { problem } from "./problems.ts";

export type ApprovalQueries = {
  readonly act: ActOnApproval;
  readonly list: ListApprovals;
  readonly getNodeNames: GetNodeNames;
};

type Person = { readonly name: string; readonly email: string };

type Detail = {
  readonly approval: Approval;
  readonly stepName: string;
  readonly stageName: string;
  readonly triggeredBy: Person;
};

export function addApprovalTypes(builder: Builder, { act, list, getNodeNames }: ApprovalQueries): void {
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
  addMutation(builder, act);
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
