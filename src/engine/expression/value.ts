import type { Json } from "../model.ts";
import { ExpressionError } from "./error.ts";
import { MAX_RESULT_BYTES } from "./limits.ts";
import { isList } from "./place.ts";

/** "a text", "a list": messages say what a value is, never what it holds. */
export function kindOf(value: Json): string {
  if (value === null) return "null";
  if (isList(value)) return "a list";
  if (typeof value === "string") return "a text";
  if (typeof value === "number") return "a number";
  return typeof value === "boolean" ? "true or false" : "an object";
}

/** True when the UTF-8 form has more than `limit` bytes; counts only when it may be close. */
export function isLarger(text: string, limit: number): boolean {
  if (text.length * 3 <= limit) return false;
  return text.length > limit || Buffer.byteLength(text) > limit;
}

export function bounded(text: string, at: number): string {
  if (isLarger(text, MAX_RESULT_BYTES)) {
    throw new ExpressionError("limit", `its value has more than ${MAX_RESULT_BYTES} bytes`, at);
  }
  return text;
}

/** The text of a value: lists and objects as JSON. null has none. */
export function textOf(value: Json, at: number): string {
  if (typeof value === "string") return bounded(value, at);
  if (value === null) throw new ExpressionError("unresolved", "its value is null", at);
  if (typeof value !== "object") return String(value);
  try {
    return bounded(JSON.stringify(value), at);
  } catch (error) {
    if (error instanceof ExpressionError) throw error;
    throw new ExpressionError("limit", "its value nests too deep", at);
  }
}

/** true, false, and the texts "true" and "false", because outputs of scripts are always texts. */
export function truthOf(value: Json, at: number): boolean {
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "false") return value === "true";
  throw new ExpressionError("type", `true or false is needed here, not ${kindOf(value)}`, at);
}

const DECIMAL = /^-?[0-9]{1,15}(?:\.[0-9]{1,15})?$/;

/** The number that a value is or that its text writes. */
export function numberIn(value: Json): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" && DECIMAL.test(value) ? Number(value) : undefined;
}

/**
 * Equal values of one type are equal. A number equals a text that is its decimal
 * form, a boolean the text "true" or "false", because outputs are always texts.
 */
export function equals(left: Json, right: Json, at: number): boolean {
  if (left === null || right === null) return left === right;
  if (typeof left === "object" || typeof right === "object") {
    throw new ExpressionError("type", "lists and objects cannot be compared", at);
  }
  if (typeof left === typeof right) return left === right;
  if (typeof left === "number" || typeof right === "number") return numbersEqual(left, right);
  return String(left) === String(right);
}

function numbersEqual(left: Json, right: Json): boolean {
  const first = numberIn(left);
  return first !== undefined && first === numberIn(right);
}

/** Negative, zero or positive. Two texts by their characters; as soon as one side is a number, as numbers. */
export function order(left: Json, right: Json, at: number): number {
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : left > right ? 1 : 0;
  const first = numberIn(left);
  const second = numberIn(right);
  if (first !== undefined && second !== undefined) return first - second;
  throw new ExpressionError("type", `${kindOf(left)} and ${kindOf(right)} have no order`, at);
}
