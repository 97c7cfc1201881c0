import type { ChainedInput, ChainedOutput, NodeId, Plan, PlanNode } from "./model.ts";
import { childrenOf, nodeOf } from "./plan-index.ts";

/** What passes the border of a chained pipeline. */
export type Border = {
  /** The id of what was saved. */
  readonly saved?: string;
  readonly inputs?: readonly ChainedInput[];
  readonly outputs?: readonly ChainedOutput[];
};

/**
 * The plan with the plan of another pipeline in the place of the steps of a stage. Its nodes have ids of their own, and
 * its expressions the context of their own pipeline.
 */
export function withChained(
  plan: Plan,
  stageId: NodeId,
  { child, saved, inputs = [], outputs = [] }: Border & { readonly child: Plan },
): Plan {
  const stage = nodeOf(plan, stageId);
  const root = nodeOf(child, child.root);
  if (stage.kind !== "stage" || root.kind !== "pipeline") throw new Error(`node ${stageId} cannot run a pipeline`);
  const { rollback, ...kept } = stage;
  const replaced = new Set([...below(plan, stage.steps), ...(rollback === undefined ? [] : below(plan, rollback))]);
  const chaining: PlanNode = { ...kept, steps: root.id };
  const chained: PlanNode = {
    ...root,
    ...(saved !== undefined && { saved }),
    ...(inputs.length > 0 && { inputs }),
    ...(outputs.length > 0 && { outputs }),
  };
  const others = Object.entries(plan.nodes).filter(([id]) => !replaced.has(id));
  return {
    ...plan,
    nodes: { ...Object.fromEntries(others), ...child.nodes, [stageId]: chaining, [root.id]: chained },
    chained: { ...plan.chained, ...child.chained, [root.id]: child.context },
  };
}

/** The definition and all below it. */
function below(plan: Plan, id: NodeId): readonly NodeId[] {
  const found: NodeId[] = [];
  const open = [id];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    found.push(at);
    open.push(...childrenOf(nodeOf(plan, at)));
  }
  return found;
}
