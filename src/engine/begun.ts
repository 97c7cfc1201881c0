/** Whether anything has begun below a node, which a rollback would have to undo. */
import { childOf, countOf } from "./children.ts";
import { instanceOf } from "./instance.ts";
import type { InstanceId, NodeState } from "./model.ts";
import { definitionOf, findNode, progressOf, type Run } from "./run.ts";

/** In any of its tries: each of them begins its children anew, and may wait for its lock again before that. */
export function hasBegunBelow(run: Run, node: NodeState): boolean {
  const { progress, attempts } = node;
  if (progress === null) return false;
  return progress.phase === "rollback" || progress.next > 0 || attempts.slice(1).some((_, at) => hasTry(run, node, at));
}

/** Whether the first child was created in an earlier try: it is never passed over. */
function hasTry(run: Run, node: NodeState, at: number): boolean {
  const earlier = { ...node, attempts: node.attempts.slice(0, at + 1) };
  const find = (id: InstanceId) => (id === node.id ? earlier : findNode(run, id));
  const main = { ...earlier, progress: { ...progressOf(node), phase: "main" as const } };
  if (countOf(definitionOf(run, node), main.progress) === 0) return false;
  return findNode(run, instanceOf(run.plan, find, childOf(run, main, 0)).id) !== undefined;
}
