import type { Json } from "../model.ts";
import { ExpressionError } from "./error.ts";
import { LOOKUP, callMethod, refusalOfCall } from "./functions.ts";
import { MAX_WORK } from "./limits.ts";
import { isList, jsonPlace, type Place, type Scope } from "./place.ts";
import { refusalOfRoot } from "./roots.ts";
import type { BinaryOperator, Expression } from "./syntax.ts";
import { bounded, equals, kindOf, order, plus, truthOf } from "./value.ts";

/** One evaluation: where names lead, and the work it has cost so far. */
export type Evaluation = { readonly scope: Scope; work: number };

/** The value of an expression. Throws ExpressionError when it has none. */
export function evaluate(run: Evaluation, node: Expression): Json {
  spend(run, 1, node.at);
  switch (node.kind) {
    case "literal":
      return node.value;
    case "root":
    case "member":
      return placeOf(run, node).value;
    case "call":
      return node.name === LOOKUP ? placeOf(run, node).value : called(run, node);
    case "not":
      return !truthOf(evaluate(run, node.operand), node.at);
    case "binary":
      return combined(run, node.operator, node.left, node.right, node.at);
    case "choice":
      return evaluate(run, truthOf(evaluate(run, node.condition), node.at) ? node.chosen : node.otherwise);
  }
}

/** Every text that is made is paid for, so that many small steps cannot add up to a long one. */
function spend(run: Evaluation, units: number, at: number): void {
  run.work += units;
  if (run.work > MAX_WORK) throw new ExpressionError("limit", "it takes too many steps", at);
}

function paid(run: Evaluation, value: Json, at: number): Json {
  if (typeof value === "string") spend(run, bounded(value, at).length >> 6, at);
  else if (isList(value)) spend(run, value.length, at);
  return value;
}

function called(run: Evaluation, node: Expression & { kind: "call" }): Json {
  const refusal = refusalOfBase(node) ?? refusedCall(node);
  if (node.of === null || refusal)
    throw refusal ?? new ExpressionError("syntax", `${node.name}() is no function`, node.at);
  const value = evaluate(run, node.of);
  if (typeof value === "string") spend(run, value.length >> 6, node.at);
  const args = node.args.map((arg) => evaluate(run, arg));
  return paid(run, callMethod({ name: node.name, value, args, at: node.at }), node.at);
}

function combined(run: Evaluation, operator: BinaryOperator, left: Expression, right: Expression, at: number): Json {
  switch (operator) {
    case "||":
      return truthOf(evaluate(run, left), at) || truthOf(evaluate(run, right), at);
    case "&&":
      return truthOf(evaluate(run, left), at) && truthOf(evaluate(run, right), at);
    case "==":
      return compared(run, left, right, at);
    case "!=":
      return !compared(run, left, right, at);
    case "<":
      return order(evaluate(run, left), evaluate(run, right), at) < 0;
    case "<=":
      return order(evaluate(run, left), evaluate(run, right), at) <= 0;
    case ">":
      return order(evaluate(run, left), evaluate(run, right), at) > 0;
    case ">=":
      return order(evaluate(run, left), evaluate(run, right), at) >= 0;
    case "+":
      return paid(run, plus(evaluate(run, left), evaluate(run, right), at), at);
  }
}

const isNull = (node: Expression): boolean => node.kind === "literal" && node.value === null;

/** Beside a written `null`, and only there, a path that leads nowhere counts as null. */
function compared(run: Evaluation, left: Expression, right: Expression, at: number): boolean {
  if (isNull(right)) return valueOrNull(run, left) === null;
  if (isNull(left)) return valueOrNull(run, right) === null;
  return equals(evaluate(run, left), evaluate(run, right), at);
}

function valueOrNull(run: Evaluation, node: Expression): Json {
  if (node.kind !== "member" && !(node.kind === "call" && node.name === LOOKUP)) return evaluate(run, node);
  try {
    return evaluate(run, node);
  } catch (error) {
    // A mistaken first word is an error even where null would do.
    if (error instanceof ExpressionError && error.fault === "unresolved" && !refusalOfBase(node)) return null;
    throw error;
  }
}

