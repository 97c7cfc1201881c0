/** Converts the zod schema of a document to JSON Schema 2020-12, for editors: with descriptions, without refused fields. */
import { z } from "zod";
import { definitions, type JsonSchema } from "./definitions.ts";
import { shareDefinitions } from "./share.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The schema of a document with one key, `root`. Rules that are code are not part of it: the server checks those. */
export function documentSchema(
  root: string,
  schema: z.ZodType,
  options: { readonly title: string; readonly adapt?: (schema: JsonSchema) => JsonSchema },
): JsonSchema {
  const defs: { [name: string]: JsonSchema } = {};
  const body = convert(schema, defs);
  const whole = {
    type: "object",
    properties: { [root]: { description: options.title, ...body } },
    required: [root],
    additionalProperties: false,
    $defs: defs,
  };
  const { adapt = (same) => same } = options;
  return { $schema: DIALECT, title: options.title, ...shareDefinitions(adapt(whole)) };
}

/** The parts of a zod schema that the conversion reads. */
type Def = {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly shape?: { readonly [field: string]: z.ZodType };
  readonly catchall?: z.ZodType;
  readonly valueType?: z.ZodType;
};

type Definitions = { [name: string]: JsonSchema };

const defOf = (schema: z.ZodType): Def => schema._zod.def;

function convert(schema: z.ZodType, defs: Definitions): JsonSchema {
  const { description } = schema;
  const made = named(schema, defs) ?? converted(schema, defs);
  return description === undefined ? made : { ...made, description };
}

function named(schema: z.ZodType, defs: Definitions): JsonSchema | undefined {
  const { name } = definitions.get(schema) ?? {};
  if (name === undefined) return undefined;
  // Known by its name before it is converted, as it may hold itself.
  if (!Object.hasOwn(defs, name)) {
    defs[name] = {};
    defs[name] = converted(schema, defs);
  }
  return { $ref: `#/$defs/${name}` };
}

function converted(schema: z.ZodType, defs: Definitions): JsonSchema {
  const { type, innerType, element, options = [], in: from, out: to, valueType } = defOf(schema);
  switch (type) {
    case "optional":
    case "default":
      return convert(innerType as z.ZodType, defs);
    case "nullable":
      return orNull(convert(innerType as z.ZodType, defs));
    case "pipe":
      // Of a transformation, what is written; otherwise the last form, which is the strictest.
      return convert((to && defOf(to).type === "transform" ? from : to) as z.ZodType, defs);
    case "object":
      return objectOf(schema, defs);
    case "array":
      return { type: "array", items: convert(element as z.ZodType, defs), ...lengthsOf(schema) };
    case "record":
      return { type: "object", additionalProperties: convert(valueType as z.ZodType, defs) };
    case "union":
      return { anyOf: options.map((one) => convert(one, defs)) };
    default:
      return leaf(schema);
  }
}

function objectOf(schema: z.ZodType, defs: Definitions): JsonSchema {
  const { shape = {}, catchall } = defOf(schema);
  const fields = Object.entries(shape).filter(([, field]) => !isRefused(field));
  const required = fields.filter(([, field]) => !takesUndefined(field)).map(([name]) => name);
  const others = catchall && defOf(catchall).type === "never" ? false : catchall && convert(catchall, defs);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, field]) => [name, convert(field, defs)])),
    ...(required.length > 0 && { required }),
    ...(others !== undefined && { additionalProperties: others }),
  };
}

/** Fields that documents must not have, as later versions will support them. */
const isRefused = (field: z.ZodType): boolean => {
  const { type, innerType } = defOf(field);
  return type === "never" || (innerType !== undefined && isRefused(innerType));
};

type Check = { readonly _zod: { readonly def: { readonly minimum?: number; readonly maximum?: number } } };

function lengthsOf(schema: z.ZodType): JsonSchema {
  const checks = (schema._zod.def.checks ?? []) as unknown as readonly Check[];
  const bounds = checks.map(({ _zod: { def } }) => def);
  const minItems = bounds.find(({ minimum }) => minimum !== undefined)?.minimum;
  const maxItems = bounds.find(({ maximum }) => maximum !== undefined)?.maximum;
  return { ...(minItems !== undefined && { minItems }), ...(maxItems !== undefined && { maxItems }) };
}

const takesUndefined = (field: z.ZodType): boolean => field._zod.optin === "optional";

function orNull(schema: JsonSchema): JsonSchema {
  const { type, anyOf } = schema;
  if (typeof type === "string" && !("enum" in schema) && !("const" in schema))
    return { ...schema, type: [type, "null"] };
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...(anyOf as unknown[]), { type: "null" }] };
  const { description, ...rest } = schema;
  return { anyOf: [rest, { type: "null" }], ...(description !== undefined && { description }) };
}

/** A value without parts, as zod converts it. */
function leaf(schema: z.ZodType): JsonSchema {
  const { $schema: _, description: __, ...made } = z.toJSONSchema(schema, { unrepresentable: "any", io: "input" });
  return made;
}
