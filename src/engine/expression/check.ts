import { positionAt, type TextFault } from "../position.ts";
import { ExpressionError, aboutExpression } from "./error.ts";
import { LOOKUP, refusalOfCall } from "./functions.ts";
import { MAX_FAULTS } from "./limits.ts";
import { refusalOfRoot } from "./roots.ts";
import type { Expression } from "./syntax.ts";
import { barePath, secretOf } from "./secrets.ts";
import { parseTemplate, type TemplatePart } from "./template.ts";

/** A path that a text reads: as far as it is written out, from its root on. */
export type Reference = {
  readonly path: readonly (string | number)[];
  /** Where the path begins in the text. */
  readonly offset: number;
};

/** The paths that the expressions of a text read, in the order of the text. Throws ExpressionError on bad syntax. */
export function referencesOf(text: string): readonly Reference[] {
  const found: Reference[] = [];
  for (const part of parseTemplate(text).parts) if (part.kind === "expression") collect(part.node, found);
  return found;
}

/** The same, with whether the expression is that path and nothing else. */
export function readsOf(text: string): readonly (Reference & { readonly isAlone: boolean })[] {
  return parseTemplate(text).parts.flatMap((part) => {
    if (part.kind !== "expression") return [];
    const found: Reference[] = [];
    collect(part.node, found);
    const isAlone = barePath(part.node) !== undefined;
    return found.map((one) => ({ ...one, isAlone }));
  });
}

/**
 * What can be said against a text before it runs: syntax, names and functions
 * that do not exist or are not run yet, runtime inputs without a value. An empty
 * list means that only values can still fail. `mayAskSecrets`: an expression may ask for one, where its value is never stored.
 */
export function checkTemplate(text: string, { mayAskSecrets = false } = {}): readonly TextFault[] {
  try {
    const errors = parseTemplate(text).parts.flatMap((part) =>
      part.kind === "expression" && !(mayAskSecrets && secretOf(part.node)) ? faultsOf(part) : [],
    );
    return errors.slice(0, MAX_FAULTS).map((error) => faultAt(text, error));
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
export function faultsOf(part: TemplatePart & { kind: "expression" }): readonly ExpressionError[] {
  const found: ExpressionError[] = [];
  inspect(part.node, found);
  return found.map((error) => aboutExpression(error, part.text));
}

function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "literal":
    case "root":
      return [];
    case "member":
      return [node.of, node.key];
    case "call":
      return node.of === null ? node.args : [node.of, ...node.args];
    case "not":
      return [node.operand];
    case "binary":
      return [node.left, node.right];
    case "choice":
      return [node.condition, node.chosen, node.otherwise];
  }
}

function inspect(node: Expression, found: ExpressionError[]): void {
  const before = found.length;
  if (node.kind === "root") {
    const refusal = refusalOfRoot(node.name, node.at);
    if (refusal) found.push(refusal);
  }
  for (const child of childrenOf(node)) inspect(child, found);
  // A call on something that is refused is not judged: `secrets.getValue` is about secrets.
  if (node.kind !== "call" || found.length > before) return;
  const refusal = refusalOfCall(node.name, node.of !== null, node.args.length);
  if (refusal !== undefined) found.push(refusalOfNamespace(node, refusal));
}

function refusalOfNamespace(node: Expression & { kind: "call" }, refusal: string): ExpressionError {
  const root = node.of === null ? refusalOfRoot(node.name, node.at) : undefined;
  return root?.fault === "unsupported" ? root : new ExpressionError("syntax", refusal, node.at);
}

function collect(node: Expression, found: Reference[]): void {
  const path = pathOf(node);
  if (path) {
    found.push(path);
    for (const inner of dynamicKeys(node)) collect(inner, found);
    return;
  }
  for (const child of childrenOf(node)) collect(child, found);
}

const keyOf = (node: Expression): Expression | undefined => {
  if (node.kind === "member") return node.key;
  return node.kind === "call" && node.name === LOOKUP ? node.args[0] : undefined;
};

/** The written-out part of a path; undefined when the node is none. */
function pathOf(node: Expression): Reference | undefined {
  if (node.kind === "root") return { path: [node.name], offset: node.at };
  const key = keyOf(node);
  if (key === undefined || (node.kind !== "member" && node.kind !== "call") || node.of === null) return undefined;
  const base = pathOf(node.of);
  if (!base || key.kind !== "literal" || dynamicKeys(node.of).length > 0) return base;
  const { value } = key;
  return typeof value === "string" || typeof value === "number" ? { ...base, path: [...base.path, value] } : base;
}

function dynamicKeys(node: Expression): readonly Expression[] {
  if ((node.kind !== "member" && node.kind !== "call") || node.of === null) return [];
  const key = keyOf(node);
  const before = dynamicKeys(node.of);
  return key === undefined || key.kind === "literal" ? before : [...before, key];
}
