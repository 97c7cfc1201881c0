import { strategyFor } from "../failure.ts";
import type { Failure, NodeId, PlanNode } from "../model.ts";
import { change, close, failureOf, open, statusOf, type Run, type Work } from "../run.ts";
import { letsPass, unreachable } from "../status.ts";

type Stage = PlanNode & { readonly kind: "stage" };

export function startStage(run: Run, node: Stage): readonly Work[] {
  open(run, node.id);
  return [{ kind: "start", node: node.steps }];
}

/**
 * After the steps: the stage has succeeded, or the first matching failure
 * strategy says what follows. After the rollback: the stage has failed with the
 * failure that led to it, and that of the rollback if it failed; the rollback group
 * keeps a failure of its own (docs/decisions/0030-failures-tell-the-rollback.md).
 *
 * Without a strategy the stage ends as its steps did: a step that expired makes
 * the stage and the execution expired. A stage that was rolled back is failed.
 */
export function childOfStageEnded(run: Run, node: Stage, child: NodeId): readonly Work[] {
  const failure = failureOf(run, node.steps);
  if (run.aborting) return close(run, node, "aborted", { failure });
  if (child === node.rollback) return close(run, node, "failed", { failure: withRollback(run, node, failure) });
  const status = statusOf(run, child);
  if (letsPass(status)) return close(run, node, "succeeded");
  const strategy = failure ? strategyFor(node.failureStrategies, failure) : undefined;
  if (!strategy || !failure) return close(run, node, status, { failure });
  switch (strategy.action) {
    case "StageRollback":
      return rollBack(run, node, failure);
    default:
      return unreachable(strategy.action);
  }
}

/** The failure that led to the rollback, and the rollback's own if it failed too. */
function withRollback(run: Run, node: Stage, failure: Failure | null): Failure | null {
  const rollback = failureOf(run, node.rollback);
  if (!failure || !rollback) return failure;
  return { ...failure, message: `${failure.message}. The rollback failed, too: ${rollback.message}` };
}

function rollBack(run: Run, node: Stage, failure: Failure): readonly Work[] {
  // Said now and not only at the end: `currentStatus` and whoever watches see why the stage rolls back.
  change(run, node.id, { failure });
  return [{ kind: "start", node: node.rollback }];
}
