/** One delegate: read, approved, deleted, and the tasks that it runs. */
import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { json } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ngPage, ngPageQuery, ngPageShape, ngWindow } from "../../platform/http/response/pages.ts";
import { route, type Answer, type Call, type Route } from "../../platform/http/routes.ts";
import { epochMs, resourced, wireId } from "../../platform/http/response/shapes.ts";
import type { ApproveDelegate, DeleteDelegate, NamedDelegate } from "../registry/approval.ts";
import type { GetDelegate } from "../registry/get.ts";
import type { ListDelegateTasks, ListedTask } from "../registry/list-tasks.ts";
import { delegateShape, delegateWire } from "../wire.ts";

type Operations = {
  readonly get: GetDelegate;
  readonly approve: ApproveDelegate;
  readonly remove: DeleteDelegate;
  readonly listTasks: ListDelegateTasks;
};

const ONE = "/ng/api/delegate-setup/delegates/:delegateId";
const VIEW = { permission: "core_delegate_view" };
const shared = { errors: "resource", query: z.object({}) } as const;

const approvalBody = z.strictObject({
  approval: z.enum(["ACTIVATE", "REJECT"], { error: "takes ACTIVATE or REJECT" }),
});

const stepShape = z.strictObject({
  planExecutionId: wireId,
  nodeExecutionId: wireId,
  stepName: z.string(),
  pipelineIdentifier: z.string(),
  pipelineName: z.string(),
  runSequence: z.int(),
  orgIdentifier: z.string(),
  projectIdentifier: z.string(),
});

const taskShape = z.strictObject({
  taskId: wireId,
  type: z.enum(["STEP", "CONNECTION_TEST"]),
  startedAt: epochMs.describe("When the delegate took it, in epoch milliseconds."),
  cancelling: z.boolean(),
  step: stepShape.nullable().describe("Null for a connection test, and for an execution that the caller may not see."),
});

const taskWire = ({ id, capability, leasedAt, cancelling, step }: ListedTask): z.output<typeof taskShape> => ({
  taskId: toWire(id),
  type: capability.startsWith("connection/") ? "CONNECTION_TEST" : "STEP",
  startedAt: leasedAt,
  cancelling,
  step: step && {
    planExecutionId: toWire(step.executionId),
    nodeExecutionId: toWire(step.nodeId),
    stepName: step.stepName,
    pipelineIdentifier: step.pipelineIdentifier,
    pipelineName: step.pipelineName,
    runSequence: step.runSequence,
    orgIdentifier: step.orgIdentifier,
    projectIdentifier: step.projectIdentifier,
  },
});

const resource = (body: unknown): Answer => json(200, { metaData: {}, resource: body, responseMessages: [] });
const idOf = ({ params }: Pick<Call, "params">): string => params["delegateId"] ?? "";
const named = (call: Call): NamedDelegate => ({ accountId: toWire(call.accountId), delegateId: idOf(call) });

export const delegateRoutes = (operations: Operations): readonly Route[] => [
  route({
    ...shared,
    method: "GET",
    path: ONE,
    operation: "delegate.get",
    access: VIEW,
    doc: { summary: "Read a delegate", answer: resourced(delegateShape) },
    handle: async (call) => resource(delegateWire(await operations.get(call.actor, idOf(call)))),
  }),
  route({
    ...shared,
    method: "PUT",
    path: `${ONE}/approval`,
    operation: "delegate.approve",
    access: { permission: "core_delegate_edit" },
    doc: {
      summary: "Activate or reject a delegate that waits for approval",
      description: "ACTIVATE does not change an enabled delegate.",
      body: { schema: approvalBody, example: { approval: "ACTIVATE" } },
      answer: resourced(delegateShape),
    },
    handle: async (call) => {
      const { approval } = envelopeOf(call, approvalBody);
      return resource(delegateWire(await operations.approve(call.actor, named(call), approval)));
    },
  }),
  route({
    ...shared,
    method: "DELETE",
    path: ONE,
    operation: "delegate.delete",
    access: { permission: "core_delegate_delete" },
    doc: {
      summary: "Delete a delegate; its connections end, and its work folder cannot register again",
      answer: resourced(z.literal(true)),
    },
    handle: async (call) => {
      await operations.remove(call.actor, named(call));
      return resource(true);
    },
  }),
  route({
    ...shared,
    method: "GET",
    path: `${ONE}/tasks`,
    operation: "delegate.list-tasks",
    access: VIEW,
    query: ngPageQuery(50, 100),
    doc: {
      summary: "List the tasks that a delegate runs now, those that it has had longest first",
      answer: resourced(ngPageShape(taskShape)),
    },
    handle: async (call) =>
      resource(await ngPage(await operations.listTasks(call.actor, idOf(call), ngWindow(call.query)), taskWire)),
  }),
];
