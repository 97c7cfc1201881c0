import { positionAt, type TextFault } from "../position.ts";
import { ExpressionError, aboutExpression } from "./error.ts";
import { functionOf, methodOf } from "./functions.ts";
import { MAX_FAULTS } from "./limits.ts";
import { type HasLocal, refusalOfRoot } from "./roots.ts";
import { refusalOfPath } from "./names/check-path.ts";
import { barePath, secretOf } from "./secrets.ts";
import { childrenOf, type CallExpression, type Expression, stepOf } from "./syntax.ts";
import { parseCondition, parseTemplate, type ExpressionPart } from "./template.ts";

/** A path that a text reads: as far as it is written out, from its root on. */
export type Reference = {
  readonly path: readonly (string | number)[];
  /** Where the path begins in the text. */
  readonly offset: number;
};

/** `isCondition`: the text is one expression without `<+ >` around it, as the condition of a `when`. */
type Form = { readonly isCondition?: boolean };

function expressionsOf(text: string, { isCondition = false }: Form): readonly ExpressionPart[] {
  return isCondition ? [parseCondition(text)] : parseTemplate(text).parts.filter((part) => part.kind === "expression");
}

/** The paths that the expressions of a text read, in the order of the text. Throws ExpressionError on bad syntax. */
export function referencesOf(text: string, form: Form = {}): readonly Reference[] {
  const found: Reference[] = [];
  for (const part of expressionsOf(text, form)) collect(part.node, found);
  return found;
}

/** The same, with whether the expression is that path and nothing else. */
export function readsOf(text: string, form: Form = {}): readonly (Reference & { readonly isAlone: boolean })[] {
  return expressionsOf(text, form).flatMap((part) => {
    const found: Reference[] = [];
    collect(part.node, found);
    const isAlone = barePath(part.node) !== undefined;
    return found.map((one) => ({ ...one, isAlone }));
  });
}

/**
 * The paths that have to lead somewhere. Left out are those that may be missing: before and after `?.`, before `??` and
 * `?:`, beside `null`, and in functions such as `empty`.
 */
export function requiredReadsOf(text: string, form: Form = {}): readonly Reference[] {
  const found: Reference[] = [];
  for (const part of expressionsOf(text, form)) collectRequired(part.node, found);
  return found;
}

function collectRequired(node: Expression, found: Reference[]): void {
  const path = pathOf(node);
  if (path) {
    if (!hasSafeStep(node)) found.push(path);
    for (const inner of dynamicKeys(node)) collectRequired(inner, found);
    return;
  }
  for (const child of childrenOf(node)) if (!mayBeMissing(node, child)) collectRequired(child, found);
}

function hasSafeStep(path: Expression): boolean {
  const step = stepOf(path);
  return step !== undefined && (step.isSafe || hasSafeStep(step.of));
}

function mayBeMissing(node: Expression, child: Expression): boolean {
  if (node.kind === "call") {
    if (child === node.of) return node.isSafe === true;
    const row = node.of === null ? functionOf(node.name, node.args.length) : undefined;
    return typeof row === "object" && row.takesMissing === true;
  }
  if (node.kind !== "binary") return false;
  const { operator, left, right } = node;
  if (operator === "??" || operator === "?:") return child === left;
  return (operator === "==" || operator === "!=") && (isNull(left) || isNull(right));
}

const isNull = (node: Expression): boolean => node.kind === "literal" && node.value === null;

type CheckOptions = Form & { readonly mayAskSecrets?: boolean; readonly names?: readonly string[] | undefined };

/**
 * What can be said against a text before it runs: syntax, names and functions
 * that do not exist or are not run yet, runtime inputs without a value. An empty
 * list means that only values can still fail. `mayAskSecrets`: an expression may ask for one, where its value is never stored.
 * `names`: those that have a value in this text and not in all.
 */
export function checkTemplate(
  text: string,
  { mayAskSecrets = false, names = [], ...form }: CheckOptions = {},
): readonly TextFault[] {
  try {
    const faults: TextFault[] = [];
    for (const part of expressionsOf(text, form)) {
      if (faults.length >= MAX_FAULTS) break;
      if (!mayAskSecrets || !secretOf(part.node))
        faults.push(...faultsOf(part, names).map((error) => faultAt(text, error)));
    }
    return faults.slice(0, MAX_FAULTS);
  } catch (error) {
    if (error instanceof ExpressionError) return [faultAt(text, error)];
    throw error;
  }
}

/** The error with the line and column of its offset. */
export const faultAt = (text: string, error: ExpressionError): TextFault => ({
  ...positionAt(text, error.offset),
  message: error.message,
});

/** What can be said against one parsed expression before it runs. */
export function faultsOf(part: ExpressionPart, names: readonly string[] = []): readonly ExpressionError[] {
  const found: ExpressionError[] = [];
  inspect(part.node, found, (name) => names.includes(name));
  return found.map((error) => aboutExpression(error, part.text));
}

function inspect(node: Expression, found: ExpressionError[], hasLocal: HasLocal): void {
  if (node.kind === "root" || stepOf(node)) {
    inspectPath(node, found, hasLocal);
    return;
  }
  const before = found.length;
  for (const child of childrenOf(node)) inspect(child, found, hasLocal);
  // A call on something that is refused is not judged: `secrets.getValue` is about secrets.
  if (node.kind !== "call" || found.length > before) return;
  const refusal = refusalOfCall(node, hasLocal);
  if (refusal) found.push(refusal);
}

function inspectPath(path: Expression, found: ExpressionError[], hasLocal: HasLocal): void {
  const refusal = refusalOfPath(path, hasLocal);
  if (refusal) found.push(refusal);
  let base = path;
  for (let step = stepOf(base); step; step = stepOf(base)) {
    inspect(step.key, found, hasLocal);
    base = step.of;
  }
  if (base.kind !== "root") inspect(base, found, hasLocal);
}

function refusalOfCall({ name, of, args, at }: CallExpression, hasLocal: HasLocal): ExpressionError | undefined {
  const row = of === null ? functionOf(name, args.length) : methodOf(name, args.length);
  if (typeof row !== "string") return undefined;
  const root = of === null ? refusalOfRoot(name, at, hasLocal) : undefined;
  return root?.fault === "unsupported" ? root : new ExpressionError("syntax", row, at);
}

/** The functions of this namespace read the time of the evaluation. */
const CLOCK = "datetime";

function collect(node: Expression, found: Reference[]): void {
  if (node.kind === "call" && node.name.startsWith(`${CLOCK}.`)) found.push({ path: [CLOCK], offset: node.at });
  const path = pathOf(node);
  if (path) {
    found.push(path);
    for (const inner of dynamicKeys(node)) collect(inner, found);
    return;
  }
  for (const child of childrenOf(node)) collect(child, found);
}

/** The written-out part of a path; undefined when the node is none. */
function pathOf(node: Expression): Reference | undefined {
  if (node.kind === "root") return { path: [node.name], offset: node.at };
  const step = stepOf(node);
  const base = step && pathOf(step.of);
  if (!step || !base || step.key.kind !== "literal" || dynamicKeys(step.of).length > 0) return base;
  const { value } = step.key;
  return typeof value === "string" || typeof value === "number" ? { ...base, path: [...base.path, value] } : base;
}

function dynamicKeys(node: Expression): readonly Expression[] {
  const step = stepOf(node);
  if (!step) return [];
  const before = dynamicKeys(step.of);
  return step.key.kind === "literal" ? before : [...before, step.key];
}
