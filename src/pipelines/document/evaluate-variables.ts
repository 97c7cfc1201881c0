import { Problem } from "../../core/problem.ts";
import {
  type Budget,
  evaluateTemplate,
  ExpressionError,
  newBudget,
  type NodeId,
  numberFault,
  type Plan,
  scopeFor,
} from "../../engine/index.ts";
import { pathText } from "../../platform/document/position/path.ts";
import { type Context, type Pending, valueOf } from "./context.ts";
import { problem } from "./problems.ts";

/** The same before the run is made: a variable that reads what is not known yet has no value yet. */
export function evaluateKnownVariables(plan: Plan, context: Context, stages: readonly NodeId[]): void {
  const budget = newBudget();
  for (const pending of context.pending) {
    try {
      evaluateVariables(plan, { ...context, pending: [pending] }, stages, budget);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
}

/**
 * Fills in the variables that hold expressions, once and in the order of the
 * document: each sees the trigger, the facts of the run, and the variables
 * before it. What a value says is never evaluated again, so a payload cannot
 * bring expressions of its own. `stages` are the plan's nodes in order. The values are bounded in sum, as each of
 * them may repeat the same large payload.
 */
export function evaluateVariables(
  plan: Plan,
  context: Context,
  stages: readonly NodeId[],
  budget: Budget = newBudget(),
): void {
  for (const pending of context.pending) {
    const node = pending.stage === undefined ? plan.root : (stages[pending.stage] ?? plan.root);
    pending.into[pending.variable.name] = evaluated(pending, plan, node, budget);
  }
}

function evaluated({ variable, place, path }: Pending, plan: Plan, node: NodeId, budget: Budget) {
  const { type, value, required } = variable;
  const refuse = (reason: string, cause?: unknown): never => {
    const faults = [{ path: pathText(path), message: reason }];
    throw problem("pipeline.unresolved_variable", [place, reason], { faults, cause });
  };
  try {
    const text = evaluateTemplate(
      String(value),
      scopeFor(plan, () => undefined, node),
      budget,
    );
    if (required === true && text === "") return refuse("a value is required, and the expression gives an empty text");
    const fault = type === "Number" ? numberFault(text) : undefined;
    return fault === undefined ? valueOf({ type, value: text }) : refuse(fault);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return refuse(error.message, error);
  }
}
