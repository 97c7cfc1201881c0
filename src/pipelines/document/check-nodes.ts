/** What can be said against nodes by where they stand: how many there are, and actions that need a step group. */
import { MAX_NODES } from "../../engine/index.ts";
import type { Path } from "../../platform/document/position/path.ts";
import type { FailureActionDocument, FailureStrategyDocument } from "./failure-strategies.ts";
import { iterationsOf } from "./looping.ts";
import type { PipelineDocument } from "./schema.ts";
import { ancestorsOf, type DocumentNode, nodesIn, type StageNode, visitPipeline } from "./visit.ts";

type NodeFault = { readonly path: Path; readonly message: string };

export function nodeFaults(pipeline: PipelineDocument): readonly NodeFault[] {
  const root = visitPipeline(pipeline);
  return [...countNodes(root).faults, ...nodesIn(root).flatMap(groupActions)];
}

/**
 * Names the innermost node that has too many. Loops whose iterations only the run knows count once, and `below` counts the
 * nodes of the pipeline that a stage runs.
 */
export function countNodes(
  root: DocumentNode,
  below: (stage: StageNode) => number = () => 0,
): { readonly total: number; readonly faults: readonly NodeFault[] } {
  const faults: NodeFault[] = [];
  const count = (node: DocumentNode): number => {
    const chained = node.kind === "stage" ? below(node) : 0;
    const own = node.children.reduce((sum, child) => sum + count(child), 1 + chained);
    const all = own * (node.kind === "pipeline" || node.kind === "parallel" ? 1 : iterationsOf(node.document.strategy));
    if (all > MAX_NODES && faults.length === 0) {
      const message = `An execution has at most ${MAX_NODES} nodes (limit nodesPerExecution), and this comes to ${all}`;
      faults.push({ path: node.path, message });
    }
    return all;
  };
  const total = count(root);
  return { total, faults };
}

const GROUP_ACTIONS: ReadonlySet<string> = new Set(["StepGroupRollback", "RetryStepGroup"]);

function groupActions(node: DocumentNode): readonly NodeFault[] {
  if (node.kind === "pipeline" || node.kind === "parallel") return [];
  if ([node, ...ancestorsOf(node)].some(({ kind }) => kind === "group")) return [];
  const actions = (node.document.failureStrategies ?? []).flatMap(({ onFailure }: FailureStrategyDocument, nth) =>
    chainOf(onFailure.action, [...node.path, "failureStrategies", nth, "onFailure", "action"]),
  );
  return actions
    .filter(({ type }) => GROUP_ACTIONS.has(type))
    .map(({ type, path }) => ({ path: [...path, "type"], message: `${type} needs a step group around the step` }));
}

type Placed = { readonly type: string; readonly path: Path };

/** An action and those that follow it. */
function chainOf(action: FailureActionDocument, path: Path): readonly Placed[] {
  const own = { type: action.type, path };
  if (!("spec" in action)) return [own];
  const { spec } = action;
  if ("timeout" in spec) return [own, ...chainOf(spec.onTimeout.action, [...path, "spec", "onTimeout", "action"])];
  const following = spec.onRetryFailure?.action;
  return following ? [own, ...chainOf(following, [...path, "spec", "onRetryFailure", "action"])] : [own];
}
