/** JSON Schemas of documents: what an editor completes and explains. The server checks more than they say. */
import type { z } from "zod";
import type { JsonSchema } from "../../platform/document/json-schema/definitions.ts";
import { documentSchema } from "../../platform/document/json-schema/json-schema.ts";
import { constantData, type ConstantData } from "../../platform/http/response/answers.ts";
import { pipelineSchema } from "../document/schema.ts";
import { inputSetBody, overlayBody, ROOTS } from "../input-sets/document.ts";

export const ENTITY_TYPES = ["Pipelines", "InputSets", "OverlayInputSets", "Triggers"] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

/** The key of a document, and what stands under it. */
export type DocumentForm = { readonly root: string; readonly schema: z.ZodType };

export type GetDocumentSchema = (type: EntityType) => ConstantData;

/** Each is made when it is first asked for. */
export function createDocumentSchemas(trigger: DocumentForm): GetDocumentSchema {
  const made = new Map<EntityType, ConstantData>();
  return (type) => {
    const schema = made.get(type) ?? constantData(schemaOf(type, trigger));
    made.set(type, schema);
    return schema;
  };
}

function schemaOf(type: EntityType, trigger: DocumentForm): JsonSchema {
  switch (type) {
    case "Pipelines":
      return documentSchema("pipeline", pipelineSchema("saved"), { title: "Pipeline" });
    case "Triggers":
      return documentSchema(trigger.root, trigger.schema, { title: "Trigger" });
    case "OverlayInputSets":
      return documentSchema(ROOTS.OVERLAY_INPUT_SET, overlayBody, { title: "Overlay" });
    case "InputSets": {
      const { pipeline } = inputSetBody.shape;
      const whole = pipelineSchema("saved").describe(pipeline.description ?? "");
      return documentSchema(ROOTS.INPUT_SET, inputSetBody.extend({ pipeline: whole }), {
        title: "Input set",
        adapt: withPartialPipeline,
      });
    }
  }
}

/** An input set has some of the fields of its pipeline. */
function withPartialPipeline(schema: JsonSchema): JsonSchema {
  const { properties, $defs, ...rest } = schema as JsonSchema & Record<"properties" | "$defs", JsonSchema>;
  const set = properties[ROOTS.INPUT_SET] as JsonSchema;
  const fields = set["properties"] as JsonSchema;
  const pipeline = partial(fields["pipeline"]);
  return {
    ...rest,
    properties: { [ROOTS.INPUT_SET]: { ...set, properties: { ...fields, pipeline } } },
    $defs: partial($defs),
  };
}

/** No field is required, no list has a least length, and a text may be given as any scalar. */
function partial(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(partial);
  if (typeof value !== "object" || value === null) return value;
  const { type, enum: words, const: word } = value as JsonSchema;
  const isText = words === undefined && word === undefined && [type].flat().includes("string");
  return Object.fromEntries(
    Object.entries(value)
      .filter(([keyword, part]) => !(Array.isArray(part) && keyword === "required") && keyword !== "minItems")
      .map(([keyword, part]) => [
        keyword,
        keyword === "type" && isText ? [...new Set([type, "number", "boolean"].flat())] : partial(part),
      ]),
  );
}
