/** What the open nodes of an execution wait for, counted with each change, so that no event looks at all of them. */
import type { NodeState, Status, Waits } from "./model.ts";
import { definitionOf, type Run } from "./run.ts";
import { isFinal } from "./status.ts";

const NONE: Waits = { active: 0, approval: 0, input: 0, intervention: 0, lock: 0 };

/** The counts after the changes of a transition. */
export function countWaits(run: Run): Waits {
  const counts = { ...NONE, ...run.before.state.waits };
  for (const [id, after] of run.changed) {
    const before = run.before.nodes.get(id);
    const [left, come] = [before && waitOf(run, before), waitOf(run, after)];
    if (left === come) continue;
    // An execution of an earlier version may have begun without counts.
    if (left) counts[left] = Math.max(0, counts[left] - 1);
    if (come) counts[come] += 1;
  }
  return counts;
}

/** A step that runs, or that goes on by itself, is active. Steps at a barrier go on with others. */
function waitOf(run: Run, node: NodeState): keyof Waits | undefined {
  if (isFinal(node.status)) return undefined;
  if (node.status === "running") return definitionOf(run, node).kind === "step" ? "active" : undefined;
  if (node.status !== "waiting") return undefined;
  switch (node.reason?.kind) {
    case "approval":
    case "input":
    case "intervention":
    case "lock":
      return node.reason.kind;
    case "barrier":
    case undefined:
      return undefined;
    case "condition":
    case "duration":
    case "mail":
    case "pause":
    case "retry":
      return "active";
  }
}

/**
 * The status of an execution that has begun: who waits for a person is found whatever runs beside it; who waits for a
 * lock has that status once nothing else goes on.
 */
export function openStatus({ active, approval, input, intervention, lock }: Waits, isPaused: boolean): Status {
  if (isPaused) return active > 0 ? "pausing" : "paused";
  if (intervention > 0) return "interventionWaiting";
  if (approval > 0) return "approvalWaiting";
  if (input > 0) return "inputWaiting";
  return lock > 0 && active === 0 ? "resourceWaiting" : "running";
}
