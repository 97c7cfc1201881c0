import type { Json } from "../model.ts";
import { negative } from "./arithmetic.ts";
import { ExpressionError } from "./error.ts";
import { functionOf, methodOf } from "./functions.ts";
import { isEmptyValue } from "./functions/collections.ts";
import type { FunctionRow } from "./functions/row.ts";
import { MAX_WORK } from "./limits.ts";
import { isStrict, operate } from "./operators.ts";
import { isList, jsonPlace, type Place, type Scope } from "./place.ts";
import { refusalOfRoot } from "./roots.ts";
import { type CallExpression, type Expression, isLookup, type PathStep, stepOf } from "./syntax.ts";
import { bounded, equals, kindOf, truthOf } from "./value.ts";

/** One evaluation: where names lead, and the work it has cost so far. */
export type Evaluation = { readonly scope: Scope; work: number };

/** The value of an expression. Throws ExpressionError when it has none. */
export function evaluate(run: Evaluation, node: Expression): Json {
  spend(run, 1, node.at);
  switch (node.kind) {
    case "literal":
      return node.value;
    case "list":
      return node.items.map((item) => evaluate(run, item));
    case "root":
    case "member":
      return placeOf(run, node).value;
    case "call":
      return isLookup(node) ? placeOf(run, node).value : called(run, node);
    case "not":
      return !truthOf(evaluate(run, node.operand), node.at);
    case "negate":
      return negative(evaluate(run, node.operand), node.at);
    case "binary":
      return combined(run, node);
    case "choice":
      return evaluate(run, truthOf(evaluate(run, node.condition), node.at) ? node.chosen : node.otherwise);
  }
}

/** Where a path leads to. Throws ExpressionError when it leads nowhere. */
export const placeAt = (scope: Scope, path: Expression): Place => placeOf({ scope, work: 0 }, path);

/** Every text that is read or made is paid for, so that many small steps cannot add up to a long one. */
function spend(run: Evaluation, units: number, at: number): void {
  run.work += units;
  if (run.work > MAX_WORK) throw new ExpressionError("limit", "it takes too many steps", at);
}

function paid(run: Evaluation, value: Json, at: number): Json {
  if (typeof value === "string") spend(run, bounded(value, at).length >> 6, at);
  else if (isList(value)) spend(run, value.length, at);
  return value;
}

function called(run: Evaluation, node: CallExpression): Json {
  const { name, of, at } = node;
  const base = refusalOfBase(run, node);
  if (base) throw base;
  const row = rowOf(node);
  const value = of === null ? null : paid(run, node.isSafe ? valueOrNull(run, of) : evaluate(run, of), at);
  if (node.isSafe && value === null) return null;
  const args = node.args.map((arg) => paid(run, row.takesMissing ? valueOrNull(run, arg) : evaluate(run, arg), at));
  const call = { name, value, args, at, spend: (units: number) => spend(run, units, at), now: nowOf(run.scope) };
  return paid(run, row.run(call), at);
}

function nowOf({ now, root }: Scope): number | undefined {
  if (now !== undefined) return now;
  const start = root("pipeline")?.member("startTs")?.value;
  return typeof start === "number" ? start : undefined;
}

function rowOf({ name, of, args, at }: CallExpression): FunctionRow {
  const row = of === null ? functionOf(name, args.length) : methodOf(name, args.length);
  if (typeof row === "string") throw new ExpressionError("syntax", row, at);
  return row;
}

type Binary = Expression & { readonly kind: "binary" };

function combined(run: Evaluation, { operator, left, right, at }: Binary): Json {
  if (isStrict(operator)) {
    const sides = [evaluate(run, left), evaluate(run, right)] as const;
    return paid(run, operate(operator, sides, { at, spend: (units) => spend(run, units, at) }), at);
  }
  switch (operator) {
    case "||":
      return truthOf(evaluate(run, left), at) || truthOf(evaluate(run, right), at);
    case "&&":
      return truthOf(evaluate(run, left), at) && truthOf(evaluate(run, right), at);
    case "??":
      return valueOrNull(run, left) ?? evaluate(run, right);
    case "?:": {
      const value = valueOrNull(run, left);
      return value === false || isEmptyValue(value) ? evaluate(run, right) : value;
    }
    case "==":
      return compared(run, left, right, at);
    case "!=":
      return !compared(run, left, right, at);
  }
}

const isNull = (node: Expression): boolean => node.kind === "literal" && node.value === null;

