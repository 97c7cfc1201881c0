/** What people ask of a running execution. An interrupt that does not fit what it names changes nothing. */
import type { Event, Failure, FailureAction, NodeState } from "./model.ts";
import { lacksApproval } from "./missing-approval.ts";
import { hasRoomForRetry } from "./node-retry.ts";
import { act, statusBefore, stepGroupAround } from "./recovery.ts";
import { change, createNode, definitionOf, findNode, type Run, type Work } from "./run.ts";
import { isFinal, unreachable } from "./status.ts";
import { openChildren, stopTree, stopWaiting } from "./stop.ts";

type Interrupted = Extract<Event, { kind: "interrupted" }>;

/** What follows; undefined if it does not fit. */
export function interrupt(run: Run, { interrupt: asked, node: id, by }: Interrupted): readonly Work[] | undefined {
  switch (asked) {
    case "AbortAll":
      return run.aborting ? undefined : stopAll(run, "aborted", by);
    case "ExpireAll":
      return run.aborting ? undefined : stopAll(run, "expired", by);
    case "Pause":
      if (run.paused || run.aborting || !findNode(run, run.plan.root)) return undefined;
      run.paused = true;
      return [];
    case "Resume":
      return run.paused ? resume(run) : undefined;
    case "Abort":
    case "MarkAsSuccess":
    case "MarkAsFailure":
    case "Ignore":
    case "Retry":
    case "StageRollback":
    case "StepGroupRollback":
    case "PipelineRollback": {
      const node = id === undefined ? undefined : findNode(run, id);
      if (!node || isFinal(node.status) || node.stopping !== null || run.aborting) return undefined;
      if ((asked === "MarkAsSuccess" || asked === "Ignore") && lacksApproval(run, node)) return undefined;
      if (asked === "StepGroupRollback" && stepGroupAround(run, node) === undefined) return undefined;
      return node.reason?.kind === "intervention" ? decide(run, node, asked) : mark(run, node, { asked, by });
    }
    default:
      return unreachable(asked);
  }
}

/**
 * Nothing new starts and every running task is asked to end. The execution ends once all of them have answered; at once
 * when none runs.
 */
function stopAll(run: Run, as: "aborted" | "expired", by: string | undefined): readonly Work[] {
  run.aborting = as === "aborted" || run.aborting;
  run.paused = false;
  const { root } = run.plan;
  const node = findNode(run, root) ?? createNode(run, { definition: root, parent: null });
  if (by !== undefined) {
    const message = `${as === "aborted" ? "Aborted" : "Expired"} by ${by}`;
    change(run, root, { failure: { message, types: as === "aborted" ? [] : ["Timeout"] } });
  }
  return stopTree(run, node, as);
}

/** The nodes that were held back begin. */
function resume(run: Run): readonly Work[] {
  run.paused = false;
  const root = findNode(run, run.plan.root);
  const held: Work[] = [];
  const open = root ? [root] : [];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.status === "paused") held.push({ kind: "begin", node: node.id });
    open.push(...openChildren(run, node).toReversed());
  }
  return held;
}

type NodeInterrupt = Exclude<Interrupted["interrupt"], "AbortAll" | "ExpireAll" | "Pause" | "Resume">;

/** The decision that a failed node waits for. A retry needs room for its nodes, as that of a failure strategy does. */
function decide(run: Run, node: NodeState, asked: NodeInterrupt): readonly Work[] | undefined {
  if (asked === "Retry" && !hasRoomForRetry(run, node)) return undefined;
  stopWaiting(run, node);
  if (asked === "Retry") return [{ kind: "begin", node: node.id }];
  const end = { status: statusBefore(node), failure: node.failure ?? NO_FAILURE };
  const action: FailureAction = { type: asked === "Abort" ? "Abort" : asked };
  return act(run, node, end, action);
}

const NO_FAILURE: Failure = { message: "The node failed", types: ["Unknown"] };

/** An open node is ended by hand. */
function mark(
  run: Run,
  node: NodeState,
  { asked, by }: { readonly asked: NodeInterrupt; readonly by: string | undefined },
): readonly Work[] | undefined {
  const isStep = definitionOf(run, node).kind === "step";
  switch (asked) {
    case "Abort":
      return stopTree(run, node, "aborted");
    case "MarkAsSuccess":
      return isStep ? stopTree(run, node, "succeeded") : undefined;
    case "MarkAsFailure": {
      if (!isStep) return undefined;
      const message = `Marked as failed${by === undefined ? "" : ` by ${by}`}`;
      return stopTree(run, change(run, node.id, { failure: { message, types: ["UserMarkedFailure"] } }), "failed");
    }
    case "Retry":
    case "Ignore":
    case "StageRollback":
    case "StepGroupRollback":
    case "PipelineRollback":
      return undefined;
    default:
      return unreachable(asked);
  }
}
