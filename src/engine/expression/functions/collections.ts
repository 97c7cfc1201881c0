/** Methods and functions of lists and objects; several of them take texts, too. */
import type { Json } from "../../model.ts";
import { ExpressionError } from "../error.ts";
import { isList, isObject } from "../place.ts";
import { equals, kindOf, textOf } from "../value.ts";
import { type Call, type FunctionRow, row, subject, textArgument, wholeArgument } from "./row.ts";
import { firstOffset } from "./search.ts";
import { boundedPieces } from "./text.ts";

export const COLLECTION_METHODS: readonly FunctionRow[] = [
  row("contains(item)", "Whether a text holds another, or a list an item.", {
    example: '<+"feature/a".contains("/")>',
    result: true,
    run: contains,
  }),
  row("indexOf(item, from?)", "The first position of a text or an item; else -1.", {
    example: '<+"a/b/c".indexOf("/")>',
    result: 1,
    run: indexOf,
  }),
  row("length()", "How many characters or items; also `size`.", {
    example: '<+"abc".length()>',
    result: 3,
    run: ({ value, ...call }) => sizeOf({ ...call, value }, value),
  }),
  row("size()", "How many characters, items or members.", {
    example: '<+["a", "b"].size()>',
    result: 2,
    run: (call) => sizeOf(call, call.value),
  }),
  row("isEmpty()", "Whether there are no characters, items or members.", {
    example: '<+"".isEmpty()>',
    result: true,
    run: (call) => sizeOf(call, call.value) === 0,
  }),
  row("join(separator)", "The items of a list as one text.", {
    example: '<+["a", "b"].join(", ")>',
    result: "a, b",
    run: join,
  }),
  row("containsKey(name)", "Whether an object has a member.", {
    example: '<+trigger.payload.containsKey("ref")>',
    result: true,
    run: containsKey,
  }),
  row("keySet()", "The names of an object's members, as a list.", {
    example: "<+trigger.payload.keySet()>",
    result: ["ref"],
    run: keySet,
  }),
];

export const COLLECTION_FUNCTIONS: readonly FunctionRow[] = [
  row("empty(x)", "Whether `x` is null, leads nowhere, or has no content.", {
    example: "<+empty(trigger.payload.missing)>",
    result: true,
    takesMissing: true,
    run: ({ args }) => isEmptyValue(args[0] ?? null),
  }),
  row("size(x)", "How many characters, items or members `x` has.", {
    example: '<+size("abc")>',
    result: 3,
    run: (call) => sizeOf(call, call.args[0] ?? null),
  }),
];

/** null and what has no characters, items or members. */
export function isEmptyValue(value: Json): boolean {
  if (value === null || value === "") return true;
  if (isList(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

function sizeOf(call: Call, value: Json): number {
  if (isList(value)) return value.length;
  if (isObject(value)) return Object.keys(value).length;
  return subject({ ...call, value }).length;
}

function contains(call: Call): boolean {
  const { value, args, at } = call;
  if (isList(value)) return positionIn(value, args[0] ?? null, at) >= 0;
  return firstOffset(subject(call), textArgument(call, 0)) >= 0;
}

/** The position of an equal item; -1 if there is none. */
export function positionIn(list: readonly Json[], item: Json, at: number): number {
  return list.findIndex((one) => (typeof one !== "object" || one === null) && equals(one, item, at));
}

function indexOf(call: Call): number {
  const { value, args, at } = call;
  if (isList(value)) return positionIn(value, args[0] ?? null, at);
  const text = subject(call);
  const from = wholeArgument(call, 1, { least: 0, most: text.length, usual: 0 });
  return firstOffset(text, textArgument(call, 0), from);
}

function join(call: Call): string {
  const { value, at } = call;
  if (!isList(value)) throw new ExpressionError("type", `join() needs a list, not ${kindOf(value)}`, at);
  const separator = textArgument(call, 0);
  const pieces = boundedPieces(call);
  for (const [index, item] of value.entries()) {
    if (index > 0) pieces.add(separator);
    pieces.add(textOf(item, at));
  }
  return pieces.join();
}

function objectOf({ value, name, at }: Call): { readonly [key: string]: Json } {
  if (isObject(value)) return value;
  throw new ExpressionError("type", `${name}() needs an object, not ${kindOf(value)}`, at);
}

function containsKey(call: Call): boolean {
  return Object.hasOwn(objectOf(call), textArgument(call, 0));
}

function keySet(call: Call): readonly string[] {
  return Object.keys(objectOf(call));
}