/** What is wrong with the first word of a path; a call on it is then not worth judging. */
function refusalOfBase(node: Expression): ExpressionError | undefined {
  let base: Expression | null = node;
  while (base?.kind === "member" || base?.kind === "call") base = base.of;
  return base?.kind === "root" ? refusalOfRoot(base.name, base.at) : undefined;
}

function refusedCall({ name, of, args, at }: Expression & { kind: "call" }): ExpressionError | undefined {
  const refusal = refusalOfCall(name, of !== null, args.length);
  return refusal === undefined ? undefined : new ExpressionError("syntax", refusal, at);
}

function placeOf(run: Evaluation, node: Expression): Place {
  if (node.kind === "root") return rootOf(run, node.name, node.at);
  if (node.kind === "member") return memberOf(run, node, node.of, node.key);
  if (node.kind !== "call" || node.name !== LOOKUP) return jsonPlace(evaluate(run, node));
  const key = node.args[0];
  const refusal = refusedCall(node);
  if (node.of === null || key === undefined || refusal) {
    throw refusal ?? new ExpressionError("syntax", `${node.name}() is no function`, node.at);
  }
  return memberOf(run, node, node.of, key);
}

function rootOf(run: Evaluation, name: string, at: number): Place {
  spend(run, 1, at);
  const refusal = refusalOfRoot(name, at);
  if (refusal) throw refusal;
  const place = run.scope.root(name);
  if (place) return place;
  throw new ExpressionError("unresolved", `there is no '${name}' here`, at);
}

function memberOf(run: Evaluation, node: Expression, of: Expression, keyNode: Expression): Place {
  spend(run, 1, node.at);
  const place = placeOf(run, of);
  const key = evaluate(run, keyNode);
  if (typeof key !== "string" && typeof key !== "number") {
    throw new ExpressionError("type", `a name or a position is needed, not ${kindOf(key)}`, keyNode.at);
  }
  const found = place.member(key);
  if (found) return found;
  throw new ExpressionError("unresolved", missing(of, place, key), node.at);
}

/** Names that a message lists, at most, and the characters it shows of each. */
const LISTED = 12;
const SHOWN = 64;

/** "pipeline.variables has no 'x'; it has: a, b": names only, no values. */
function missing(of: Expression, place: Place, key: string | number): string {
  const why = place.notYet(key);
  if (why !== undefined) return why;
  const path = pathText(of);
  if (isList(place.value)) return `${path} is a list of ${place.value.length} and has no ${keyText(key)}`;
  if (typeof place.value !== "object") return `${path} is ${kindOf(place.value)} and has no members`;
  const keys = place.keys();
  if (keys.length === 0) return `${path} has no ${keyText(key)}; it is ${place.value === null ? "null" : "empty"}`;
  const more = keys.length > LISTED ? ` and ${keys.length - LISTED} more` : "";
  const listed = keys.slice(0, LISTED).map((one) => one.slice(0, SHOWN));
  return `${path} has no ${keyText(key)}; it has: ${listed.join(", ")}${more}`;
}

const keyText = (key: string | number): string => (typeof key === "number" ? `[${key}]` : `'${key.slice(0, SHOWN)}'`);

function pathText(node: Expression): string {
  if (node.kind === "root") return node.name;
  const key =
    node.kind === "member" ? node.key : node.kind === "call" && node.name === LOOKUP ? node.args[0] : undefined;
  if ((node.kind !== "member" && node.kind !== "call") || node.of === null) return "the value";
  if (key === undefined) return `${pathText(node.of)}.${node.kind === "call" ? node.name : ""}()`;
  if (key.kind !== "literal") return `${pathText(node.of)}[…]`;
  if (typeof key.value === "number") return `${pathText(node.of)}[${key.value}]`;
  const name = String(key.value);
  return /^[A-Za-z_][A-Za-z0-9_$]*$/.test(name)
    ? `${pathText(node.of)}.${name}`
    : `${pathText(node.of)}["${name.slice(0, SHOWN)}"]`;
}
