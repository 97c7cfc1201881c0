/** What follows when a node fails: the failure strategies of the node and of what stands around it. */
import { isToBeUndone, stagesToUndo } from "./acted.ts";
import { covers } from "./failure.ts";
import { nameOf } from "./instance-name.ts";
import { MAX_NODES, sizeOf } from "./iterations.ts";
import type { ChildFailure, Failure, FailureAction, InstanceId, NodeState, Reason, Status } from "./model.ts";
import {
  BEGUN,
  change,
  close,
  definitionOf,
  endAttempt,
  nodeAt,
  openAttempt,
  parentOf,
  type Run,
  type Work,
} from "./run.ts";
import { stopTree } from "./stop.ts";

/** How a node has failed by itself, and not because a child of it has. */
export type End = { readonly status: Extract<Status, "failed" | "expired" | "rejected">; readonly failure: Failure };

/** A node has failed by itself: the first strategy that covers the failure says what follows. */
export function failNode(run: Run, node: NodeState, end: End): readonly Work[] {
  const stopping = parentOf(run, node)?.stopping;
  if (stopping) return close(run, node, end.status, { failure: end.failure });
  return act(run, node, end, strategyOf(run, node, end.failure));
}

/**
 * From the node outwards to its stage. What undoes a stage or group does not fall under their strategies. What ends a
 * chained pipeline is a failure of its stage, which asks its strategies itself.
 */
export function strategyOf(run: Run, node: NodeState, failure: Failure): FailureAction | undefined {
  for (let at: NodeState | undefined = node; at; at = parentOf(run, at)) {
    const definition = definitionOf(run, at);
    if ("failureStrategies" in definition) {
      const found = definition.failureStrategies?.find((strategy) => covers(strategy, failure));
      if (found) return found.action;
    }
    if (definition.kind === "stage" || definition.kind === "pipeline") return undefined;
    if (definition.kind === "group" && definition.role === "rollbackSteps") return undefined;
  }
  return undefined;
}

/** Applies an action to a node that has failed. */
export function act(run: Run, node: NodeState, end: End, action: FailureAction | undefined): readonly Work[] {
  const { failure } = end;
  switch (action?.type) {
    case undefined:
    case "MarkAsFailure":
    // Asked for before the attempt ended, where it applies.
    case "ProceedWithDefaultValues":
      return close(run, node, end.status, { failure });
    case "Ignore":
      return close(run, node, "ignored", { failure });
    case "MarkAsSuccess":
      return close(run, node, "succeeded", { failure });
    case "Retry":
      return retryOrElse(run, node, end, action);
    case "ManualIntervention":
      return intervene(run, node, end, action);
    case "Abort":
      return abortAll(run, node, end);
    case "StageRollback":
      return closeFor(
        run,
        node,
        end,
        action,
        enclosing(run, node, ({ kind }) => kind === "stage"),
      );
    case "StepGroupRollback":
    case "RetryStepGroup":
      return closeFor(run, node, end, action, stepGroupAround(run, node));
    case "PipelineRollback":
      return closeFor(
        run,
        node,
        end,
        action,
        enclosing(run, parentOf(run, node) ?? node, ({ kind }) => kind === "pipeline"),
      );
  }
}

/** The nearest step group: the node itself, or one around it. */
export const stepGroupAround = (run: Run, node: NodeState): InstanceId | undefined =>
  enclosing(run, node, (one) => one.kind === "group" && one.role === "stepGroup");

function enclosing(
  run: Run,
  node: NodeState,
  is: (definition: ReturnType<typeof definitionOf>) => boolean,
): InstanceId | undefined {
  for (let at: NodeState | undefined = node; at; at = parentOf(run, at)) if (is(definitionOf(run, at))) return at.id;
  return undefined;
}

/** Closes a node; what is around it does the rest once nothing runs there any more. */
function closeFor(
  run: Run,
  node: NodeState,
  end: End,
  action: FailureAction,
  target: InstanceId | undefined,
): readonly Work[] {
  if (target === node.id) return recover(run, node, { ...end, recovery: { action, target } });
  return close(run, node, end.status, {
    failure: end.failure,
    recovery: target === undefined ? null : { action, target },
  });
}

type Retry = Extract<FailureAction, { type: "Retry" | "RetryStepGroup" }>;

/** Retries that begin in one event. What fails as it begins would be tried again in a single event, and so what is around it. */
const MAX_RETRIES_AT_ONCE = 100;
const DELAY_MS = 1_000;

/** Applies a retry, or what follows when there were as many as the strategy, or the nodes of an execution, allow. */
function retryOrElse(run: Run, node: NodeState, end: End, action: Retry): readonly Work[] {
  const { count, fallback } = action;
  const used = node.attempts.length - 1;
  if (used < 0 || used >= count) return act(run, node, end, fallback);
  const fault = nodesFault(run, node);
  if (fault === undefined) return retry(run, node, end, action);
  return act(run, node, { ...end, failure: { ...end.failure, message: `${end.failure.message}. ${fault}` } }, fallback);
}

