/** Approvals that a node needs and has not got. */
import { childOf, countOf } from "./children.ts";
import type { NodeId, NodeState } from "./model.ts";
import { ancestorsOf, childrenOf, nodeOf } from "./plan-index.ts";
import { definitionOf, findNode, instanceAt, type Run } from "./run.ts";
import { letsPass } from "./status.ts";

/**
 * Whether the node is an approval step that has not passed, or one stands below it, also in a chained pipeline. Ended
 * instances count as well as open ones, but only those of the last attempt. What undoes a node is left out: who lets the
 * node pass does not run it.
 */
export function lacksApproval(run: Run, node: NodeState): boolean {
  const needing = definitionsNeedingApproval(run, node.definition);
  if (!needing.has(node.definition)) return false;
  const open = [node];
  for (let at = open.pop(); at; at = open.pop()) {
    if (letsPass(at.status)) continue;
    const count = mainCountOf(run, at);
    // A step, a node that has not begun, or a loop whose values could not be evaluated.
    if (at.progress === null || count === 0) return true;
    const main = { ...at, progress: { ...at.progress, phase: "main" as const } };
    for (let index = 0; index < count; index += 1) {
      const child = childOf(run, main, index);
      if (!needing.has(child.definition)) continue;
      const found = findNode(run, instanceAt(run, child).id);
      if (!found) return true;
      open.push(found);
    }
  }
  return false;
}

const mainCountOf = (run: Run, node: NodeState): number =>
  node.progress === null ? 0 : countOf(definitionOf(run, node), { ...node.progress, phase: "main" });

/** The approval steps at and below a definition, and all that stands between them and it. */
function definitionsNeedingApproval(run: Run, top: NodeId): ReadonlySet<NodeId> {
  const found = new Set<NodeId>();
  const open = [top];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const definition = nodeOf(run.plan, id);
    const rollback = definition.kind === "stage" || definition.kind === "group" ? definition.rollback : undefined;
    open.push(...childrenOf(definition).filter((child) => child !== rollback));
    if (definition.kind !== "step" || run.types.get(definition.type)?.needsApproval !== true) continue;
    found.add(id);
    for (const around of ancestorsOf(run.plan, id)) {
      if (id === top || found.has(around.id)) break;
      found.add(around.id);
      if (around.id === top) break;
    }
  }
  return found;
}
