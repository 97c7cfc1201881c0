import { type Budget, spend } from "./budget.ts";
import { ExpressionError, aboutExpression } from "./error.ts";
import { evaluate, type Evaluation } from "./evaluate.ts";
import { MAX_RESULT_BYTES, MAX_TEMPLATE_CHARS } from "./limits.ts";
import type { Json } from "../model.ts";
import { parseBareExpression, parseExpressionAt } from "./parser.ts";
import type { Scope } from "./place.ts";
import type { Expression } from "./syntax.ts";
import { textOf, truthOf } from "./value.ts";

/** `start` and `end` are offsets in the template; `text` of an expression includes `<+` and `>`. */
export type TemplatePart =
  | { readonly kind: "literal"; readonly start: number; readonly end: number; readonly text: string }
  | {
      readonly kind: "expression";
      readonly start: number;
      readonly end: number;
      readonly text: string;
      readonly node: Expression;
    };

export type ExpressionPart = TemplatePart & { readonly kind: "expression" };

export type Template = { readonly parts: readonly TemplatePart[] };

/** True when a text holds anything to parse. */
export const hasExpression = (text: string): boolean => text.includes("<+");

/** Cuts a text into literal parts and expressions. Throws ExpressionError with the offset of what is wrong. */
export function parseTemplate(text: string): Template {
  if (!hasExpression(text)) return { parts: text === "" ? [] : [literal(text, 0, text.length)] };
  if (text.length > MAX_TEMPLATE_CHARS) {
    throw new ExpressionError("limit", `The text has more than ${MAX_TEMPLATE_CHARS} characters`, MAX_TEMPLATE_CHARS);
  }
  const parts: TemplatePart[] = [];
  let done = 0;
  for (let at = text.indexOf("<+"); at >= 0; at = text.indexOf("<+", done)) {
    if (at > done) parts.push(literal(text, done, at));
    const part = expressionAt(text, at);
    parts.push(part);
    done = part.end;
  }
  if (done < text.length) parts.push(literal(text, done, text.length));
  return { parts };
}

const literal = (text: string, start: number, end: number): TemplatePart => ({
  kind: "literal",
  start,
  end,
  text: text.slice(start, end),
});

/** Characters of an unfinished expression that a message quotes. */
const QUOTED_CHARS = 40;

/** The expression whose `<+` stands at `start`, quoted in the error when it is none. */
export function expressionAt(text: string, start: number): ExpressionPart {
  try {
    const { node, end } = parseExpressionAt(text, start);
    return { kind: "expression", start, end, text: text.slice(start, end), node };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const line = text.slice(start, start + QUOTED_CHARS).split("\n", 1)[0] ?? "";
    throw aboutExpression(error, line);
  }
}

/**
 * The text with each expression replaced by its value, in one pass: what a value
 * holds is never looked at again, also when it reads like an expression.
 * Throws ExpressionError, whose message names the expression. `budget` bounds several texts together.
 */
export function evaluateTemplate(text: string, scope: Scope, budget?: Budget): string {
  if (!hasExpression(text)) {
    spendAll([budget, scope.ofEvent], Buffer.byteLength(text));
    return text;
  }
  const budgets = [budget, scope.ofEvent];
  spendAll(budgets, 0);
  const run: Evaluation = { scope, work: 0 };
  let filled = "";
  let bytes = 0;
  for (const part of parseTemplate(text).parts) {
    const piece = part.kind === "literal" ? part.text : aboutPart({ run, part, budgets }, () => textIn(run, part));
    // Counted piece by piece: counting the whole text after each piece would be quadratic.
    bytes += Buffer.byteLength(piece);
    if (bytes > MAX_RESULT_BYTES) {
      throw new ExpressionError("limit", `The filled text has more than ${MAX_RESULT_BYTES} bytes`, part.start);
    }
    filled += piece;
  }
  spendAll(budgets, bytes);
  return filled;
}

/** The one expression that a text is, apart from blanks around it; undefined for any other text. */
function singleExpression(text: string): ExpressionPart | undefined {
  const start = text.search(/\S/);
  if (!text.startsWith("<+", start)) return undefined;
  const part = expressionAt(text, start);
  return text.slice(part.end).trim() === "" ? part : undefined;
}

/**
 * The value of a text: that of its expression, with its type, if the text is one expression and nothing else; the
 * filled text otherwise. Throws ExpressionError.
 */
export function evaluateValue(text: string, scope: Scope, budget: Budget): Json {
  const part = text.length > MAX_TEMPLATE_CHARS ? undefined : singleExpression(text);
  if (!part) return evaluateTemplate(text, scope, budget);
  const budgets = [budget, scope.ofEvent];
  spendAll(budgets, 0);
  const run: Evaluation = { scope, work: 0 };
  const { value, bytes } = aboutPart({ run, part, budgets }, () => {
    const result = evaluate(run, part.node);
    // null has no text, but a caller may have a use for it.
    const bytes = result === null ? 0 : Buffer.byteLength(textOf(result, part.start));
    // What has a text is not deep.
    requireStorable(result, part.start);
    return { value: result, bytes };
  });
  spendAll(budgets, bytes);
  return value;
}

/** A text that is one expression without `<+ >` around it, as `<+stage.name> == "x"`. Throws ExpressionError. */
export function parseCondition(text: string): ExpressionPart {
  try {
    return { kind: "expression", start: 0, end: text.length, text, node: parseBareExpression(text) };
  } catch (error) {
    if (error instanceof ExpressionError) throw aboutExpression(error, text);
    throw error;
  }
}

/** Whether a condition, as that of a `when`, is met. Throws ExpressionError, also if its value is no boolean. */
export function evaluateCondition(text: string, scope: Scope, budget: Budget): boolean {
  const budgets = [budget, scope.ofEvent];
  spendAll(budgets, 0);
  const part = parseCondition(text);
  const run: Evaluation = { scope, work: 0 };
  const isMet = aboutPart({ run, part, budgets }, () => truthOf(evaluate(run, part.node), 0));
  spendAll(budgets, 0);
  return isMet;
}

function textIn(run: Evaluation, part: ExpressionPart): string {
  const text = textOf(evaluate(run, part.node), part.start);
  requireStorable(text, part.start);
  return text;
}

/** Functions can make texts of others that the database cannot store. */
function requireStorable(value: Json, at: number): void {
  if (typeof value === "string") {
    const fault = value.includes("\0") ? "a NUL character" : value.isWellFormed() ? undefined : "half of a character";
    if (fault !== undefined) throw new ExpressionError("type", `its value has ${fault}, which cannot be stored`, at);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      requireStorable(key, at);
      requireStorable(part, at);
    }
  }
}

type Budgets = readonly (Budget | undefined)[];

function spendAll(budgets: Budgets, bytes: number): void {
  for (const budget of budgets) if (budget) spend(budget, bytes, 0);
}

/** Counts a text that is used as it is beside those that are evaluated. Throws ExpressionError. */
export const countText = ({ ofEvent }: Pick<Scope, "ofEvent">, text: string): void =>
  spendAll([ofEvent], Buffer.byteLength(text));

type Costs = { readonly run: Evaluation; readonly part: ExpressionPart; readonly budgets: Budgets };

/** Names the expression in what is thrown, and counts its work, also that of a failure. */
function aboutPart<T>({ run, part, budgets }: Costs, evaluateIt: () => T): T {
  const before = run.work;
  try {
    return evaluateIt();
  } catch (error) {
    if (error instanceof ExpressionError) throw aboutExpression(error, part.text);
    throw error;
  } finally {
    for (const budget of budgets) if (budget) budget.work += run.work - before;
  }
}
