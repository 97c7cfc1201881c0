import type { Scope } from "./expression/place.ts";
import type { NodeState } from "./model.ts";
import { findNode, type Run } from "./run.ts";
import { scopeFor } from "./scope.ts";

/** What the expressions of a node see at the time of the event. */
export const scopeOf = (run: Run, { id }: NodeState): Scope => ({
  ...scopeFor(run.plan, (known) => findNode(run, known), id),
  now: run.at,
  ofEvent: run.budget,
});
