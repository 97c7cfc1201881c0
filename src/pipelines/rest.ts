import { z } from "zod";
import { ok } from "../platform/http/response/answers.ts";
import { envelopeOf, formatOf, textOf, type EnvelopeCall } from "../platform/http/request/bodies.ts";
import { ifMatch } from "../platform/http/request/if-match.ts";
import { springPage, springPageQuery, springPageShape } from "../platform/http/response/pages.ts";
import { flag, maybeText, projectQuery, wholeNumber } from "../platform/http/request/queries.ts";
import { route, type Body, type BodyDoc, type Call, type Route } from "../platform/http/routes.ts";
import { enveloped } from "../platform/http/response/shapes.ts";
import type { CreatePipeline } from "./create.ts";
import { pipelineSchema } from "./document/index.ts";
import { exampleOf } from "./example.ts";
import type { GetPipeline } from "./get.ts";
import { SUMMARY_ORDERS, type SummaryFilter } from "./store/lists.ts";
import type { GetSummary, GetVersion, ListSummaries, ListVersions, RestoreVersion } from "./summaries.ts";
import { PIPELINE_BODY, type PipelineText } from "./text.ts";
import type { DeletePipeline, UpdatePipeline } from "./update.ts";
import type { ValidatePipeline, ValidateSaved } from "./validate.ts";
import * as wire from "./wire.ts";

export type PipelineVerbs = {
  readonly create: CreatePipeline;
  readonly get: GetPipeline;
  readonly update: UpdatePipeline;
  readonly remove: DeletePipeline;
  readonly listSummaries: ListSummaries;
  readonly getSummary: GetSummary;
  readonly listVersions: ListVersions;
  readonly getVersion: GetVersion;
  readonly restoreVersion: RestoreVersion;
  readonly validate: ValidatePipeline;
  readonly validateSaved: ValidateSaved;
};

const BASE = "/pipeline/api/pipelines";
const edit = { permission: "core_pipeline_edit" };
const view = { permission: "core_pipeline_view" };

const sent = (body: Body): PipelineText => ({ text: textOf(body) ?? "", format: formatOf(body) });
const identifierOf = (call: Pick<Call, "params">): string => call.params["identifier"] ?? "";
const bodyOf = (identifier: string): BodyDoc => ({
  schema: pipelineSchema("saved"),
  root: "pipeline",
  strict: true,
  example: exampleOf(identifier),
});
const params = { identifier: "deploy" };

export const pipelineRoutes = (verbs: PipelineVerbs): readonly Route[] => [
  ...writeRoutes(verbs),
  ...validateRoutes(verbs),
  ...readRoutes(verbs),
  ...versionRoutes(verbs),
];

/** Each call that saves exists twice: one answers the identifier, its newer twin `{identifier, governanceMetadata}`. */
const writeRoutes = (verbs: PipelineVerbs): readonly Route[] => [
  ...(
    [
      ["", "create", z.string(), (identifier: string): unknown => identifier],
      ["/v2", "create-v2", wire.savedShape, wire.savedResponse],
    ] as const
  ).map(([path, verb, shape, response]) =>
    route({
      method: "POST",
      path: `${BASE}${path}`,
      operation: `pipeline.${verb}`,
      maxBody: PIPELINE_BODY,
      access: edit,
      query: projectQuery,
      doc: {
        summary: "Create a pipeline",
        body: bodyOf(verb === "create" ? "rollout" : "rollout_again"),
        answer: enveloped(shape),
      },
      handle: async (call) => {
        return ok(call, response((await verbs.create(call.actor, call.query, sent(call.body))).identifier));
      },
    }),
  ),
  ...(
    [
      ["", "update", z.string(), (identifier: string): unknown => identifier],
      ["/v2", "update-v2", wire.savedShape, wire.savedResponse],
    ] as const
  ).map(([path, verb, shape, response]) =>
    route({
      method: "PUT",
      path: `${BASE}${path}/:identifier`,
      operation: `pipeline.${verb}`,
      maxBody: PIPELINE_BODY,
      access: edit,
      query: projectQuery,
      doc: {
        summary: "Save the next version of a pipeline",
        params,
        body: bodyOf("deploy"),
        answer: enveloped(shape),
        ifMatch: true,
      },
      handle: async (call) => {
        const identifier = identifierOf(call);
        await verbs.update(call.actor, call.query, identifier, sent(call.body), ifMatch(call));
        return ok(call, response(identifier));
      },
    }),
  ),
  route({
    method: "DELETE",
    path: `${BASE}/:identifier`,
    operation: "pipeline.delete",
    access: { permission: "core_pipeline_delete" },
    query: projectQuery,
    doc: {
      summary: "Delete a pipeline",
      description: "Its executions stay, and those under way go on; its triggers are gone.",
      ifMatch: true,
      params: { identifier: "rollout" },
      answer: enveloped(z.literal(true)),
    },
    handle: async (call) => {
      await verbs.remove(call.actor, call.query, identifierOf(call), ifMatch(call));
      return ok(call, true);
    },
  }),
];

