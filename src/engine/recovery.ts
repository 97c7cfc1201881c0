/** What follows when a node fails: the failure strategies of the node and of what stands around it. */
import { isToBeUndone, stagesToUndo } from "./acted.ts";
import { covers, type End } from "./failure.ts";
import { nameOf } from "./instance-name.ts";
import type { ChildFailure, Failure, FailureAction, InstanceId, NodeState, Recovery } from "./model.ts";
import { type RetryAction, retryNode } from "./node-retry.ts";
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

/** A node has failed by itself: the first strategy that covers the failure says what follows. */
export function failNode(run: Run, node: NodeState, end: End): readonly Work[] {
  const { failure, status } = end;
  const stopping = parentOf(run, node)?.stopping;
  if (stopping) return close(run, node, status, { failure, recovery: rollbackAround(run, node) });
  const action = strategyOf(run, node, failure);
  const asked = action ? null : rollbackAsked(run, node);
  return asked ? closeFor(run, node, end, asked.action, asked.target) : act(run, node, end, action);
}

/**
 * The rollback that a failure below has asked for, of a node or of what is around it. What ends a chained pipeline is a
 * failure of its stage.
 */
function rollbackAsked(run: Run, node: NodeState): Recovery | null {
  const recovery = node.progress?.failed?.recovery;
  return recovery && isRollback(recovery.action) && definitionOf(run, node).kind !== "pipeline" ? recovery : null;
}

/** The same where it is not the node that is to be undone: it is being undone, or stopped with what is around it. */
export function rollbackAround(run: Run, node: NodeState): Recovery | null {
  const asked = rollbackAsked(run, node);
  return asked?.target === node.id ? null : asked;
}

export const isRollback = (action: FailureAction | undefined): boolean =>
  action?.type === "StageRollback" || action?.type === "StepGroupRollback" || action?.type === "PipelineRollback";

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

/** Applies a retry, or what follows when the node is not tried again. */
function retryOrElse(run: Run, node: NodeState, end: End, action: RetryAction): readonly Work[] {
  const retried = retryNode(run, node, end, action);
  return "refused" in retried ? act(run, node, retried.refused, action.fallback) : retried;
}

type Intervention = Extract<FailureAction, { type: "ManualIntervention" }>;

/** The node keeps what follows: the strategy that covers its failure may be another action that led here. */
function intervene(run: Run, node: NodeState, end: End, { timeoutMs, fallback }: Intervention): readonly Work[] {
  const name = nameOf(definitionOf(run, node), node);
  const at = run.at + timeoutMs;
  const message = `'${name}' has failed and waits until ${new Date(at).toISOString()} for a decision.`;
  const reason = { kind: "intervention", message, onTimeout: fallback } as const;
  const { failure } = end;
  change(run, endAttempt(run, node, end.status, { failure }).id, {
    status: "waiting",
    reason,
    failure,
    stopping: null,
  });
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
