import { type FindNode, instanceOf } from "./instance.ts";
import type { InstanceId, NodeId, NodeState, Plan } from "./model.ts";
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

/** The present instance of a definition that is not repeated; undefined if it is still to come. */
export function locate(plan: Plan, find: FindNode, id: NodeId): NodeState | "passedOver" | undefined {
  const { parents } = indexOf(plan);
  const down: NodeId[] = [];
  for (let at: NodeId | undefined = id; at !== undefined; at = parents.get(at)) down.push(at);
  let node: NodeState | undefined;
  for (const definition of down.toReversed()) {
    const parent: InstanceId | null = node?.id ?? null;
    const found: NodeState | undefined = find(instanceOf(plan, find, { definition, parent }).id);
    if (!found) return node && isPassedOver(plan, node, definition) ? "passedOver" : undefined;
    node = found;
  }
  return node;
}