const validateRoutes = (verbs: PipelineVerbs): readonly Route[] => [
  route({
    method: "POST",
    path: `${BASE}/validate-yaml-with-schema`,
    operation: "pipeline.validate-yaml",
    maxBody: PIPELINE_BODY,
    access: view,
    query: projectQuery,
    doc: {
      summary: "Check a pipeline as saving it would, and save nothing",
      description: "The answer is its identifier. Faults are answered as saving answers them.",
      body: bodyOf("drafted"),
      answer: enveloped(z.string()),
    },
    handle: async (call) => ok(call, await verbs.validate(call.actor, call.query, sent(call.body))),
  }),
  route({
    method: "POST",
    path: `${BASE}/validate-pipeline-with-schema`,
    operation: "pipeline.validate-saved",
    access: view,
    query: projectQuery.extend({ pipelineIdentifier: z.string({ error: "is required" }).min(1, "is required") }),
    doc: {
      summary: "Check the newest version of a saved pipeline",
      queryExample: { pipelineIdentifier: "deploy" },
      answer: enveloped(z.string()),
    },
    handle: async (call) => ok(call, await verbs.validateSaved(call.actor, call.query, call.query.pipelineIdentifier)),
  }),
];

/** Every pipeline belongs to these modules, so that another one has none. */
const MODULES = new Set(["cd", "pms"]);

const listQuery = projectQuery.extend(springPageQuery(25).shape).extend({
  searchTerm: maybeText("searchTerm"),
  module: maybeText("module"),
  sort: z.enum(SUMMARY_ORDERS, { error: `takes one of ${SUMMARY_ORDERS.join(" ")}` }).default("lastUpdatedAt,DESC"),
  filterIdentifier: z.undefined({ error: "filterIdentifier is not supported yet" }).optional(),
});

