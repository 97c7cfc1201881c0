/** The operators that calculate. A whole result that a double cannot hold exactly is an error, never another number. */
import type { Json } from "../model.ts";
import { ExpressionError } from "./error.ts";
import { bounded, kindOf, numberIn, textOf } from "./value.ts";

type Calculation = "-" | "*" | "/" | "%";

/** Numbers add; as soon as one side is a text, texts join. */
export function plus(left: Json, right: Json, at: number): Json {
  if (typeof left === "number" && typeof right === "number") return exact(left + right, [left, right], at);
  if (typeof left === "string" || typeof right === "string") return bounded(textOf(left, at) + textOf(right, at), at);
  throw new ExpressionError("type", `${kindOf(left)} and ${kindOf(right)} cannot be added`, at);
}

/** Texts that are decimal numbers count as numbers, because outputs of scripts are always texts. */
export function calculate(operator: Calculation, [left, right]: readonly [Json, Json], at: number): number {
  const first = numberIn(left);
  const second = numberIn(right);
  if (first === undefined || second === undefined) {
    throw new ExpressionError("type", `'${operator}' needs two numbers, not ${kindOf(left)} and ${kindOf(right)}`, at);
  }
  return exact(resultOf(operator, [first, second], at), [first, second], at);
}

function resultOf(operator: Calculation, [left, right]: readonly [number, number], at: number): number {
  switch (operator) {
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return quotient(left, right, at);
    case "%":
      if (right === 0) throw new ExpressionError("type", "a division by zero", at);
      return left % right;
  }
}

/** Whole numbers divide as in JEXL: what remains is left out. */
function quotient(left: number, right: number, at: number): number {
  if (right === 0) throw new ExpressionError("type", "a division by zero", at);
  return Number.isInteger(left) && Number.isInteger(right) ? Math.trunc(left / right) : left / right;
}

export function negative(value: Json, at: number): number {
  const number = numberIn(value);
  if (number === undefined) throw new ExpressionError("type", `'-' needs a number, not ${kindOf(value)}`, at);
  return exact(-number, [number], at);
}

function exact(result: number, operands: readonly number[], at: number): number {
  // Of whole numbers beyond this, a double leaves some out.
  const isWrong = operands.every(Number.isInteger) && !Number.isSafeInteger(result);
  if (isWrong || !Number.isFinite(result)) throw new ExpressionError("type", "the result is too large a number", at);
  // -0 would be written "0" as text and "-0" by nothing else.
  return result === 0 ? 0 : result;
}
