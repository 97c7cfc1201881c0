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
import type { DocumentNode } from "./visit.ts";

/** A plan, and the id in it of each node of the document that it was made from. */
export type Outline = { readonly plan: Plan; readonly idOf: (node: Pick<DocumentNode, "names">) => NodeId };

/** The same before the run is made: a variable that reads what is not known yet has no value yet. */
export function evaluateKnownVariables(outline: Outline, context: Context): void {
  const budget = newBudget();
  for (const pending of context.pending) {
    try {
      evaluateVariables(outline, { ...context, pending: [pending] }, budget);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
}

/**
 * Fills in the variables that hold expressions, once and in the order of the
 * document: each sees the trigger, the facts of the run, and the variables
 * before it. What a value says is never evaluated again, so a payload cannot
 * bring expressions of its own. The values are bounded in sum, as each of them may repeat the same large payload.
 */
export function evaluateVariables({ plan, idOf }: Outline, context: Context, budget: Budget = newBudget()): void {
  for (const pending of context.pending)
    pending.into[pending.variable.name] = evaluated(pending, plan, idOf(pending.node), budget);
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
