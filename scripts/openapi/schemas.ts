/** From the schemas that validate requests to those of the document: JSON Schema 2020-12, as OpenAPI 3.1 has it. */
import { z } from "zod";

export type Json = { readonly [key: string]: unknown };

/** The same for the envelope of a request: unknown fields are taken and ignored, but for those of closed objects. */
export const envelopeSchema = (schema: z.ZodType): Json => opened(jsonSchema(schema, "input")) as Json;

function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => opened(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => key !== "additionalProperties" || part !== false)
      .map(([key, part]) => [key, isNever(part) ? false : opened(part)]),
  );
}

/** `input` describes what is sent, `output` what is answered. */
export function jsonSchema(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" });
  return simplified(withoutRefused(made)) as Json;
}

/** The same in the forms that tools for OpenAPI expect: a list says what its items are, and a choice has several branches. */
function simplified(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => simplified(item));
  if (typeof value !== "object" || value === null) return value;
  const map: Json = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, simplified(part)]));
  const { anyOf, ...beside } = map;
  if (Array.isArray(anyOf) && anyOf.length === 1) return { ...(anyOf[0] as Json), ...beside };
  if (map["type"] !== "array") return map;
  // No items at all, or only those that stand one by one: the length says so.
  if (isNever(map["items"])) return { ...map, items: {}, maxItems: 0 };
  const listed = map["prefixItems"];
  return Array.isArray(listed) && !isSchema(map["items"]) ? { ...map, items: {}, maxItems: listed.length } : map;
}

const isSchema = (value: unknown): boolean => typeof value === "object" && value !== null;

/** Fields marked `z.never()` are refused by name: the document does not offer them. */
function withoutRefused(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutRefused(item));
  if (typeof value !== "object" || value === null) return value;
  // Within any JSON there is any JSON; `#` would mean this whole document.
  if ("$ref" in value && value.$ref === "#") return {};
  const kept = Object.entries(value).flatMap(([key, part]): [string, unknown][] => {
    if (key !== "properties") return [[key, withoutRefused(part)]];
    const offered = Object.entries(part as Json).filter(([, field]) => !isNever(field));
    return [[key, Object.fromEntries(offered.map(([name, field]) => [name, withoutRefused(field)]))]];
  });
  return Object.fromEntries(kept);
}

function isNever(field: unknown): boolean {
  if (typeof field !== "object" || field === null) return false;
  const { not, anyOf } = field as { readonly not?: unknown; readonly anyOf?: readonly unknown[] };
  if (Array.isArray(anyOf))
    return anyOf.every((one) => isNever(one) || (one as Json)["type"] === "null") && anyOf.some((one) => isNever(one));
  return typeof not === "object" && not !== null && Object.keys(not).length === 0;
}
