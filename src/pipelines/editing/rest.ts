/** What an editor of pipelines asks for. */
import { z } from "zod";
import { okConstant } from "../../platform/http/response/answers.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { ENTITY_TYPES, type GetDocumentSchema } from "./document-schemas.ts";

type Operations = { readonly documentSchema: GetDocumentSchema };

const view = { permission: "core_pipeline_view" };

const jsonSchemaShape = z.looseObject({
  $schema: z.literal("https://json-schema.org/draft/2020-12/schema"),
  title: z.string(),
  type: z.literal("object"),
  properties: z.record(z.string(), z.record(z.string(), z.unknown())),
  $defs: z.record(z.string(), z.record(z.string(), z.unknown())),
});

export const editingRoutes = (operations: Operations): readonly Route[] => [
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
  }),
];
