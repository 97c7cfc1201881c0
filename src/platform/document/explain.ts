import type { z } from "zod";
import { clip } from "./position/path.ts";

const NOUNS: { readonly [expected: string]: string } = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
  null: "nothing",
};

/** Describes a fault to the author of the document. It is zod's error map. */
export function explainIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return expected(NOUNS[issue.expected] ?? issue.expected, issue.input);
    case "invalid_value":
      return expected(listOf(issue.values.map(String)), issue.input);
    case "unrecognized_keys":
      return allowedKeys(issue.inst);
    case "too_small":
      if (issue.origin === "array") return `At least ${issue.minimum} ${plural(issue.minimum, "item")} needed`;
      if (issue.origin === "string") return `At least ${issue.minimum} ${plural(issue.minimum, "character")} needed`;
      return `Must be at least ${issue.minimum}`;
    case "too_big":
      if (issue.origin === "array") return `At most ${issue.maximum} ${plural(issue.maximum, "item")} allowed`;
      if (issue.origin === "string") return `At most ${issue.maximum} ${plural(issue.maximum, "character")} allowed`;
      return `Must be at most ${issue.maximum}`;
    case "invalid_format":
      return issue.pattern ? `Must match ${issue.pattern}` : `Not a valid ${issue.format}`;
    default:
      return undefined;
  }
}

function expected(what: string, input: unknown): string {
  if (input === undefined) return `Missing: expected ${what}`;
  const hint =
    what === "a string" && (typeof input === "number" || typeof input === "boolean") ? "; write it in quotes" : "";
  return `Expected ${what}, got ${describe(input)}${hint}`;
}

function describe(input: unknown): string {
  if (input === null) return "nothing";
  if (Array.isArray(input)) return "a list";
  if (typeof input === "string") return `'${clip(input)}'`;
  if (typeof input === "number" || typeof input === "boolean") return String(input);
  return "a map";
}

/** The fields that an object schema takes; those that are never allowed are the ones not supported yet. */
function allowedKeys(schema: unknown): string {
  const shape: z.core.$ZodShape = (schema as z.core.$ZodObject | undefined)?._zod.def.shape ?? {};
  const names = Object.entries(shape).filter(([, field]) => !isNever(field));
  return `Allowed here: ${names.map(([name]) => name).join(", ")}`;
}

function isNever(field: z.core.$ZodType): boolean {
  const { def } = field._zod;
  if (def.type === "never") return true;
  return def.type === "optional" && isNever((def as z.core.$ZodOptionalDef).innerType);
}

const listOf = (values: readonly string[]): string =>
  values.length === 1 ? (values[0] ?? "") : `one of ${values.join(", ")}`;

const plural = (count: number | bigint, noun: string): string => (Number(count) === 1 ? noun : `${noun}s`);
