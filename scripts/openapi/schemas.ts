/** Converts the zod schemas of requests to JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
import { z } from "zod";

export type Json = { readonly [key: string]: unknown };

/** JSON Schema of a request envelope: unknown fields are allowed, except in closed objects. */
export const envelopeSchema = (schema: z.ZodType): Json => allowUnknownFields(jsonSchema(schema, "input")) as Json;

function allowUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => allowUnknownFields(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => key !== "additionalProperties" || part !== false)
      .map(([key, part]) => [key, isNever(part) ? false : allowUnknownFields(part)]),
  );
}

/** JSON Schema of requests (`input`) or answers (`output`). */
export function jsonSchema(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" });
  return simplify(removeRefusedFields(made)) as Json;
}

/** Adapts a schema to OpenAPI tools: each array gets `items`, and an `anyOf` with one branch is replaced by it. */
function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => simplify(item));
  if (typeof value !== "object" || value === null) return value;
  const map: Json = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, simplify(part)]));
  const { anyOf, ...beside } = map;
  if (Array.isArray(anyOf) && anyOf.length === 1) return { ...(anyOf[0] as Json), ...beside };
  if (map["type"] !== "array") return map;
  // An empty array or a tuple: `maxItems` gives its length.
  if (isNever(map["items"])) return { ...map, items: {}, maxItems: 0 };
  const listed = map["prefixItems"];
  return Array.isArray(listed) && !isSchema(map["items"]) ? { ...map, items: {}, maxItems: listed.length } : map;
}

const isSchema = (value: unknown): boolean => typeof value === "object" && value !== null;

/** Removes fields of type `z.never()`, which requests must not have. */
function removeRefusedFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => removeRefusedFields(item));
  if (typeof value !== "object" || value === null) return value;
  // The schema of any JSON value refers to itself; in the document `#` would be the document.
  if ("$ref" in value && value.$ref === "#") return {};
  const entries = Object.entries(value).flatMap(([key, part]): [string, unknown][] => {
    if (key !== "properties") return [[key, removeRefusedFields(part)]];
    const offered = Object.entries(part as Json).filter(([, field]) => !isNever(field));
    return [[key, Object.fromEntries(offered.map(([name, field]) => [name, removeRefusedFields(field)]))]];
  });
  return Object.fromEntries(entries);
}

function isNever(field: unknown): boolean {
  if (typeof field !== "object" || field === null) return false;
  const { not, anyOf } = field as { readonly not?: unknown; readonly anyOf?: readonly unknown[] };
  if (Array.isArray(anyOf))
    return anyOf.every((one) => isNever(one) || (one as Json)["type"] === "null") && anyOf.some((one) => isNever(one));
  return typeof not === "object" && not !== null && Object.keys(not).length === 0;
}