/** Beside a written `null`, and only there, a path that leads nowhere counts as null. */
function compared(run: Evaluation, left: Expression, right: Expression, at: number): boolean {
  if (isNull(right)) return valueOrNull(run, left) === null;
  if (isNull(left)) return valueOrNull(run, right) === null;
  return equals(evaluate(run, left), evaluate(run, right), at);
}

/** null for a path that leads nowhere in this run; a name that no run has stays an error. */
function valueOrNull(run: Evaluation, node: Expression): Json {
  try {
    return evaluate(run, node);
  } catch (error) {
    if (error instanceof ExpressionError && error.fault === "unresolved") return null;
    throw error;
  }
}

/** What is wrong with the first word of a path; a call on it is then not worth judging. */
function refusalOfBase(run: Evaluation, node: Expression): ExpressionError | undefined {
  let base: Expression | null = node;
  while (base?.kind === "member" || base?.kind === "call") base = base.of;
  return base?.kind === "root" ? refusalIn(run, base.name, base.at) : undefined;
}

const refusalIn = ({ scope }: Evaluation, name: string, at: number): ExpressionError | undefined =>
  refusalOfRoot(name, at, (local) => scope.root(local) !== undefined);

function placeOf(run: Evaluation, node: Expression): Place {
  if (node.kind === "root") return rootOf(run, node.name, node.at);
  const step = stepOf(node);
  if (!step) return jsonPlace(evaluate(run, node));
  spend(run, 1, node.at);
  const place = step.isSafe ? placeOrNull(run, step.of) : placeOf(run, step.of);
  if (step.isSafe && place.value === null) return place;
  return memberOf(run, node, place);
}

function rootOf(run: Evaluation, name: string, at: number): Place {
  spend(run, 1, at);
  const refusal = refusalIn(run, name, at);
  if (refusal) throw refusal;
  const place = run.scope.root(name);
  if (place) return place;
  throw new ExpressionError("unresolved", `there is no '${name}' here`, at);
}

function placeOrNull(run: Evaluation, node: Expression): Place {
  try {
    return placeOf(run, node);
  } catch (error) {
    if (error instanceof ExpressionError && error.fault === "unresolved") return jsonPlace(null);
    throw error;
  }
}

function memberOf(run: Evaluation, node: Expression, place: Place): Place {
  const step = stepOf(node);
  if (!step) return place;
  const key = evaluate(run, step.key);
  if (typeof key !== "string" && typeof key !== "number") {
    throw new ExpressionError("type", `a name or a position is needed, not ${kindOf(key)}`, step.key.at);
  }
  const found = place.member(key);
  if (found) return found;
  if (step.isSafe) return jsonPlace(null);
  throw new ExpressionError("unresolved", missing(step, place, key), node.at);
}

/** Names that a message lists, at most, and the characters it shows of each. */
const LISTED = 12;
const SHOWN = 64;

/** "pipeline.variables has no 'x'; it has: a, b": names only, no values. */
function missing({ of, key: written }: PathStep, place: Place, key: string | number): string {
  const why = place.notYet(key);
  if (why !== undefined) return why;
  const path = pathText(of);
  // A computed name is a value.
  const name = written.kind === "literal" ? keyText(key) : "such member";
  if (isList(place.value)) return `${path} is a list of ${place.value.length} and has no ${name}`;
  if (typeof place.value !== "object") return `${path} is ${kindOf(place.value)} and has no members`;
  const keys = place.keys();
  if (keys.length === 0) return `${path} has no ${name}; it is ${place.value === null ? "null" : "empty"}`;
  const more = keys.length > LISTED ? ` and ${keys.length - LISTED} more` : "";
  const listed = keys.slice(0, LISTED).map((one) => one.slice(0, SHOWN));
  return `${path} has no ${name}; it has: ${listed.join(", ")}${more}`;
}

const keyText = (key: string | number): string => (typeof key === "number" ? `[${key}]` : `'${key.slice(0, SHOWN)}'`);

function pathText(node: Expression): string {
  if (node.kind === "root") return node.name;
  const step = stepOf(node);
  if (!step) return node.kind === "call" && node.of !== null ? `${pathText(node.of)}.${node.name}()` : "the value";
  const of = pathText(step.of);
  if (step.key.kind !== "literal") return `${of}[…]`;
  const { value } = step.key;
  if (typeof value === "number") return `${of}[${value}]`;
  const name = String(value);
  return /^[A-Za-z_][A-Za-z0-9_$]*$/.test(name) ? `${of}.${name}` : `${of}["${name.slice(0, SHOWN)}"]`;
}
