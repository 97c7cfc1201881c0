/** Another try of a node that has failed: when it begins, and whether there is room for it. */
import type { End } from "./failure.ts";
import type { Failure, FailureAction, NodeState } from "./model.ts";
import { maxNodesWith, sizeOf } from "./node-limits.ts";
import { change, endAttempt, type Run, type Work } from "./run.ts";

export type RetryAction = Extract<FailureAction, { type: "Retry" | "RetryStepGroup" }>;

/**
 * Retries without an interval that begin in one event. A node that fails as it begins would have all its tries, and all
 * those of the nodes around it, in a single event.
 */
const MAX_IMMEDIATE_RETRIES = 100;
const DELAY_MS = 1_000;

/** Begins the next try, or a timer for it. `refused`: there were as many as the action, or the nodes, allow. */
export function retryNode(
  run: Run,
  node: NodeState,
  end: End,
  { count, intervals }: RetryAction,
): readonly Work[] | { readonly refused: End } {
  const used = node.attempts.length - 1;
  if (used < 0 || used >= count) return { refused: end };
  const { failure } = end;
  if (!hasRoomForRetry(run, node)) return { refused: { ...end, failure: noRoom(run, node, failure) } };
  const ended = endAttempt(run, node, end.status, { failure });
  const interval = intervals[Math.min(used, intervals.length - 1)] ?? 0;
  if (interval === 0 && run.immediateRetries < MAX_IMMEDIATE_RETRIES) {
    run.immediateRetries += 1;
    return [{ kind: "begin", node: node.id }];
  }
  const at = run.at + (interval === 0 ? DELAY_MS : interval);
  const message = `Retries at ${new Date(at).toISOString()} (retry ${used + 1} of ${count}).`;
  change(run, ended.id, { status: "waiting", reason: { kind: "retry", message }, failure, stopping: null });
  run.effects.push({ kind: "startTimer", node: node.id, purpose: "retry", at });
  return [];
}

/** Whether the execution may have the nodes below another try of a node: each try has nodes of its own. */
export function hasRoomForRetry(run: Run, { definition }: NodeState): boolean {
  const below = sizeOf(run.plan, definition) - 1;
  return below === 0 || run.nodes + below <= maxNodesWith(run.plan, definition);
}

function noRoom({ plan }: Run, { definition }: NodeState, failure: Failure): Failure {
  const most = maxNodesWith(plan, definition);
  const why = `an execution has at most ${most} nodes, and with that it would have more`;
  return { ...failure, message: `${failure.message}. It is not tried again: ${why}` };
}
