import { z } from "zod";
import { ok, text } from "../platform/http/answers.ts";
import { documentOf, formatOf, textOf } from "../platform/http/bodies.ts";
import { springPage, springPageQuery } from "../platform/http/pages.ts";
import { maybeProjectQuery, projectQuery, wholeNumber } from "../platform/http/queries.ts";
import { route, type Call, type Route } from "../platform/http/routes.ts";
import { validate } from "../platform/document/validate.ts";
import type { AbortExecution } from "./abort.ts";
import type { GetDetail } from "./detail.ts";
import type { ListProjectExecutions } from "./get.ts";
import type { DownloadLog, FollowLog } from "./logs.ts";
import type { RunPipeline } from "./start.ts";
import { problem } from "./problems.ts";
import { executionGraph, executionSummary, planExecution } from "./wire/rest.ts";
import { fromSummaryFilter, summaryFilter } from "./wire/filters.ts";

type Verbs = {
  readonly run: RunPipeline;
  readonly detail: GetDetail;
  readonly listOfProject: ListProjectExecutions;
  readonly abort: AbortExecution;
  readonly downloadLog: DownloadLog;
  readonly followLog: FollowLog;
};

const BASE = "/pipeline/api/pipelines/execution";

const runRoute = (verbs: Verbs, suffix: string, operation: string): Route =>
  route({
    method: "POST",
    path: `/pipeline/api/pipeline/execute/:identifier${suffix}`,
    operation,
    access: { permission: "core_pipeline_execute" },
    query: projectQuery,
    handle: async (call) => {
      const input = textOf(call.body);
      const pipelineIdentifier = call.params["identifier"] ?? "";
      const given = input === undefined ? undefined : { text: input, format: formatOf(call.body) };
      const started = await verbs.run(call.actor, call.query, pipelineIdentifier, given);
      return ok(call, planExecution({ ...started, ...call.query, accountId: call.accountId, pipelineIdentifier }));
    },
  });

const listQuery = projectQuery.extend({
  ...springPageQuery(10).shape,
  pipelineIdentifier: z.string().optional(),
});

const listRoute = (verbs: Verbs): Route =>
  route({
    method: "POST",
    path: `${BASE}/summary`,
    operation: "execution.list",
    access: { permission: "core_pipeline_view" },
    query: listQuery,
    handle: async (call) => {
      const { page, size, pipelineIdentifier, ...scope } = call.query;
      const filter =
        textOf(call.body) === undefined ? [] : fromSummaryFilter(validate(summaryFilter, documentOf(call.body)));
      const ofPipeline =
        pipelineIdentifier === undefined ? [] : [{ is: "pipelineIdentifier" as const, value: pipelineIdentifier }];
      const window = { limit: size, offset: page * size };
      const found = await verbs.listOfProject(call.actor, scope, [...filter, ...ofPipeline], window);
      return ok(call, await springPage(found, (execution) => executionSummary(execution)));
    },
  });

const detailRoute = (verbs: Verbs, prefix: string, operation: string): Route =>
  route({
    method: "GET",
    path: `${BASE}${prefix}/:planExecutionId`,
    operation,
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery,
    handle: async (call) => {
      const { execution, extras } = await verbs.detail(call.actor, call.params["planExecutionId"] ?? "", call.query);
      return ok(call, {
        pipelineExecutionSummary: executionSummary(execution, extras),
        executionGraph: executionGraph(execution, extras),
        childGraph: null,
        rollbackGraph: null,
      });
    },
  });

const abortRoute = (verbs: Verbs): Route =>
  route({
    method: "PUT",
    path: "/pipeline/api/pipeline/execute/interrupt/:planExecutionId",
    operation: "execution.abort",
    access: { permission: "core_pipeline_abort" },
    query: maybeProjectQuery.extend({ interruptType: z.string({ error: "is required" }) }),
    handle: async (call) => {
      const { interruptType, ...scope } = call.query;
      // Clients generated from older descriptions write it in upper case.
      if (!["AbortAll", "ABORTALL", "ABORT_ALL"].includes(interruptType))
        throw problem("execution.interrupt_unsupported", [interruptType]);
      const planExecutionId = call.params["planExecutionId"] ?? "";
      await verbs.abort(call.actor, planExecutionId, scope);
      return ok(call, { id: planExecutionId, type: "AbortAll", planExecutionId });
    },
  });

const logQuery = maybeProjectQuery.extend({
  nodeExecutionId: z.string().optional(),
  from: wholeNumber().default(0),
  limit: wholeNumber().optional(),
});

const logRoutes = (verbs: Verbs): readonly Route[] => [
  route({
    method: "GET",
    path: `${BASE}/:planExecutionId/logs`,
    operation: "execution.logs",
    access: { permission: "core_pipeline_view" },
    query: logQuery,
    handle: async (call) => {
      const { nodeExecutionId, from, limit, ...scope } = call.query;
      return text(
        await verbs.downloadLog(call.actor, call.params["planExecutionId"] ?? "", scope, {
          nodeExecutionId,
          from,
          limit,
        }),
      );
    },
  }),
  route({
    method: "GET",
    path: `${BASE}/:planExecutionId/logs/stream`,
    operation: "execution.follow-logs",
    access: { permission: "core_pipeline_view" },
    query: logQuery,
    handle: async (call) => {
      const { nodeExecutionId, from, limit: _, ...scope } = call.query;
      const range = { nodeExecutionId, from: resumedFrom(call) ?? from };
      return {
        kind: "events",
        run: await verbs.followLog(call.actor, call.params["planExecutionId"] ?? "", scope, range),
      };
    },
  }),
];

/** Browsers and other clients of event streams send the id of the last event they saw. */
function resumedFrom(call: Pick<Call, "headers">): number | undefined {
  const last = call.headers["last-event-id"];
  if (last === undefined || last === "") return undefined;
  if (typeof last !== "string" || !/^\d{1,15}$/.test(last))
    throw problem("execution.bad_offset", ["Last-Event-ID is not the id of an event of this stream."]);
  return Number(last);
}

export const executionRoutes = (verbs: Verbs): readonly Route[] => [
  runRoute(verbs, "", "execution.start"),
  runRoute(verbs, "/v2", "execution.start-v2"),
  listRoute(verbs),
  detailRoute(verbs, "", "execution.get"),
  detailRoute(verbs, "/v2", "execution.get-v2"),
  abortRoute(verbs),
  ...logRoutes(verbs),
];