/** Each try of a node has nodes of its own below it. */
function nodesFault(run: Run, node: NodeState): string | undefined {
  const below = sizeOf(run.plan, node.definition) - 1;
  if (below === 0 || run.nodes + below <= MAX_NODES) return undefined;
  return `It is not tried again: an execution has at most ${MAX_NODES} nodes, and with that it would have more`;
}

function retry(run: Run, node: NodeState, end: End, { count, intervals }: Retry): readonly Work[] {
  const used = node.attempts.length - 1;
  const interval = intervals[Math.min(used, intervals.length - 1)] ?? 0;
  const delay = interval === 0 && run.retries >= MAX_RETRIES_AT_ONCE ? DELAY_MS : interval;
  const ended = endAttempt(run, node, end.status, { failure: end.failure });
  if (delay === 0) {
    run.retries += 1;
    return [{ kind: "begin", node: node.id }];
  }
  const at = run.at + delay;
  const message = `Retries at ${new Date(at).toISOString()} (retry ${used + 1} of ${count}).`;
  wait(run, ended, { kind: "retry", message }, end);
  run.effects.push({ kind: "startTimer", node: node.id, purpose: "retry", at });
  return [];
}

function wait(run: Run, node: NodeState, reason: Reason, { failure }: End): void {
  change(run, node.id, { status: "waiting", reason, failure, stopping: null });
}

type Intervention = Extract<FailureAction, { type: "ManualIntervention" }>;

/** The node keeps what follows: the strategy that covers its failure may be another action that led here. */
function intervene(run: Run, node: NodeState, end: End, { timeoutMs, fallback }: Intervention): readonly Work[] {
  const name = nameOf(definitionOf(run, node), node);
  const at = run.at + timeoutMs;
  const message = `'${name}' has failed and waits until ${new Date(at).toISOString()} for a decision.`;
  const reason = { kind: "intervention", message, onTimeout: fallback } as const;
  wait(run, endAttempt(run, node, end.status, { failure: end.failure }), reason, end);
  run.effects.push({ kind: "startTimer", node: node.id, purpose: "intervention", at });
  return [];
}

/** What follows when no decision has come in time. */
export function interventionExpired(run: Run, node: NodeState): readonly Work[] {
  const { failure } = node;
  if (!failure) throw new Error(`node ${node.path} waits for an intervention without a failure`);
  const end = { status: statusBefore(node), failure };
  if (node.reason?.onTimeout) return act(run, node, end, node.reason.onTimeout);
  // An earlier version began the wait.
  const action = strategyOf(run, node, failure);
  return act(run, node, end, action?.type === "ManualIntervention" ? action.fallback : undefined);
}

/** The status that a node would have had without the wait for an intervention. */
export function statusBefore({ attempts }: NodeState): End["status"] {
  const status = attempts.at(-1)?.status;
  return status === "expired" || status === "rejected" ? status : "failed";
}

/** Ends the whole execution because of a failure of one node. */
function abortAll(run: Run, node: NodeState, { status, failure }: End): readonly Work[] {
  run.aborting = true;
  const root = nodeAt(run, run.plan.root);
  const work = stopTree(run, root, "aborted", node);
  return [...close(run, nodeAt(run, node.id), status, { failure }), ...work];
}

/** A node has no open children any more and is the one that a failure below asks to undo or to repeat. */
export function recover(run: Run, node: NodeState, { failure, status, recovery }: ChildFailure): readonly Work[] {
  const end = {
    status: status === "expired" || status === "rejected" ? status : "failed",
    failure: failure ?? NO_FAILURE,
  } as const;
  const action = recovery?.action;
  switch (action?.type) {
    case "RetryStepGroup":
      return retryOrElse(run, node, end, action);
    case "StageRollback":
    case "StepGroupRollback": {
      const definition = definitionOf(run, node);
      const hasRollback =
        (definition.kind === "stage" || definition.kind === "group") && definition.rollback !== undefined;
      if (!hasRollback || !isToBeUndone(run, node)) return close(run, node, "failed", { failure: end.failure });
      // Its condition or name could not be evaluated, after an earlier try of what is around it has acted.
      if (node.progress === null) openAttempt(run, node, BEGUN);
      // Said now and not only at the end: whoever watches sees why it rolls back.
      change(run, node.id, { failure: end.failure });
      return [{ kind: "rollBack", node: node.id }];
    }
    case "PipelineRollback":
      change(run, node.id, { failure: end.failure });
      return [{ kind: "rollBack", node: node.id, undo: stagesToUndo(run, node).toReversed() }];
    case undefined:
    case "Abort":
    case "Ignore":
    case "ManualIntervention":
    case "MarkAsFailure":
    case "MarkAsSuccess":
    case "ProceedWithDefaultValues":
    case "Retry":
      return close(run, node, end.status, { failure: end.failure });
  }
}

const NO_FAILURE: Failure = { message: "A node failed", types: ["Unknown"] };
