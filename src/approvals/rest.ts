import { z } from "zod";
import { toWire } from "../core/ids.ts";
import { ok, json } from "../platform/http/response/answers.ts";
import { envelopeOf } from "../platform/http/request/bodies.ts";
import { flag, maybeProjectQuery, maybeText } from "../platform/http/request/queries.ts";
import { pageSize } from "../platform/http/response/pages.ts";
import { route, type Route } from "../platform/http/routes.ts";
import { enveloped } from "../platform/http/response/shapes.ts";
import { V1_BASES, v1Scope } from "../platform/http/response/v1.ts";
import type { Actor } from "../core/actor.ts";
import type { ActOnApproval } from "./act.ts";
import { type Approval, APPROVAL_STATUSES } from "./approval.ts";
import type { ListApprovals } from "./list.ts";
import type { ListPendingApprovals } from "./pending.ts";
import { pendingApproval, pendingPageShape } from "./wire/pending.ts";
import { approvalData, approvalShape, approvalV1, approvalV1Shape, type ShownApproval } from "./wire/approvals.ts";

type Operations = {
  readonly act: ActOnApproval;
  readonly list: ListApprovals;
  readonly listPending: ListPendingApprovals;
  readonly show: <T extends Approval>(
    actor: Actor,
    approvals: readonly T[],
  ) => Promise<readonly (ShownApproval & { readonly approval: T })[]>;
};

const inputs = z
  .array(z.strictObject({ name: z.string().max(128), value: z.string().max(4_096) }))
  .max(50)
  .nullish();
const decision = { action: z.enum(["APPROVE", "REJECT"]), comments: z.string().nullish() };
const activityBody = z.strictObject({ ...decision, approverInputs: inputs, autoApprove: z.literal(false).nullish() });
const v1Body = z.strictObject({ ...decision, approver_inputs: inputs });

const access = { permission: "core_pipeline_view" };
const WHO = "For the approvers that the step names. One rejection rejects; each approver acts once.";
const example = { action: "APPROVE", comments: "Checked on staging." };

export const approvalRoutes = (operations: Operations): readonly Route[] => [
  activityRoute(operations),
  pendingRoute(operations),
  ...V1_BASES.flatMap(([base, suffix]) => v1Routes(operations, `${base}/orgs/:org/projects/:project`, suffix)),
];

const activityRoute = ({ act, show }: Operations): Route =>
  route({
    method: "POST",
    path: "/pipeline/api/approvals/:approvalInstanceId/platform/activity",
    operation: "approval.decide",
    access,
    query: z.object({}),
    doc: {
      summary: "Approve or reject a step that waits",
      description: WHO,
      body: { schema: activityBody, example },
      answer: enveloped(approvalShape),
    },
    handle: async (call) => {
      const { action, comments, approverInputs } = envelopeOf(call, activityBody);
      const key = { id: call.params["approvalInstanceId"] ?? "" };
      const done = await act(call.actor, key, { action, comments: comments ?? "", inputs: approverInputs ?? [] });
      const [shown] = await show(call.actor, [done]);
      return ok(call, shown && approvalData(shown, call.actor));
    },
  });

const LARGEST_PAGE = 100;

const pendingRoute = ({ listPending, show }: Operations): Route =>
  route({
    method: "GET",
    path: "/pipeline/api/approvals/pending",
    operation: "approval.list-pending",
    access,
    query: maybeProjectQuery.extend({
      mine: flag.describe("Only those that the caller may decide."),
      size: pageSize(LARGEST_PAGE).default(20),
      lastSeenApprovalId: maybeText("lastSeenApprovalId").describe("The page after this approval."),
    }),
    doc: {
      summary: "List the steps that wait for approval, the oldest first",
      description:
        "In a project, or in all that the caller may see. `mayDecide` says whether the caller may decide it. A page may " +
        "have fewer than `size`, also none, before the last one.",
      answer: enveloped(pendingPageShape),
    },
    handle: async (call) => {
      const { mine: isMine, lastSeenApprovalId: after, ...query } = call.query;
      const { approvals, next } = await listPending(call.actor, { ...query, isMine, after });
      const shown = await show(call.actor, approvals);
      return ok(call, {
        content: shown.map((one) => pendingApproval(one, call.actor)),
        size: query.size,
        lastSeenApprovalId: next === undefined ? null : toWire(next),
      });
    },
  });

const listQuery = z.object({
  approval_status: z.enum(APPROVAL_STATUSES, { error: `takes one of ${APPROVAL_STATUSES.join(", ")}` }).optional(),
  approval_type: maybeText("approval_type"),
  node_execution_id: maybeText("node_execution_id"),
});

const v1Routes = ({ act, list, show }: Operations, base: string, suffix: string): readonly Route[] => [
  route({
    method: "GET",
    path: `${base}/approvals/execution/:executionId`,
    operation: `approval-v1.list${suffix}`,
    access,
    account: "header",
    query: listQuery,
    doc: {
      summary: "List the approvals of an execution, the oldest first",
      params: { org: "default", project: "shop" },
      answer: z.array(approvalV1Shape),
    },
    handle: async (call) => {
      const { approval_status: status, approval_type: type, node_execution_id: nodeId } = call.query;
      const of = { executionId: call.params["executionId"] ?? "", scope: v1Scope(call) };
      const shown = await show(call.actor, await list(call.actor, of, { status, type, nodeId }));
      return json(
        200,
        shown.map((one) => approvalV1(one, call.actor)),
      );
    },
  }),
  route({
    method: "POST",
    path: `${base}/approvals/execution/:executionId`,
    operation: `approval-v1.decide${suffix}`,
    access,
    account: "header",
    query: z.object({ callback_id: z.string({ error: "is required" }).min(1, "is required").max(1_024) }),
    doc: {
      summary: "Approve or reject the step with a callbackId",
      description: WHO,
      params: { org: "default", project: "shop" },
      queryExample: { callback_id: "release" },
      body: { schema: v1Body, example },
      answer: approvalV1Shape,
    },
    handle: async (call) => {
      const { action, comments, approver_inputs: given } = envelopeOf(call, v1Body);
      const executionId = call.params["executionId"] ?? "";
      const key = { executionId, callbackId: call.query.callback_id, scope: v1Scope(call) };
      const done = await act(call.actor, key, { action, comments: comments ?? "", inputs: given ?? [] });
      const [shown] = await show(call.actor, [done]);
      return json(200, shown && approvalV1(shown, call.actor));
    },
  }),
];
