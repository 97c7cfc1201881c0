/** What a function or method of expressions is: its evaluation and its documentation in one row. */
import type { Json } from "../../model.ts";
import { ExpressionError } from "../error.ts";
import { MAX_PATH_CHARS } from "../limits.ts";
import { kindOf } from "../value.ts";

/** `value` stands before the dot, null for a function; `at` is the place of the call, for messages. */
export type Call = {
  readonly name: string;
  readonly value: Json;
  readonly args: readonly Json[];
  readonly at: number;
  /** Counts work. Throws ExpressionError beyond the limit. */
  readonly spend: (units: number) => void;
  /** Epoch milliseconds of the evaluation; undefined where there is no time. */
  readonly now: number | undefined;
};

type Details = {
  readonly example: string;
  readonly result: Json;
  readonly run: (call: Call) => Json;
  /** A path that leads nowhere arrives as null, instead of failing the expression. */
  readonly takesMissing?: true;
};

export type FunctionRow = Details & {
  /** `trim` for a method, `json.select` for a function of a namespace, `size` for a plain function. */
  readonly name: string;
  /** Names of the arguments; the optional ones end with `?`. */
  readonly params: readonly string[];
  readonly description: string;
};

/** `signature` has the form `substring(from, to?)`. */
export function row(signature: string, description: string, details: Details): FunctionRow {
  const [name = "", params = ""] = signature.slice(0, -1).split("(");
  return { name, params: params === "" ? [] : params.split(", "), description, ...details };
}

/** Why a function does not take that many arguments; undefined when it does. */
export function refusalOfCount({ name, params }: FunctionRow, count: number): string | undefined {
  const least = params.filter((param) => !param.endsWith("?")).length;
  const most = params.length;
  if (count >= least && count <= most) return undefined;
  const wanted = least === most ? String(least) : `${least} to ${most}`;
  return `${name}() takes ${wanted} argument${most === 1 ? "" : "s"}, not ${count}`;
}

/** Numbers and booleans of a document are the texts that its author wrote. */
function asText(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** The text before the dot. */
export function subject({ value, name, at }: Call): string {
  const text = asText(value);
  if (text !== undefined) return text;
  throw new ExpressionError("type", `${name}() needs a text, not ${kindOf(value)}`, at);
}

export function textArgument({ args, name, at }: Call, index: number): string {
  const text = asText(args[index]);
  if (text !== undefined) return text;
  throw new ExpressionError("type", `${name}() needs a text as argument ${index + 1}`, at);
}

/** An argument that has to hold at least one character. */
export function filledArgument(call: Call, index: number): string {
  const text = textArgument(call, index);
  if (text !== "") return text;
  throw new ExpressionError("type", `${call.name}() needs a text that is not empty as argument ${index + 1}`, call.at);
}

/** A path into a document: short, as each part of it may visit the whole document. */
export function pathArgument(call: Call, index: number): string {
  const path = filledArgument(call, index);
  if (path.length <= MAX_PATH_CHARS) return path;
  throw new ExpressionError("limit", `a path has more than ${MAX_PATH_CHARS} characters`, call.at);
}

type Range = { readonly least: number; readonly most: number; readonly usual?: number };

/** A whole number; texts of digits count, as outputs of scripts are always texts. */
export function wholeArgument({ args, name, at }: Call, index: number, { least, most, usual }: Range): number {
  const given = args[index] ?? usual;
  const value = typeof given === "string" && /^-?[0-9]{1,9}$/.test(given) ? Number(given) : given;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new ExpressionError(
    "type",
    `${name}() needs a whole number from ${least} to ${most} as argument ${index + 1}`,
    at,
  );
}
