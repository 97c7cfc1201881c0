/** Input sets and overlays over REST. */
import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf, formatOf, textOf } from "../../platform/http/request/bodies.ts";
import { ifMatch } from "../../platform/http/request/if-match.ts";
import { ngPage, ngPageShape, pageNumber, pageSize } from "../../platform/http/response/pages.ts";
import { maybeText, projectQuery } from "../../platform/http/request/queries.ts";
import { LARGE_BODY, route, type Body, type BodyDoc, type Call, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { PipelineText } from "../text.ts";
import {
  chosenSets,
  chosenSetsWithInputs,
  requireNoStages,
  setsBody,
  setsWithInputsBody,
  templateBody,
} from "./bodies.ts";
import { inputSetBody, overlayBody, ROOTS } from "./document.ts";
import { KINDS, type Kind } from "./input-set.ts";
import type { MergeInputSets } from "./merge.ts";
import type { GetInputSet, GetInputTemplate, ListInputSets } from "./read.ts";
import * as wire from "./wire.ts";
import type { CreateInputSet, DeleteInputSet, UpdateInputSet } from "./write.ts";

type Verbs = {
  readonly create: CreateInputSet;
  readonly update: UpdateInputSet;
  readonly remove: DeleteInputSet;
  readonly get: GetInputSet;
  readonly list: ListInputSets;
  readonly template: GetInputTemplate;
  readonly merge: MergeInputSets;
};

const BASE = "/pipeline/api/inputSets";
const view = { permission: "core_inputset_view" };
const edit = { permission: "core_inputset_edit" };

const query = projectQuery.extend({
  pipelineIdentifier: z.string({ error: "is required" }).min(1, "is required").max(128, "takes at most 128 characters"),
});
type SetCall = Call<z.output<typeof query>>;

const queryExample = { pipelineIdentifier: "greeting" };
const SHOP = { orgIdentifier: "default", projectIdentifier: "shop" };
const VALUES = { identifier: "greeting", variables: [{ name: "who", type: "String", value: "world" }] };

/** What differs between the two kinds; the rest of their routes is the same. */
const faces: Readonly<Record<Kind, { noun: string; path: string; what: string; identifier: string; body: BodyDoc }>> = {
  INPUT_SET: {
    noun: "input-set",
    path: BASE,
    what: "an input set",
    identifier: "nightly",
    body: {
      schema: inputSetBody,
      root: ROOTS.INPUT_SET,
      strict: true,
      example: { identifier: "nightly", name: "Nightly", ...SHOP, pipeline: VALUES },
    },
  },
  OVERLAY_INPUT_SET: {
    noun: "overlay",
    path: `${BASE}/overlay`,
    what: "an overlay, a list of input sets of which later ones win",
    identifier: "weekly",
    body: {
      schema: overlayBody,
      root: ROOTS.OVERLAY_INPUT_SET,
      strict: true,
      example: { identifier: "weekly", name: "Weekly", ...SHOP, inputSetReferences: ["basic"] },
    },
  },
};

const sent = (body: Body): PipelineText => ({ text: textOf(body) ?? "", format: formatOf(body) });
const identifierOf = (call: Pick<Call, "params">): string => call.params["inputSetIdentifier"] ?? "";

export const inputSetRoutes = (verbs: Verbs): readonly Route[] => [
  ...KINDS.flatMap((kind) => routesOf(kind, verbs)),
  listRoute(verbs),
  deleteRoute(verbs),
  ...mergeRoutes(verbs),
];

function routesOf(kind: Kind, verbs: Verbs): readonly Route[] {
  const { noun, path, what, identifier, body } = faces[kind];
  const answer = enveloped(wire.shapes[kind]);
  const response = wire.responses[kind];
  const params = { inputSetIdentifier: identifier };
  const named = (call: SetCall) => ({ ...call.query, accountId: call.accountId });
  return [
    route({
      method: "POST",
      path,
      operation: `${noun}.create`,
      maxBody: LARGE_BODY,
      access: edit,
      query,
      doc: { summary: `Create ${what}`, queryExample, body, answer, etag: true },
      handle: async (call) => {
        const set = await verbs.create(call.actor, call.query, kind, sent(call.body));
        return ok(call, response(set, named(call)), set.version);
      },
    }),
    route({
      method: "PUT",
      path: `${path}/:inputSetIdentifier`,
      operation: `${noun}.update`,
      maxBody: LARGE_BODY,
      access: edit,
      query,
      doc: { summary: `Replace ${what}`, params, queryExample, body, answer, etag: true, ifMatch: true },
      handle: async (call) => {
        const which = { kind, identifier: identifierOf(call) };
        const set = await verbs.update(call.actor, call.query, which, sent(call.body), ifMatch(call));
        return ok(call, response(set, named(call)), set.version);
      },
    }),
    route({
      method: "GET",
      path: `${path}/:inputSetIdentifier`,
      operation: `${noun}.get`,
      access: view,
      query,
      doc: { summary: `Read ${what}`, params, queryExample, answer, etag: true },
      handle: async (call) => {
        const set = await verbs.get(call.actor, call.query, kind, identifierOf(call));
        return ok(call, response(set, named(call)), set.version);
      },
    }),
  ];
}

/** Whether a set is outdated is found out by reading its document: pages are shorter than elsewhere. */
const MAX_SIZE = 100;

/** Clients name the page either way. */
const listQuery = query.extend({
  page: pageNumber.optional(),
  size: pageSize(MAX_SIZE).optional(),
  pageIndex: pageNumber.optional(),
  pageSize: pageSize(MAX_SIZE).optional(),
  searchTerm: maybeText("searchTerm"),
  inputSetType: z.enum([...KINDS, "ALL"], { error: `takes one of ${KINDS.join(" ")} ALL` }).default("ALL"),
});

const listRoute = (verbs: Verbs): Route =>
  route({
    method: "GET",
    path: BASE,
    operation: "input-set.list",
    access: view,
    query: listQuery,
    doc: {
      summary: "List the input sets and overlays of a pipeline",
      queryExample,
      answer: enveloped(ngPageShape(wire.summaryShape)),
    },
    handle: async (call) => {
      const { inputSetType, searchTerm, pipelineIdentifier } = call.query;
      const limit = call.query.size ?? call.query.pageSize ?? MAX_SIZE;
      const offset = (call.query.page ?? call.query.pageIndex ?? 0) * limit;
      const filter = { kind: inputSetType === "ALL" ? undefined : inputSetType, searchTerm };
      const found = await verbs.list(call.actor, call.query, filter, { limit, offset });
      return ok(call, await ngPage(found, wire.summaryResponse(pipelineIdentifier)));
    },
  });

const deleteRoute = (verbs: Verbs): Route =>
  route({
    method: "DELETE",
    path: `${BASE}/:inputSetIdentifier`,
    operation: "input-set.delete",
    access: { permission: "core_inputset_delete" },
    query,
    doc: {
      summary: "Delete an input set or an overlay",
      description: "402 while an overlay lists it.",
      ifMatch: true,
      params: { inputSetIdentifier: "nightly" },
      queryExample,
      answer: enveloped(z.literal(true)),
    },
    handle: async (call) => {
      await verbs.remove(call.actor, call.query, identifierOf(call), ifMatch(call));
      return ok(call, true);
    },
  });

const mergeRoutes = (verbs: Verbs): readonly Route[] => [
  route({
    method: "POST",
    path: `${BASE}/template`,
    operation: "input-set.template",
    access: { permission: "core_pipeline_view" },
    query,
    doc: {
      summary: "Read the runtime inputs of a pipeline",
      queryExample,
      body: { schema: templateBody, required: false, example: { stageIdentifiers: [] } },
      answer: enveloped(wire.templateShape),
    },
    handle: async (call) => {
      if (call.body.bytes.length > 0) requireNoStages(envelopeOf(call, templateBody).stageIdentifiers);
      return ok(call, wire.templateResponse(await verbs.template(call.actor, call.query)));
    },
  }),
  ...(
    [
      ["merge", setsBody, chosenSets, {}],
      ["mergeWithTemplateYaml", setsWithInputsBody, chosenSetsWithInputs, { runtimeInputYaml: "pipeline: {}\n" }],
    ] as const
  ).map(([path, schema, chosen, more]) =>
    route({
      method: "POST",
      path: `${BASE}/${path}`,
      operation: `input-set.${path === "merge" ? "merge" : "merge-with-template"}`,
      maxBody: LARGE_BODY,
      access: view,
      query,
      doc: {
        summary: `Merge input sets${path === "merge" ? "" : ", and runtime inputs over them"}`,
        description: "Later sets win. With a set that is outdated nothing is merged, and the answer says why.",
        queryExample,
        body: { schema, example: { inputSetReferences: ["basic"], withMergedPipelineYaml: true, ...more } },
        answer: enveloped(wire.mergeShape),
      },
      handle: async (call) => {
        const { references, last, withPipeline } = chosen(call);
        const options = { last, isComplete: withPipeline };
        return ok(call, wire.mergeResponse(await verbs.merge(call.actor, call.query, references, options)));
      },
    }),
  ),
];
