/** Routes that retry executions, and that show what can be retried. */
import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { flag, maybeProjectQuery, maybeText, maybeTexts, projectQuery } from "../../platform/http/request/queries.ts";
import { LARGE_BODY, route, type Call, type Route } from "../../platform/http/routes.ts";
import type { RetryStart } from "../../engine/index.ts";
import { inputOf, inputsDoc, onceOf } from "../run-request.ts";
import { planExecutionShape } from "../shapes.ts";
import { planExecution } from "../wire/rest.ts";
import type { GetCanRetry, GetRetryHistory, GetRetryStages } from "./read.ts";
import type { Retried, RetryExecution } from "./retry.ts";
import {
  latestExecution,
  latestShape,
  retryHistory,
  retryHistoryShape,
  retryStages,
  retryStagesShape,
} from "./wire.ts";

export type RetryVerbs = {
  readonly retry: RetryExecution;
  readonly retryStages: GetRetryStages;
  readonly retryHistory: GetRetryHistory;
  readonly canRetry: GetCanRetry;
};

const EXECUTE = "/pipeline/api/pipeline/execute";

const startQuery = {
  retryStages: maybeTexts("retryStages").describe(
    "Identifiers of one stage, or of stages that run at the same time; without them the first that failed.",
  ),
  runAllStages: flag.default(true).describe("false: of stages that run at the same time only those that failed."),
  retryStep: maybeText("retryStep").describe("A step or step group of the stage; those before it are not run again."),
};

const startOf = (query: z.output<z.ZodObject<typeof startQuery>>): RetryStart => ({
  stages: (query.retryStages ?? []).flatMap((text) => text.split(",")).filter((name) => name !== ""),
  failedOnly: !query.runAllStages,
  step: query.retryStep,
});

const answer = (call: Call, retried: Retried) => ok(call, planExecution({ ...retried, accountId: call.accountId }));

const DESCRIPTION =
  "A run of the same version with the same inputs. What has passed before its start is not run again: its nodes have " +
  "the results of the earlier execution. For executions that Failed, Expired, were Aborted or ApprovalRejected, within " +
  "30 days; of a row of retries for the latest.";

const retryRoutes = (verbs: RetryVerbs): readonly Route[] => [
  route({
    method: "POST",
    path: `${EXECUTE}/retry/:identifier`,
    operation: "execution.retry",
    maxBody: LARGE_BODY,
    access: { permission: "core_pipeline_execute" },
    query: projectQuery.extend({ planExecutionId: z.string({ error: "is required" }), ...startQuery }),
    doc: {
      summary: "Retry an execution",
      description: `${DESCRIPTION} The body may repeat the inputs.`,
      idempotencyKey: true,
      params: { identifier: "deploy" },
      body: inputsDoc,
      answer: enveloped(planExecutionShape),
    },
    handle: async (call) => {
      const { planExecutionId: executionId, orgIdentifier, projectIdentifier } = call.query;
      const { identifier: pipelineIdentifier = "" } = call.params;
      const request = {
        ...{ executionId, start: startOf(call.query) },
        of: { orgIdentifier, projectIdentifier, pipelineIdentifier },
        idempotency: onceOf(call, "execution.retry"),
      };
      return answer(call, await verbs.retry(call.actor, request, inputOf(call.body)));
    },
  }),
  route({
    method: "PUT",
    path: `${EXECUTE}/retry/:planExecutionId`,
    operation: "execution.retry-by-id",
    access: { permission: "core_pipeline_execute" },
    query: maybeProjectQuery.extend(startQuery),
    doc: {
      summary: "Retry an execution by its id",
      description: DESCRIPTION,
      idempotencyKey: true,
      body: { schema: z.strictObject({}), required: false, example: {} },
      answer: enveloped(planExecutionShape),
    },
    handle: async (call) => {
      if (call.body.bytes.length > 0) envelopeOf(call, z.strictObject({}));
      const { orgIdentifier, projectIdentifier } = call.query;
      const request = {
        ...{ executionId: call.params["planExecutionId"] ?? "", of: { orgIdentifier, projectIdentifier } },
        ...{ start: startOf(call.query), idempotency: onceOf(call, "execution.retry-by-id") },
      };
      return answer(call, await verbs.retry(call.actor, request, undefined));
    },
  }),
];

const readRoutes = (verbs: RetryVerbs): readonly Route[] => [
  route({
    method: "GET",
    path: `${EXECUTE}/:planExecutionId/retryStages`,
    operation: "execution.retry-stages",
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery.extend({ pipelineIdentifier: maybeText("pipelineIdentifier") }),
    doc: {
      summary: "Read the stages that a retry can start at",
      description: "A group is a stage, or the stages of a parallel list. The last one has failed or was not reached.",
      answer: enveloped(retryStagesShape),
    },
    handle: async (call) =>
      ok(call, retryStages(await verbs.retryStages(call.actor, call.params["planExecutionId"] ?? "", call.query))),
  }),
  route({
    method: "GET",
    path: `${EXECUTE}/retryHistory/:planExecutionId`,
    operation: "execution.retry-history",
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery,
    doc: {
      summary: "List an execution and its retries, newest first",
      answer: enveloped(retryHistoryShape),
    },
    handle: async (call) => {
      const { planExecutionId = "" } = call.params;
      return ok(call, retryHistory(planExecutionId, await verbs.retryHistory(call.actor, planExecutionId, call.query)));
    },
  }),
  route({
    method: "GET",
    path: `${EXECUTE}/latestExecutionId/:planExecutionId`,
    operation: "execution.retry-latest",
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery,
    doc: { summary: "Read the id of the latest retry of an execution", answer: enveloped(latestShape) },
    handle: async (call) => {
      const { planExecutionId = "" } = call.params;
      return ok(
        call,
        latestExecution(planExecutionId, await verbs.retryHistory(call.actor, planExecutionId, call.query)),
      );
    },
  }),
  route({
    method: "GET",
    path: "/pipeline/api/pipelines/execution/canRetry/:planExecutionId",
    operation: "execution.can-retry",
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery,
    doc: { summary: "Read whether an execution can be retried", answer: enveloped(z.boolean()) },
    handle: async (call) =>
      ok(call, await verbs.canRetry(call.actor, call.params["planExecutionId"] ?? "", call.query)),
  }),
];

export const retriesRoutes = (verbs: RetryVerbs): readonly Route[] => [...retryRoutes(verbs), ...readRoutes(verbs)];
