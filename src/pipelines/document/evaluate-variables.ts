import { Problem } from "../../core/problem.ts";
import { evaluateTemplate, ExpressionError, type NodeId, type Plan, scopeFor } from "../../engine/index.ts";
import { type Context, type Pending, valueOf } from "./context.ts";
import { problem } from "./problems.ts";

/** The same before the run is made: a variable that reads what is not known yet has no value yet. */
export function evaluateKnownVariables(plan: Plan, context: Context, stages: readonly NodeId[]): void {
  for (const pending of context.pending) {
    try {
      evaluateVariables(plan, { ...context, pending: [pending] }, stages);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
}

/**
 * Fills in the variables that hold expressions, once and in the order of the
 * document: each sees the trigger, the facts of the run, and the variables
 * before it. What a value says is never evaluated again, so a payload cannot
 * bring expressions of its own. `stages` are the plan's nodes in order.
 */
export function evaluateVariables(plan: Plan, context: Context, stages: readonly NodeId[]): void {
  for (const pending of context.pending) {
    const node = pending.stage === undefined ? plan.root : (stages[pending.stage] ?? plan.root);
    pending.into[pending.variable.name] = evaluated(pending, plan, node);
  }
}

function evaluated({ variable, place }: Pending, plan: Plan, node: NodeId) {
  const { type, value } = variable;
  try {
    const text = evaluateTemplate(
      String(value),
      scopeFor(plan, () => undefined, node),
    );
    if (type === "String" || Number.isFinite(valueOf({ type, value: text }))) return valueOf({ type, value: text });
    throw problem("pipeline.unresolved_variable", [place, "its type is Number, its value is not one"]);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw problem("pipeline.unresolved_variable", [place, error.message], { cause: error });
  }
}
