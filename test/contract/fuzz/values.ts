/** Valid values of a JSON Schema, and faults that make them invalid. */
import fc from "fast-check";
import { rubbish, rubbishNumber, rubbishText, type Chance } from "./chance.ts";

/** The part of JSON Schema that api/openapi.json uses. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
};

/** Words of the requests: identifiers, names, ids. */
export type Words = readonly string[];

/** Returns a value that the schema allows. */
export function valueOf(c: Chance, schema: Schema, words: Words, depth = 0): unknown {
  if ("const" in schema) return schema.const;
  if (schema.enum) return c.pick(schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return valueOf(c, c.pick(alternatives), words, depth);
  const type = typeof schema.type === "object" ? c.pick(schema.type) : schema.type;
  switch (type ?? "anything") {
    case "object":
      return objectOf(c, schema, words, depth);
    case "array": {
      const least = schema.minItems ?? 0;
      const count = depth > 8 ? least : least + c.upTo(Math.min(3, (schema.maxItems ?? 3) - least));
      return Array.from({ length: count }, () => valueOf(c, schema.items ?? {}, words, depth + 1));
    }
    case "string":
      return textOf(c, schema, words);
    case "integer":
    case "number":
      return numberOf(c, schema);
    case "boolean":
      return c.often(50);
    case "null":
      return null;
    default:
      return rubbish(c);
  }
}

function objectOf(c: Chance, schema: Schema, words: Words, depth: number): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    if (schema.required?.includes(name) || (depth < 8 && c.often(50)))
      put(made, name, valueOf(c, property, words, depth + 1));
  const more = schema.additionalProperties;
  if (typeof more === "object")
    for (let left = c.upTo(2); left > 0; left -= 1) put(made, c.pick(words), valueOf(c, more, words, depth + 1));
  return made;
}

function textOf(c: Chance, { pattern, minLength = 0, maxLength = 64 }: Schema, words: Words): string {
  if (pattern !== undefined) return patterned(c, pattern);
  const word = c.often(50) ? c.pick(words) : "a value".repeat(1 + c.upTo(3));
  return c.often(10) ? "y".repeat(c.pick([minLength, maxLength, maxLength + 1])) : word.slice(0, maxLength);
}

const sampled = new Map<string, readonly string[]>();

/** Returns a text that matches the pattern. The texts are the same in each run. */
function patterned(c: Chance, pattern: string): string {
  const known = sampled.get(pattern) ?? fc.sample(fc.stringMatching(new RegExp(pattern)), { seed: 1, numRuns: 20 });
  sampled.set(pattern, known);
  return c.pick(known);
}

function numberOf(c: Chance, { minimum = -10, maximum = 1_000 }: Schema): number {
  return c.often(30) ? c.pick([minimum, maximum, minimum - 1, maximum + 1]) : minimum + c.upTo(50);
}

/** Defines an own property, also with the name `__proto__`. */
export function put(into: object, name: string, value: unknown): void {
  Object.defineProperty(into, name, { value, writable: true, enumerable: true, configurable: true });
}

type Slot = { readonly of: object; readonly name: string };

function slotsOf(value: unknown): readonly Slot[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((name) => [
    { of: value, name },
    ...slotsOf((value as Record<string, unknown>)[name]),
  ]);
}

const NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "", "\0", "<<", "extra", "é"];

/** Identifying members, with the suffix of their values. */
const NAMED: Readonly<Record<string, string>> = { identifier: "", userName: "@example.com", displayName: "" };

/** Returns the document unchanged or with another identifier, so that it does not exist yet. */
export function withNewIdentifier(c: Chance, example: unknown): unknown {
  if (!c.often(60)) return example;
  const value: unknown = structuredClone(example);
  const made = `made_${c.upTo(500)}`;
  const slot = slotsOf(value).find(({ name }) => name in NAMED);
  if (slot) put(slot.of, slot.name, `${made}${NAMED[slot.name]}`);
  return value;
}

/** Removes, adds, replaces or enlarges one part of a copy of the value. */
export function corrupted(c: Chance, given: unknown): unknown {
  const value: unknown = structuredClone(given);
  const slots = slotsOf(value);
  if (slots.length === 0 || c.often(5)) return rubbish(c);
  const { of, name } = c.pick(slots);
  const here = (of as Record<string, unknown>)[name];
  switch (c.upTo(6)) {
    case 0:
      if (Array.isArray(of)) of.splice(Number(name), 1);
      else Reflect.deleteProperty(of, name);
      break;
    case 1:
      if (!Array.isArray(of)) put(of, c.often(30) ? rubbishText(c) : c.pick(NAMES), rubbish(c));
      break;
    case 2:
      put(of, name, typeof here === "number" ? rubbishNumber(c) : rubbishText(c));
      break;
    case 3:
      put(
        of,
        name,
        Array.from({ length: c.pick([2, 101, 3_000]) }, () => here),
      );
      break;
    case 4:
      put(of, name, typeof here === "string" ? `${here}${rubbishText(c)}` : [here]);
      break;
    default:
      put(of, name, rubbish(c));
  }
  return value;
}
