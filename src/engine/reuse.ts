import { exportOutputs } from "./exports.ts";
import type { NodeState } from "./model.ts";
import { outputBytesOf } from "./output-bytes.ts";
import { change, createNode, nodeAt, type Run, type Work } from "./run.ts";

/** Takes a node of an earlier execution, and all that was below it, in place of running the new one. */
export function reuse(run: Run, node: NodeState, earlier: NodeState): readonly Work[] {
  const ids = new Map([[earlier.id, node.id]]);
  take(run, node, earlier);
  const taken = [node.id];
  // Parents come before their children, as they were created.
  for (const below of run.reused.values()) {
    const parent = below.parent === null ? undefined : ids.get(below.parent);
    if (parent === undefined) continue;
    const { definition, iteration } = below;
    const made = createNode(run, { definition, parent, ...(iteration && { iteration }) });
    ids.set(below.id, made.id);
    take(run, made, below);
    taken.push(made.id);
  }
  for (const id of taken) {
    const one = nodeAt(run, id);
    if (one.status === "succeeded") exportOutputs(run, one);
  }
  return [{ kind: "ended", node: node.id }];
}

function take(run: Run, { id }: NodeState, earlier: NodeState): void {
  const { status, reason, startedAt, endedAt, failure, attempts, tasks, progress } = earlier;
  run.outputBytes += attempts.reduce((sum, attempt) => sum + outputBytesOf(attempt), 0);
  // Its exports name nodes of the earlier execution: they are noted anew.
  const own = progress?.exports ? { ...progress, exports: {} } : progress;
  change(run, id, { status, reason, startedAt, endedAt, failure, attempts, tasks, progress: own, isReused: true });
}
