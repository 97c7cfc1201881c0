/** What editors of pipelines and forms for runs ask for. */
import { stringify } from "yaml";
import { z } from "zod";
import { ok, okConstant } from "../../platform/http/response/answers.ts";
import { envelopeOf, type EnvelopeCall } from "../../platform/http/request/bodies.ts";
import { projectQuery } from "../../platform/http/request/queries.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { LARGE_BODY, route, type Route } from "../../platform/http/routes.ts";
import { exampleOf } from "../example.ts";
import { setsWithInputsBody } from "../input-sets/bodies.ts";
import { PIPELINE_BODY } from "../text.ts";
import type { CheckPipeline } from "./check.ts";
import { ENTITY_TYPES, type GetDocumentSchema } from "./document-schemas.ts";
import type { GetRuntimeInputs, ValidateInputs } from "./runtime-inputs.ts";
import { snippets, snippetShape } from "./snippets.ts";
import * as wire from "./wire.ts";

type Operations = {
  readonly documentSchema: GetDocumentSchema;
  readonly check: CheckPipeline;
  readonly runtimeInputs: GetRuntimeInputs;
  readonly validateInputs: ValidateInputs;
};

const BASE = "/pipeline/api/pipelines";
const view = { permission: "core_pipeline_view" };

export const editingRoutes = (operations: Operations): readonly Route[] => [
  schemaRoute(operations),
  snippetRoute,
  checkRoute(operations),
  ...inputRoutes(operations),
];

const jsonSchemaShape = z.looseObject({
  $schema: z.literal("https://json-schema.org/draft/2020-12/schema"),
  title: z.string(),
  type: z.literal("object"),
  properties: z.record(z.string(), z.record(z.string(), z.unknown())),
  $defs: z.record(z.string(), z.record(z.string(), z.unknown())),
});

const schemaRoute = (operations: Operations): Route =>
  route({
    method: "GET",
    path: "/pipeline/api/yaml-schema",
    operation: "yaml-schema.get",
    access: view,
    query: z.object({ entityType: z.enum(ENTITY_TYPES, { error: `takes one of ${ENTITY_TYPES.join(" ")}` }) }),
    doc: {
      summary: "Read the JSON Schema of pipelines, input sets, overlays or triggers",
      description:
        "For completion and help in editors: each field has a description. The server checks more, such as expressions and " +
        "references. The schema changes with the release only.",
      queryExample: { entityType: "Pipelines" },
      answer: enveloped(jsonSchemaShape),
      etag: true,
      ifNoneMatch: true,
    },
    handle: async (call) => okConstant(call, operations.documentSchema(call.query.entityType)),
  });

const snippetRoute = route({
  method: "GET",
  path: "/pipeline/api/yaml-snippets",
  operation: "yaml-snippet.list",
  access: view,
  query: z.object({}),
  doc: {
    summary: "List pieces of pipelines to begin with: stages, steps and what controls them",
    description: "Each can be saved in its place as it is. The list changes with the release only.",
    answer: enveloped(z.array(snippetShape)),
    etag: true,
    ifNoneMatch: true,
  },
  handle: async (call) => okConstant(call, snippets()),
});

/** The document is a JSON string of the body: escaped characters take two bytes or more. */
const CHECK_BODY = 2 * PIPELINE_BODY;

const checkBody = z.strictObject({
  pipelineYaml: z.string().describe("The document, in YAML or JSON; it need not be complete."),
});

const checkRoute = (operations: Operations): Route =>
  route({
    method: "POST",
    path: `${BASE}/check`,
    operation: "pipeline.check",
    maxBody: CHECK_BODY,
    access: view,
    query: projectQuery,
    doc: {
      summary: "Check a pipeline that is being written, and show what it would run",
      description:
        "Saves nothing. Faults of the document are 200, with line and column: those of saving, and references that a run " +
        "would not find. Scripts are parsed for callers who may save the pipeline.",
      body: { schema: checkBody, example: { pipelineYaml: stringify({ pipeline: exampleOf("drafted") }) } },
      answer: enveloped(wire.checkShape),
    },
    handle: async (call) => {
      const { pipelineYaml: text } = envelopeOf(call, checkBody, { maxBytes: CHECK_BODY });
      // JSON is YAML, too.
      const sent = { text, format: "yaml" } as const;
      return ok(call, wire.checkResponse(await operations.check(call.actor, call.query, sent)));
    },
  });

const inputsBody = setsWithInputsBody.pick({ inputSetReferences: true, runtimeInputYaml: true });
const params = { identifier: "greeting" };

const inputRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: `${BASE}/:identifier/runtimeInputs`,
    operation: "pipeline.runtime-inputs",
    access: view,
    query: projectQuery,
    doc: {
      summary: "Read the runtime inputs of a pipeline as fields of a form",
      description: "A run takes inputSetTemplateYaml with values in the places that templateFqn names.",
      params,
      answer: enveloped(wire.runtimeInputsShape),
    },
    handle: async (call) => {
      const inputs = await operations.runtimeInputs(call.actor, call.query, call.params["identifier"] ?? "");
      return ok(call, wire.runtimeInputsResponse(inputs));
    },
  }),
  route({
    method: "POST",
    path: `${BASE}/:identifier/runtimeInputs/validate`,
    operation: "pipeline.validate-inputs",
    maxBody: LARGE_BODY,
    access: { permission: "core_pipeline_execute" },
    query: projectQuery,
    doc: {
      summary: "Check the inputs of a run, and start nothing",
      description: "What a start would refuse is 200, with the path of each fault.",
      params,
      body: { schema: inputsBody, required: false, example: { inputSetReferences: ["basic"] } },
      answer: enveloped(z.strictObject({ valid: z.boolean(), faults: z.array(wire.inputFaultShape) })),
    },
    handle: async (call) => {
      const given = givenInputs(call);
      const faults = await operations.validateInputs(call.actor, call.query, call.params["identifier"] ?? "", given);
      return ok(call, { valid: faults.length === 0, faults: faults.map(wire.inputFaultResponse) });
    },
  }),
];

function givenInputs(call: EnvelopeCall): Parameters<ValidateInputs>[3] {
  if (call.body.bytes.length === 0) return { references: [], last: undefined };
  const { inputSetReferences, runtimeInputYaml } = envelopeOf(call, inputsBody);
  const last = runtimeInputYaml?.trim() ? ({ text: runtimeInputYaml, format: "yaml" } as const) : undefined;
  return { references: inputSetReferences ?? [], last };
}
