import type { Json } from "../model.ts";
import { ExpressionError } from "./error.ts";
import { MAX_ITEMS, MAX_RESULT_BYTES } from "./limits.ts";
import { isList } from "./place.ts";
import { equals, kindOf } from "./value.ts";

/** A call on a value: `at` is where it stands, for messages. */
type Call = { readonly name: string; readonly value: Json; readonly args: readonly Json[]; readonly at: number };

type Method = { readonly least: number; readonly most: number; readonly run: (call: Call) => Json };

const method = (least: number, most: number, run: (call: Call) => Json): Method => ({ least, most, run });

/**
 * Every function there is. Searching and replacing take their argument
 * literally: no pattern from a user is ever compiled.
 */
const METHODS: ReadonlyMap<string, Method> = new Map([
  ["toLowerCase", method(0, 0, (call) => subject(call).toLowerCase())],
  ["toUpperCase", method(0, 0, (call) => subject(call).toUpperCase())],
  ["trim", method(0, 0, (call) => subject(call).trim())],
  ["contains", method(1, 1, contains)],
  ["startsWith", method(1, 1, (call) => subject(call).startsWith(argument(call, 0)))],
  ["endsWith", method(1, 1, (call) => subject(call).endsWith(argument(call, 0)))],
  ["replace", method(2, 2, replace)],
  ["split", method(1, 1, split)],
  ["length", method(0, 0, length)],
  ["size", method(0, 0, length)],
  ["substring", method(1, 2, substring)],
]);

/** `.get(key)` is a lookup and not in the table: the evaluator follows it as a path. */
export const LOOKUP = "get";

/** Why `name` cannot be called with that many arguments; undefined when it can. */
export function refusalOfCall(name: string, isMethod: boolean, count: number): string | undefined {
  const found = METHODS.get(name);
  const [least, most] = name === LOOKUP ? [1, 1] : [found?.least ?? -1, found?.most ?? -1];
  if (!isMethod || most < 0) {
    const known = [...METHODS.keys(), LOOKUP].map((one) => `.${one}()`).join(", ");
    return `there is no function '${name}'; there are: ${known}`;
  }
  if (count >= least && count <= most) return undefined;
  const wanted = least === most ? String(least) : `${least} to ${most}`;
  return `${name}() takes ${wanted} argument${most === 1 ? "" : "s"}, not ${count}`;
}

/** The value of `value.name(…args)`. Throws ExpressionError. */
export function callMethod(call: Call): Json {
  const refusal = refusalOfCall(call.name, true, call.args.length);
  if (refusal !== undefined) throw new ExpressionError("syntax", refusal, call.at);
  const found = METHODS.get(call.name);
  if (!found) throw new ExpressionError("syntax", `${call.name}() cannot be called on ${kindOf(call.value)}`, call.at);
  return found.run(call);
}

function subject({ value, name, at }: Call): string {
  // Numbers and booleans of a document are the texts that its author wrote.
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new ExpressionError("type", `${name}() needs a text, not ${kindOf(value)}`, at);
}

function argument({ args, name, at }: Call, index: number): string {
  const value = args[index];
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new ExpressionError("type", `${name}() needs a text as argument ${index + 1}`, at);
}

function position({ args, name, at }: Call, index: number, most: number): number {
  const value = args[index] ?? most;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new ExpressionError("type", `${name}() needs a position from 0 to ${most} as argument ${index + 1}`, at);
}

function contains(call: Call): boolean {
  const { value, args, at } = call;
  const wanted = args[0] ?? null;
  if (isList(value)) return value.some((item) => typeof item !== "object" && equals(item, wanted, at));
  return subject(call).includes(argument(call, 0));
}

function replace(call: Call): string {
  const parts = pieces(call);
  const by = argument(call, 1);
  const length = subject(call).length + (parts.length - 1) * by.length;
  // Decided before the text is built: the product can be far larger than both factors.
  if (length > MAX_RESULT_BYTES * 2) throw new ExpressionError("limit", "the replaced text is too long", call.at);
  return parts.join(by);
}

function split(call: Call): readonly string[] {
  const parts = pieces(call);
  if (parts.length > MAX_ITEMS)
    throw new ExpressionError("limit", `split() makes more than ${MAX_ITEMS} items`, call.at);
  return parts;
}

function pieces(call: Call): readonly string[] {
  const by = argument(call, 0);
  if (by === "")
    throw new ExpressionError("type", `${call.name}() needs a text that is not empty as argument 1`, call.at);
  return subject(call).split(by);
}

function length(call: Call): number {
  return isList(call.value) ? call.value.length : subject(call).length;
}

function substring(call: Call): string {
  const text = subject(call);
  const start = position(call, 0, text.length);
  const end = position(call, 1, text.length);
  if (end < start) throw new ExpressionError("type", "substring() ends before it begins", call.at);
  return text.slice(start, end);
}
