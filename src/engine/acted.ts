/**
 * Whether a stage or group has done what its rollback would undo: a step of it has begun since. What is tried again stands
 * for what earlier tries have done, because these are instances of their own.
 */
import { hasBegunBelow } from "./begun.ts";
import { instanceOf, type NewNode } from "./instance.ts";
import type { InstanceId, NodeState } from "./model.ts";
import { change, definitionOf, findNode, instanceAt, nodeAt, parentOf, type Run } from "./run.ts";

/** A step begins, or one that an earlier execution has run is taken over: all that is around it has acted. */
export function noteActed(run: Run, step: NodeState): void {
  for (let at = parentOf(run, step); at; at = parentOf(run, at)) {
    const definition = definitionOf(run, at);
    // What undoes a node is not undone itself.
    if (definition.kind === "group" && definition.role === "rollbackSteps") return;
    if (at.hasActed !== true) change(run, at.id, { hasActed: true });
  }
}

/** What a new instance has from the one that it stands for. */
export function inheritActed(run: Run, node: NodeState): NodeState {
  if (definitionOf(run, node).kind === "step") return node;
  const former = formerOf(run, newOf(node), node.id);
  const hasActed = former !== undefined && parentOf(run, node)?.hasActed !== false && isToBeUndone(run, former);
  return change(run, node.id, { hasActed });
}

/** Whether a rollback of the node is due, if it has one. */
export function isToBeUndone(run: Run, node: NodeState): boolean {
  // An earlier version has created the node, or an earlier execution has run it.
  if (!(node.hasActed ?? hasBegunBelow(run, node))) return false;
  for (let at = parentOf(run, node); at; at = parentOf(run, at)) if (at.progress?.undo?.includes(node.id)) return false;
  return true;
}

/** The latest instance that stood in the place of one, in an earlier try of what is around it; undefined if none did. */
export function formerOf(run: Run, child: NewNode, own: InstanceId = instanceAt(run, child).id): NodeState | undefined {
  if (child.parent === null) return undefined;
  const around = nodeAt(run, child.parent);
  const ids = idsIn(run, around, child);
  const earlier = ids.slice(ids.indexOf(own) + 1);
  return firstKnown(run, earlier) ?? inFormer(run, around, child);
}

function inFormer(run: Run, around: NodeState, child: NewNode): NodeState | undefined {
  const former = formerOf(run, newOf(around), around.id);
  if (!former) return undefined;
  const moved = { ...child, parent: former.id };
  return firstKnown(run, idsIn(run, former, moved)) ?? inFormer(run, former, child);
}

/** The ids of a child in each try of its parent, the last one first. */
function idsIn(run: Run, around: NodeState, child: NewNode): readonly InstanceId[] {
  const idIn = (tries: number): InstanceId => {
    const then = { ...around, attempts: around.attempts.slice(0, tries) };
    return instanceOf(run.plan, (id) => (id === around.id ? then : findNode(run, id)), child).id;
  };
  return around.attempts.map((_, nth) => idIn(around.attempts.length - nth));
}

const firstKnown = (run: Run, ids: readonly InstanceId[]): NodeState | undefined => {
  const id = ids.find((one) => findNode(run, one) !== undefined);
  return id === undefined ? undefined : findNode(run, id);
};

const newOf = ({ definition, parent, iteration }: NodeState): NewNode => ({
  definition,
  parent,
  ...(iteration && { iteration }),
});
