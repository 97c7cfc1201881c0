import type { Scope } from "./expression/place.ts";
import type { NodeState } from "./model.ts";
import { definitionOf, findNode, parentOf, type Run } from "./run.ts";
import { scopeFor } from "./scope.ts";

/** What the expressions of a node see at the time of the event. */
export const scopeOf = (run: Run, node: NodeState): Scope => ({
  ...scopeFor(run.plan, (known) => findNode(run, known), node.id),
  now: run.at,
  ofEvent: isUndoing(run, node) ? run.rollbackBudget : run.budget,
});

/** Whether a node is part of what undoes a stage or group. */
function isUndoing(run: Run, node: NodeState): boolean {
  for (let at: NodeState | undefined = node; at; at = parentOf(run, at)) {
    const definition = definitionOf(run, at);
    if (definition.kind === "group" && definition.role === "rollbackSteps") return true;
  }
  return false;
}
