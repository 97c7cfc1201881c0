/** Routes that list and show executions. */
import { z } from "zod";
import type { Clock } from "../core/clock.ts";
import { fromWire } from "../core/ids.ts";
import { ok, text } from "../platform/http/response/answers.ts";
import { envelopeOf, textOf, type EnvelopeCall } from "../platform/http/request/bodies.ts";
import { pageSize, springPageQuery } from "../platform/http/response/pages.ts";
import { maybeProjectQuery, moment, projectQuery, wholeNumber } from "../platform/http/request/queries.ts";
import { route, type Route } from "../platform/http/routes.ts";
import { enveloped } from "../platform/http/response/shapes.ts";
import type { GetDetail, GetNode } from "./detail.ts";
import type { GetInputs, ListOutlines, ListProjectExecutions } from "./get.ts";
import { summaryOf, type Cursor } from "./execution.ts";
import { problem } from "./problems.ts";
import { whyNoRetry } from "./retry/can-retry.ts";
import { detailShape, executionPageShape, inputSetShape, nodeShape, outlineShape } from "./shapes.ts";
import { COUNTED_AT_MOST } from "./store/lists.ts";
import { fromSummary, summaryFilter, summaryQuery } from "./wire/filters.ts";
import { executionGraph, executionNode } from "./wire/graph.ts";
import { executionPage } from "./wire/page.ts";
import { executionSummary, outlinePage } from "./wire/rest.ts";

export type ReadVerbs = {
  readonly detail: GetDetail;
  readonly node: GetNode;
  readonly inputs: GetInputs;
  readonly listOfProject: ListProjectExecutions;
  readonly listOutlines: ListOutlines;
  readonly clock: Clock;
};

export const BASE = "/pipeline/api/pipelines/execution";

const cursorQuery = {
  lastSeenExecutionId: z.string().describe("The page after this execution; with lastSeenStartTime.").optional(),
  lastSeenStartTime: moment().optional(),
};

const listQuery = projectQuery.extend({
  ...springPageQuery(10).shape,
  ...summaryQuery,
  ...cursorQuery,
  countAtMost: wholeNumber(COUNTED_AT_MOST)
    .describe("totalElements counts so many at most: a million, and none of a page after an execution.")
    .optional(),
});
const filterOf = (call: EnvelopeCall) =>
  (textOf(call.body) ?? "").trim() === "" ? {} : envelopeOf(call, summaryFilter);
const filterDoc = {
  schema: summaryFilter,
  required: false,
  example: { filterType: "PipelineExecution", status: ["Running", "Success"] },
};

const listRoute = (verbs: ReadVerbs): Route =>
  route({
    method: "POST",
    path: `${BASE}/summary`,
    operation: "execution.list",
    access: { permission: "core_pipeline_view" },
    query: listQuery,
    doc: {
      summary: "List executions of a project, newest first",
      description:
        "The next page is asked for with the two cursors that this one ends with, which costs the same however far it is.",
      body: filterDoc,
      answer: enveloped(executionPageShape),
    },
    handle: async (call) => {
      const { page, size, orgIdentifier, projectIdentifier } = call.query;
      const scope = { orgIdentifier, projectIdentifier };
      const filter = fromSummary(filterOf(call), call.query, call.actor);
      const beyond = cursorOf(call.query);
      if (beyond && page > 0) throw problem("execution.cursor_and_page");
      const countAtMost = call.query.countAtMost ?? (beyond ? 0 : COUNTED_AT_MOST);
      const window = { limit: size, offset: page * size, beyond, countAtMost };
      return ok(call, await executionPage(await verbs.listOfProject(call.actor, scope, filter, window)));
    },
  });

const outlineQuery = projectQuery.extend({
  ...summaryQuery,
  size: pageSize().default(10),
  ...cursorQuery,
});