const readRoutes = (verbs: PipelineVerbs): readonly Route[] => [
  route({
    method: "POST",
    path: `${BASE}/list`,
    operation: "pipeline.list",
    access: view,
    query: listQuery,
    doc: {
      summary: "List the pipelines of a project",
      body: { schema: wire.summaryFilter, required: false, example: { filterType: "PipelineSetup", name: "deploy" } },
      answer: enveloped(springPageShape(wire.summaryShape)),
    },
    handle: async (call) => {
      const { page, size, sort, searchTerm, module } = call.query;
      const filter = { ...filterOf(call), searchTerm };
      const none = module !== undefined && !MODULES.has(module.toLowerCase());
      const found = await verbs.listSummaries(call.actor, call.query, none ? { identifiers: [] } : filter, {
        limit: size,
        offset: page * size,
        order: sort,
      });
      return ok(call, await springPage(found, wire.summaryResponse));
    },
  }),
  route({
    method: "GET",
    path: `${BASE}/summary/:identifier`,
    operation: "pipeline.summary",
    access: view,
    query: projectQuery,
    doc: { summary: "Read what a list shows of a pipeline", params, answer: enveloped(wire.summaryShape) },
    handle: async (call) =>
      ok(call, wire.summaryResponse(await verbs.getSummary(call.actor, call.query, identifierOf(call)))),
  }),
  route({
    method: "GET",
    path: `${BASE}/:identifier`,
    operation: "pipeline.get",
    access: view,
    query: projectQuery.extend({ getTemplatesResolvedPipeline: flag }),
    doc: {
      summary: "Read the newest version of a pipeline",
      params,
      answer: enveloped(wire.pipelineShape),
      etag: true,
    },
    handle: async (call) => {
      const pipeline = await verbs.get(call.actor, call.query, identifierOf(call));
      return ok(call, wire.pipelineResponse(pipeline, call.query.getTemplatesResolvedPipeline), pipeline.version);
    },
  }),
];

function filterOf(call: EnvelopeCall): SummaryFilter {
  if (call.body.bytes.length === 0) return {};
  const filter = envelopeOf(call, wire.summaryFilter);
  return {
    name: filter.name ?? undefined,
    description: filter.description ?? undefined,
    identifiers: filter.pipelineIdentifiers?.length ? filter.pipelineIdentifiers : undefined,
    tags: filter.pipelineTags?.length
      ? filter.pipelineTags.map(({ key, value }) => ({ key, value: value ? value : null }))
      : undefined,
  };
}

const versionRoutes = (verbs: PipelineVerbs): readonly Route[] => [
  route({
    method: "GET",
    path: `${BASE}/:identifier/versions`,
    operation: "pipeline.list-versions",
    access: view,
    query: projectQuery.extend(springPageQuery(25).shape),
    doc: {
      summary: "List the versions of a pipeline, newest first",
      params,
      answer: enveloped(springPageShape(wire.versionShape)),
    },
    handle: async (call) => {
      const { page, size } = call.query;
      const paging = { limit: size, offset: page * size };
      const versions = await verbs.listVersions(call.actor, call.query, identifierOf(call), paging);
      return ok(call, await springPage(versions, wire.versionResponse));
    },
  }),
  route({
    method: "GET",
    path: `${BASE}/:identifier/versions/:version`,
    operation: "pipeline.get-version",
    access: view,
    query: projectQuery,
    doc: {
      summary: "Read one version of a pipeline",
      params: { ...params, version: "1" },
      answer: enveloped(wire.versionYamlShape),
    },
    handle: async (call) => {
      const version = await verbs.getVersion(call.actor, call.query, identifierOf(call), versionOf(call));
      return ok(call, { ...wire.versionResponse(version), yamlPipeline: version.yaml });
    },
  }),
  route({
    method: "POST",
    path: `${BASE}/:identifier/versions/:version/restore`,
    operation: "pipeline.restore-version",
    access: edit,
    query: projectQuery,
    doc: {
      summary: "Save an earlier version of a pipeline as the next one",
      description: "It is checked as anything that is saved: what an earlier release took, this one may refuse.",
      params: { ...params, version: "1" },
      answer: enveloped(z.strictObject({ identifier: z.string(), version: z.int() })),
      etag: true,
      ifMatch: true,
    },
    handle: async (call) => {
      const identifier = identifierOf(call);
      const versions = { restored: versionOf(call), expected: ifMatch(call) };
      const version = await verbs.restoreVersion(call.actor, call.query, identifier, versions);
      return ok(call, { identifier, version }, version);
    },
  }),
];

/** What is no number is no version either. */
function versionOf(call: Pick<Call, "params">): number {
  const wanted = wholeNumber(2_147_483_647).safeParse(call.params["version"]);
  return wanted.success ? wanted.data : 0;
}
