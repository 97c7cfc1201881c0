import { newBudget } from "./expression/budget.ts";
import { ExpressionError } from "./expression/error.ts";
import type { Scope } from "./expression/place.ts";
import { evaluateCondition, evaluateTemplate } from "./expression/template.ts";
import type { Condition, Failure, NodeState, PlanNode, Reason } from "./model.ts";
import { definitionOf, parentOf, type Run } from "./run.ts";
import { scopeOf } from "./run-scope.ts";

/** Why a node is not to run, or the failure of asking; undefined if it may. */
export function conditionFault(
  run: Run,
  node: NodeState,
): { readonly reason: Reason } | { readonly failure: Failure } | undefined {
  const definition = definitionOf(run, node);
  const when = whenOf(definition);
  if (!when) return undefined;
  const reason = statusReason(run, node, when.status);
  if (reason !== undefined) return { reason: { kind: "condition", message: reason } };
  if (when.expression === undefined) return undefined;
  const { expression } = when;
  const met = attempted(run, node, (scope) => evaluateCondition(expression, scope, newBudget()));
  if (met === true) return undefined;
  return met === false ? { reason: { kind: "condition", message: `The condition ${expression} is false.` } } : met;
}

/** The text that a template of a node comes to, or the failure of it. */
export const evaluated = (run: Run, node: NodeState, template: string): string | { readonly failure: Failure } =>
  attempted(run, node, (scope) => evaluateTemplate(template, scope));

function attempted<T>(run: Run, node: NodeState, evaluate: (scope: Scope) => T): T | { readonly failure: Failure } {
  try {
    return evaluate(scopeOf(run, node));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { failure: { message: error.message, types: ["ExpressionEvaluation"] } };
  }
}

export const whenOf = (definition: PlanNode): Condition | undefined =>
  definition.kind === "pipeline" || definition.kind === "parallel" ? undefined : definition.when;

function statusReason(run: Run, node: NodeState, status: Condition["status"]): string | undefined {
  if (status === "All") return undefined;
  const hasFailed = isAfterFailure(run, node, status === "Failure");
  if (status === "Success") return hasFailed ? "A node before it has failed." : undefined;
  return hasFailed ? undefined : "Nothing has failed before it.";
}

/**
 * Whether a node comes after a failure: of a sibling in the nearest sequence. `everywhere` also counts the failures of what
 * stands around that, up to the stage, or for a stage up to the pipeline, those that were ignored, and that which a
 * rollback follows.
 */
function isAfterFailure(run: Run, node: NodeState, everywhere: boolean): boolean {
  const isStage = definitionOf(run, node).kind === "stage";
  for (let at = parentOf(run, node); at; at = parentOf(run, at)) {
    const { kind } = definitionOf(run, at);
    if (kind === "pipeline" || kind === "group") {
      if (at.progress?.failed || (everywhere && (at.progress?.ignored || at.progress?.phase === "rollback")))
        return true;
      if (!everywhere) return false;
    }
    if (kind === "stage" && !isStage) return at.progress?.phase === "rollback";
    if (kind === "pipeline") return false;
  }
  return false;
}