const outlineRoute = (verbs: ReadVerbs): Route =>
  route({
    method: "POST",
    path: `${BASE}/summary/outline`,
    operation: "execution.outline",
    access: { permission: "core_pipeline_view" },
    query: outlineQuery,
    doc: {
      summary: "List executions of a project lightly, page after page",
      description: "The next page is asked for with the two cursors that this one ends with.",
      body: filterDoc,
      answer: enveloped(outlineShape),
    },
    handle: async (call) => {
      const { size, orgIdentifier, projectIdentifier } = call.query;
      const scope = { orgIdentifier, projectIdentifier };
      const filter = fromSummary(filterOf(call), call.query, call.actor);
      const found = await verbs.listOutlines(call.actor, scope, filter, { size, beyond: cursorOf(call.query) });
      return ok(call, outlinePage(found, size));
    },
  });

function cursorOf(query: Pick<z.output<typeof outlineQuery>, keyof typeof cursorQuery>): Cursor | undefined {
  const { lastSeenExecutionId, lastSeenStartTime: begunAt } = query;
  if (lastSeenExecutionId === undefined && begunAt === undefined) return undefined;
  const id = fromWire(lastSeenExecutionId ?? "");
  if (id === undefined || begunAt === undefined) throw problem("execution.bad_cursor");
  return { begunAt, id };
}

const detailRoute = (verbs: ReadVerbs, prefix: string, operation: string): Route =>
  route({
    method: "GET",
    path: `${BASE}${prefix}/:planExecutionId`,
    operation,
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery,
    doc: {
      summary: "Read an execution",
      description: "The graph has all nodes of the execution, whichever stage is asked for.",
      answer: enveloped(detailShape),
    },
    handle: async (call) => {
      const { execution, extras } = await verbs.detail(call.actor, call.params["planExecutionId"] ?? "", call.query);
      const canRetry = whyNoRetry(execution, verbs.clock.now()) === undefined;
      return ok(call, {
        pipelineExecutionSummary: executionSummary(summaryOf(execution, canRetry), extras),
        executionGraph: executionGraph(execution, extras),
        childGraph: null,
        rollbackGraph: null,
      });
    },
  });

const nodeRoute = (verbs: ReadVerbs): Route =>
  route({
    method: "GET",
    path: "/pipeline/api/pipelines/getExecutionNode",
    operation: "execution.node",
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery.extend({ nodeExecutionId: z.string({ error: "is required" }) }),
    doc: { summary: "Read one node of an execution", answer: enveloped(nodeShape) },
    handle: async (call) => {
      const { nodeExecutionId, ...scope } = call.query;
      const { execution, extras, node } = await verbs.node(call.actor, nodeExecutionId, scope);
      return ok(call, executionNode(execution, node, extras));
    },
  });

const inputRoutes = (verbs: ReadVerbs): readonly Route[] => [
  route({
    method: "GET",
    path: `${BASE}/:planExecutionId/inputset`,
    operation: "execution.inputs",
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery,
    doc: { summary: "The runtime inputs of an execution, as they were sent", answer: "text/plain" },
    handle: async (call) =>
      text((await verbs.inputs(call.actor, call.params["planExecutionId"] ?? "", call.query)).inputYaml ?? ""),
  }),
  route({
    method: "GET",
    path: `${BASE}/:planExecutionId/inputsetV2`,
    operation: "execution.inputs-v2",
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery,
    doc: {
      summary: "The runtime inputs of an execution, and those that its pipeline had and has",
      answer: enveloped(inputSetShape),
    },
    handle: async (call) => {
      const found = await verbs.inputs(call.actor, call.params["planExecutionId"] ?? "", call.query);
      return ok(call, {
        inputSetYaml: found.inputYaml,
        inputSetTemplateYaml: found.template,
        latestTemplateYaml: found.latestTemplate,
        resolvedYaml: null,
        expressionValues: found.expressionValues,
      });
    },
  }),
];

export const readRoutes = (verbs: ReadVerbs): readonly Route[] => [
  listRoute(verbs),
  outlineRoute(verbs),
  detailRoute(verbs, "", "execution.get"),
  detailRoute(verbs, "/v2", "execution.get-v2"),
  nodeRoute(verbs),
  ...inputRoutes(verbs),
];
