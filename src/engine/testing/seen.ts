import type { NodeId, Plan } from "../model.ts";
import { ancestorsOf } from "../plan-index.ts";

/** Each definition with those around it, from its parent to the root. */
export const parentsIn = (plan: Plan): readonly (readonly [NodeId, readonly NodeId[]])[] =>
  Object.keys(plan.nodes).map((id) => [id, [...ancestorsOf(plan, id)].map((node) => node.id)]);
