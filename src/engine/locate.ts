import { type FindNode, instanceOf } from "./instance.ts";
import type { NodeId, NodeState, Plan } from "./model.ts";
import { indexOf, nodeOf } from "./plan-index.ts";
import { isFinal } from "./status.ts";

/** Whether a node without an instance will have none: its parent has ended or has gone on behind it. */
export function isPassedOver(plan: Plan, parent: NodeState, child: NodeId): boolean {
  if (isFinal(parent.status)) return true;
  const definition = nodeOf(plan, parent.definition);
  const isSequence = definition.kind === "pipeline" || definition.kind === "group";
  return (
    isSequence &&
    definition.children.includes(child) &&
    definition.children.indexOf(child) < (parent.progress?.next ?? 0)
  );
}

/** The present instance below a node of a definition that is not repeated there; undefined if it is still to come. */
export function locate(plan: Plan, find: FindNode, id: NodeId, from: NodeState): NodeState | "passedOver" | undefined {
  const { parents } = indexOf(plan);
  const down: NodeId[] = [];
  for (let at: NodeId | undefined = id; at !== undefined && at !== from.definition; at = parents.get(at)) down.push(at);
  let node = from;
  for (const definition of down.toReversed()) {
    const found = find(instanceOf(plan, find, { definition, parent: node.id }).id);
    if (!found) return isPassedOver(plan, node, definition) ? "passedOver" : undefined;
    node = found;
  }
  return node;
}
