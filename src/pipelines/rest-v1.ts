/** `/v1/orgs/{org}/projects/{project}/pipelines`: the pipelines of a project in the v1 family. */
import { z } from "zod";
import { authorize } from "../access/index.ts";
import { json } from "../platform/http/response/answers.ts";
import { envelopeOf } from "../platform/http/request/bodies.ts";
import { ifMatch } from "../platform/http/request/if-match.ts";
import { flag, maybeText, maybeTexts } from "../platform/http/request/queries.ts";
import { route, type BodyDoc, type Call, type Route } from "../platform/http/routes.ts";
import { V1_BASES, v1Page, v1PageQuery, v1Scope } from "../platform/http/response/v1.ts";
import { writeYaml } from "../platform/document/write.ts";
import { exampleOf } from "./example.ts";
import type { CreatePipeline } from "./create.ts";
import type { GetPipeline } from "./get.ts";
import type { InProject } from "./pipeline.ts";
import { problem } from "./problems.ts";
import type { SummaryFilter, SummaryOrder } from "./store/lists.ts";
import type { ListSummaries } from "./summaries.ts";
import { PIPELINE_BODY, type SentPipeline } from "./text.ts";
import type { DeletePipeline, UpdatePipeline } from "./update.ts";
import { v1Body, v1Pipeline, v1PipelineShape, v1Summary, v1SummaryShape } from "./wire-v1.ts";

type Verbs = {
  readonly create: CreatePipeline;
  readonly get: GetPipeline;
  readonly update: UpdatePipeline;
  readonly remove: DeletePipeline;
  readonly listSummaries: ListSummaries;
};
type Address = { readonly path: string; readonly suffix: string };

const edit = { permission: "core_pipeline_edit" };
const view = { permission: "core_pipeline_view" };
const scoped = { org: "default", project: "shop" };
const noQuery = z.object({});

export const pipelineV1Routes = (verbs: Verbs): readonly Route[] =>
  V1_BASES.flatMap(([base, suffix]) => {
    const address = { path: `${base}/orgs/:org/projects/:project/pipelines`, suffix };
    return [...readRoutes(verbs, address), ...writeRoutes(verbs, address)];
  });

const identifierOf = ({ params }: Pick<Call, "params">): string => params["pipeline"] ?? "";

const SORTS = ["identifier", "name", "created", "updated"] as const;
const ORDER = { asc: "ASC", desc: "DESC" } as const;
const FIELDS = { identifier: "identifier", name: "name", created: "createdAt", updated: "lastUpdatedAt" } as const;

const listQuery = v1PageQuery.extend({
  search_term: maybeText("search_term"),
  name: maybeText("name"),
  description: maybeText("description"),
  pipeline_identifiers: maybeTexts("pipeline_identifiers"),
  tags: maybeTexts("tags"),
  module: maybeText("module"),
  sort: z.enum(SORTS, { error: `takes one of ${SORTS.join(", ")}` }).default("updated"),
  order: z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(z.enum(["asc", "desc"], { error: "takes asc or desc" }))
    .default("desc"),
  filter_identifier: z.undefined({ error: "is not supported" }).optional(),
});
type ListQuery = z.output<typeof listQuery>;

const orderOf = ({ sort, order }: ListQuery): SummaryOrder => `${FIELDS[sort]},${ORDER[order]}`;

/** Another module than those of every pipeline has none. */
function filterOf({ module, pipeline_identifiers: identifiers, tags, ...query }: ListQuery): SummaryFilter {
  if (module !== undefined && !["cd", "pms"].includes(module.toLowerCase())) return { identifiers: [] };
  return {
    searchTerm: query.search_term,
    name: query.name,
    description: query.description,
    identifiers: split(identifiers),
    tags: split(tags)?.map((text) => {
      const [key = "", ...value] = text.split(":");
      return { key, value: value.length === 0 ? null : value.join(":") };
    }),
  };
}

/** Several times, or once with commas. */
function split(texts: readonly string[] | undefined): readonly string[] | undefined {
  const found = (texts ?? []).flatMap((text) => text.split(",")).filter((text) => text !== "");
  return found.length === 0 ? undefined : found;
}

