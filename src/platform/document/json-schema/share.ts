/** Moves parts that occur several times in a JSON Schema to its definitions. */
import type { JsonSchema } from "./definitions.ts";

/** Parts with fewer characters of JSON are not moved. */
const MIN_LENGTH = 160;

const isMap = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type Part = { readonly name: string; readonly schema: JsonSchema; count: number };

/** The same schema with each such part once, under the name of the first field that has it. */
export function shareDefinitions(schema: JsonSchema): JsonSchema {
  const parts = new Map<string, Part>();
  countParts(schema, "part", parts);
  const { $defs = {}, ...whole } = schema as { readonly $defs?: JsonSchema };
  const taken = new Set(Object.keys($defs));
  const names = new Map<string, string>();
  for (const [text, { name, count }] of parts) {
    if (count < 2) continue;
    let free = name;
    for (let nth = 2; taken.has(free); nth += 1) free = `${name}${nth}`;
    taken.add(free);
    names.set(text, free);
  }
  const shared = [...names].map(
    ([text, name]) => [name, withReferences(parts.get(text)?.schema ?? {}, names)] as const,
  );
  const own = Object.entries($defs).map(([name, one]) => [name, withReferences(one as JsonSchema, names)] as const);
  return { ...withReferences(whole, names), $defs: Object.fromEntries([...own, ...shared]) };
}

/** The description belongs to the field, not to the part. */
function bare(schema: JsonSchema): JsonSchema {
  const { description: _, ...rest } = schema;
  return rest;
}

/** Parts of a part that was counted before are not counted again. */
function countParts(schema: JsonSchema, name: string, parts: Map<string, Part>): void {
  for (const [field, below] of partsOf(schema)) {
    const own = bare(below);
    const text = JSON.stringify(own);
    const known = parts.get(text);
    if (known) known.count += 1;
    if (known) continue;
    if (text.length >= MIN_LENGTH) parts.set(text, { name: field ?? name, schema: own, count: 1 });
    countParts(own, field ?? name, parts);
  }
}

/** The schemas inside a schema; those of fields with their names. */
function partsOf(schema: JsonSchema): readonly (readonly [string | undefined, JsonSchema])[] {
  return Object.entries(schema).flatMap(([keyword, value]): readonly (readonly [string | undefined, JsonSchema])[] => {
    if ((keyword === "properties" || keyword === "$defs") && isMap(value))
      return Object.entries(value).flatMap(([name, one]) => (isMap(one) ? [[name, one] as const] : []));
    if (keyword === "anyOf" && Array.isArray(value)) return value.filter(isMap).map((one) => [undefined, one] as const);
    if ((keyword === "items" || keyword === "additionalProperties") && isMap(value)) return [[undefined, value]];
    return [];
  });
}

function withReferences(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const replace = (value: unknown): unknown => (isMap(value) ? replaced(value, names) : value);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, unknown] => {
      if (keyword === "properties" && isMap(value))
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replace(one)]))];
      if (keyword === "anyOf" && Array.isArray(value)) return [keyword, value.map(replace)];
      if (keyword === "items" || keyword === "additionalProperties") return [keyword, replace(value)];
      return [keyword, value];
    }),
  );
}

function replaced(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const name = names.get(JSON.stringify(bare(schema)));
  if (name === undefined) return withReferences(schema, names);
  const { description } = schema;
  return { $ref: `#/$defs/${name}`, ...(description !== undefined && { description }) };
}