const readRoutes = (verbs: Verbs, { path, suffix }: Address): readonly Route[] => [
  route({
    method: "GET",
    path,
    operation: `pipeline-v1.list${suffix}`,
    access: view,
    account: "header",
    query: listQuery,
    doc: {
      summary: "List the pipelines of a project",
      description: "The totals stand in the headers X-Total-Elements, X-Page-Number and X-Page-Size.",
      params: scoped,
      answer: z.array(v1SummaryShape),
    },
    handle: async (call) => {
      const { page, limit } = call.query;
      const window = { limit, offset: page * limit, order: orderOf(call.query) };
      return v1Page(await verbs.listSummaries(call.actor, v1Scope(call), filterOf(call.query), window), v1Summary);
    },
  }),
  route({
    method: "GET",
    path: `${path}/:pipeline`,
    operation: `pipeline-v1.get${suffix}`,
    access: view,
    account: "header",
    query: z.object({ template_applied: flag }),
    doc: {
      summary: "Read the newest version of a pipeline",
      params: { ...scoped, pipeline: "deploy" },
      answer: v1PipelineShape,
      etag: true,
    },
    handle: async (call) => {
      const scope = v1Scope(call);
      const pipeline = await verbs.get(call.actor, scope, identifierOf(call));
      const body = v1Pipeline(pipeline, scope, call.query.template_applied);
      return { ...json(200, body), version: pipeline.version };
    },
  }),
];

const bodyDoc = (identifier: string): BodyDoc => ({
  schema: v1Body,
  example: { identifier, name: "Deploy", pipeline_yaml: writeYaml({ pipeline: exampleOf(identifier) }) },
});

/** Asked before the body is looked at; the operation asks again. */
const permitEdit = ({ actor, accountId }: Call, scope: InProject, identifier?: string): void =>
  authorize(actor, "core_pipeline_edit", { accountId, ...scope }, identifier);

/** Bytes of the YAML as a string of JSON, where a line end takes two. */
const MAX_BODY = 2 * PIPELINE_BODY;

/** The pipeline of the body; its check throws `pipeline.v1_disagreement` where the fields beside it say something else. */
function sentIn(call: Pick<Call, "body" | "onIgnored">): SentPipeline {
  const body = envelopeOf(call, v1Body, { maxBytes: MAX_BODY });
  return {
    text: body.pipeline_yaml,
    format: "yaml",
    check: (document) => {
      for (const field of ["identifier", "name", "description"] as const) {
        const [beside, inside] = [body[field] ?? "", document[field] ?? ""];
        if (body[field] !== undefined && body[field] !== null && beside !== inside)
          throw problem("pipeline.v1_disagreement", [field, beside, inside]);
      }
    },
  };
}

const writeRoutes = (verbs: Verbs, { path, suffix }: Address): readonly Route[] => [
  route({
    method: "POST",
    path,
    operation: `pipeline-v1.create${suffix}`,
    maxBody: MAX_BODY,
    access: edit,
    account: "header",
    query: noQuery,
    doc: {
      summary: "Create a pipeline",
      params: scoped,
      body: bodyDoc(`created${suffix.replace("-", "_")}`),
      status: 201,
      answer: z.strictObject({ identifier: z.string() }),
    },
    handle: async (call) => {
      const scope = v1Scope(call);
      permitEdit(call, scope);
      return json(201, { identifier: (await verbs.create(call.actor, scope, sentIn(call))).identifier });
    },
  }),
  route({
    method: "PUT",
    path: `${path}/:pipeline`,
    operation: `pipeline-v1.update${suffix}`,
    maxBody: MAX_BODY,
    access: edit,
    account: "header",
    query: noQuery,
    doc: {
      summary: "Save the next version of a pipeline",
      params: { ...scoped, pipeline: "deploy" },
      body: bodyDoc("deploy"),
      answer: z.strictObject({ identifier: z.string(), governance_metadata: z.null() }),
      ifMatch: true,
    },
    handle: async (call) => {
      const [scope, identifier] = [v1Scope(call), identifierOf(call)];
      permitEdit(call, scope, identifier);
      await verbs.update(call.actor, scope, identifier, sentIn(call), ifMatch(call));
      return json(200, { identifier, governance_metadata: null });
    },
  }),
  route({
    method: "DELETE",
    path: `${path}/:pipeline`,
    operation: `pipeline-v1.delete${suffix}`,
    access: { permission: "core_pipeline_delete" },
    account: "header",
    query: noQuery,
    doc: {
      summary: "Delete a pipeline",
      description: "Its executions stay, and those under way go on; its triggers are gone.",
      params: { ...scoped, pipeline: `created${suffix.replace("-", "_")}` },
      status: 204,
      answer: "nothing",
      ifMatch: true,
    },
    handle: async (call) => {
      await verbs.remove(call.actor, v1Scope(call), identifierOf(call), ifMatch(call));
      return { kind: "empty", status: 204 };
    },
  }),
];
