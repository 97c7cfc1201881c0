/** Nodes with children: pipelines, stages, groups, parallel nodes and loops. */
import { hasBegunBelow } from "../begun.ts";
import { ExpressionError } from "../expression/error.ts";
import { giveOutputs, outputsBelow, takeInputs } from "../chained.ts";
import { type End, timeoutFailure } from "../failure.ts";
import { childOf, countOf } from "../children.ts";
import { nameOf } from "../instance-name.ts";
import { lacksInputs } from "../inputs.ts";
import { iterationsOf } from "../iterations.ts";
import type { ChildFailure, Failure, NodeState, PlanNode } from "../model.ts";
import { evaluated, whenOf } from "../conditions.ts";
import { instancesFault } from "../node-limits.ts";
import { ancestorsOf, nodeOf } from "../plan-index.ts";
import { act, failNode, isRollback, recover, rollbackAround, strategyOf } from "../recovery.ts";
import { awaitInputs, sendRequest } from "../requests.ts";
import {
  attemptOf,
  BEGUN,
  change,
  changeAttempt,
  changeProgress,
  close,
  definitionOf,
  hasOpenAttempt,
  openAttempt,
  parentOf,
  progressOf,
  startTimeout,
  type Run,
  withdraw,
  withoutWait,
  type Work,
} from "../run.ts";
import { scopeOf } from "../run-scope.ts";
import { letsPass } from "../status.ts";
import { stopTree } from "../stop.ts";
import { timeoutOf, withTimeout } from "../timeouts.ts";

export function beginContainer(run: Run, node: NodeState): readonly Work[] {
  if (hasOpenAttempt(node)) return beginChildren(run, node);
  const definition = definitionOf(run, node);
  const opened = openAttempt(run, node, BEGUN);
  if (definition.kind === "loop") {
    const iterations = expand(run, opened, definition);
    if ("failure" in iterations) return failNode(run, opened, { status: "failed", ...iterations });
    return fill(run, changeProgress(run, opened, { iterations }));
  }
  const given =
    definition.kind === "pipeline" && definition.inputs ? takeInputs(run, opened, definition.inputs) : opened;
  if ("refused" in given) return failNode(run, opened, { status: "failed", failure: given.refused });
  const limited = withTimeout(run, given);
  if ("refused" in limited) return failNode(run, given, { status: "failed", failure: limited.refused });
  const timeoutMs = timeoutOf(limited, definition);
  const timed = timeoutMs === undefined ? limited : startTimeout(run, limited, timeoutMs);
  if (!lacksInputs(definition, timed)) return beginChildren(run, timed);
  awaitInputs(run, timed);
  return [];
}

function beginChildren(run: Run, node: NodeState): readonly Work[] {
  const lock = lockOf(run, node);
  return lock === undefined ? fill(run, node) : awaitLock(run, node, lock);
}

/** What undoes a stage needs the lock of the stage, too: alone if the stage has ended, or has not got it. */
function lockOf(run: Run, node: NodeState): string | undefined {
  const definition = definitionOf(run, node);
  if (definition.kind === "stage") return definition.lock;
  if (definition.kind !== "group" || definition.role !== "rollbackSteps") return undefined;
  const [around] = ancestorsOf(run.plan, definition.id);
  if (around?.kind !== "stage") return undefined;
  const parent = parentOf(run, node);
  return parent?.definition === around.id && parent.holdsLocks ? undefined : around.lock;
}

/** The node waits for its lock; `lockGranted` goes on. */
function awaitLock(run: Run, node: NodeState, template: string): readonly Work[] {
  const key = evaluated(run, node, template);
  if (typeof key !== "string") return failNode(run, node, { status: "failed", ...key });
  const reason = { kind: "lock", message: "Waits for the infrastructure." } as const;
  sendRequest(run, change(run, node.id, { status: "waiting", reason }), { service: "lock", key, until: "node" });
  return [];
}

export function lockGranted(run: Run, node: NodeState): readonly Work[] {
  if (!attemptOf(node).waitsFor.includes("lock")) return [];
  return fill(run, change(run, withoutWait(run, node, "lock").id, { status: "running", reason: null }));
}

function expand(run: Run, node: NodeState, definition: Extract<PlanNode, { kind: "loop" }>) {
  try {
    return iterationsOf(run.plan, definition, scopeOf(run, node), run.nodes);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const failure: Failure = { message: error.message, types: ["ExpressionEvaluation"] };
    return { failure };
  }
}

/** Starts as many children as may run at once; a node without open children is complete. */
function fill(run: Run, node: NodeState): readonly Work[] {
  const definition = definitionOf(run, node);
  const { phase, failed } = progressOf(node);
  let { next, open } = progressOf(node);
  let fault: Failure | undefined;
  const started: Work[] = [];
  const count = countOf(definition, progressOf(node));
  const atOnce = concurrencyOf(definition, phase);
  for (; next < count && open < atOnce; next += 1) {
    if (failed && definition.kind === "loop" && definition.onFailure === "SkipQueued") break;
    const child = childOf(run, node, next);
    if (failed && phase === "main" && isSequence(definition) && !runsAfterFailure(run, child.definition)) continue;
    fault = instancesFault(run, node, started.length);
    if (fault) break;
    started.push({ kind: "start", child });
    open += 1;
  }
  const filled = changeProgress(run, node, { next, open });
  if (open > 0) return started;
  return fault ? completeWithFault(run, filled, fault) : complete(run, filled);
}

/** The node may not start its next child: a failure of its own. What a failed child has asked for comes before it. */
function completeWithFault(run: Run, node: NodeState, failure: Failure): readonly Work[] {
  const { failed } = progressOf(node);
  if (!failed) return failNode(run, node, { status: "failed", failure });
  const action = failed.recovery ? undefined : strategyOf(run, node, failure);
  const end = endOf(failed);
  return end && isRollback(action) ? act(run, node, end, action) : complete(run, node);
}

const isSequence = ({ kind }: PlanNode): boolean => kind === "pipeline" || kind === "group";

/** Children that would only be skipped are passed over: there may be thousands. */
function runsAfterFailure(run: Run, child: string): boolean {
  const definition = nodeOf(run.plan, child);
  if (definition.kind === "parallel") return definition.children.some((one) => runsAfterFailure(run, one));
  const when = whenOf(definition);
  return when !== undefined && when.status !== "Success";
}

function concurrencyOf(definition: PlanNode, phase: "main" | "rollback"): number {
  if (phase === "rollback") return 1;
  if (definition.kind === "parallel") return Number.POSITIVE_INFINITY;
  return definition.kind === "loop" ? (definition.maxConcurrency ?? Number.POSITIVE_INFINITY) : 1;
}

export function childEnded(run: Run, node: NodeState, child: NodeState): readonly Work[] {
  const { open, failed, ignored } = progressOf(node);
  const counted = changeProgress(run, node, {
    open: open - 1,
    failed: letsPass(child.status) ? failed : merged(failed, child),
    ignored: ignored || child.status === "ignored",
  });
  if (counted.stopping !== null) return open === 1 ? complete(run, counted) : [];
  return fill(run, counted);
}

/** The first failure stands; a rollback or retry that a later one asks for is added to it. */
const merged = (first: ChildFailure | null, { status, failure, recovery }: NodeState): ChildFailure =>
  first
    ? { ...first, failure: first.failure ?? failure, recovery: first.recovery ?? recovery }
    : { status, failure, recovery };

function complete(run: Run, node: NodeState): readonly Work[] {
  const definition = definitionOf(run, node);
  const { phase, failed, ignored } = progressOf(node);
  switch (node.stopping) {
    case "aborted":
    case "succeeded":
    case "failed":
      return close(run, node, node.stopping, { failure: combined(node.failure, failed?.failure ?? null) });
    case "expired": {
      const failure = node.failure ?? expiry(node, definition);
      // What undoes a node is not undone itself.
      if (phase === "rollback") return close(run, node, "expired", { failure, recovery: rollbackAround(run, node) });
      return failNode(run, node, { status: "expired", failure });
    }
    case null:
  }
  if (phase === "rollback")
    return close(run, node, "failed", { failure: withRollback(node, failed), recovery: rollbackAround(run, node) });
  if (!failed) return succeed(run, node, ignored ? "ignored" : "succeeded");
  if (failed.recovery?.target === node.id) return recover(run, node, failed);
  // The failure of a chained pipeline is one of the stage that runs it.
  const end = definition.kind === "stage" && nodeOf(run.plan, definition.steps).kind === "pipeline" && endOf(failed);
  if (end) return failNode(run, node, end);
  return close(run, node, failed.status, { failure: failed.failure, recovery: failed.recovery });
}

/** A chained pipeline gives its outputs, and its stage has what it has given. */
function succeed(run: Run, node: NodeState, status: "ignored" | "succeeded"): readonly Work[] {
  const definition = definitionOf(run, node);
  const isChained = definition.kind === "stage" && nodeOf(run.plan, definition.steps).kind === "pipeline";
  if (isChained) return close(run, changeAttempt(run, node, { outputs: outputsBelow(run, node) }), status);
  if (definition.kind !== "pipeline" || !definition.outputs) return close(run, node, status);
  const given = giveOutputs(run, node, definition.outputs);
  if ("refused" in given) return failNode(run, node, { status: "failed", failure: given.refused });
  return close(run, given, status);
}

/** The failure of a child as one of the node itself; undefined if the child was aborted. */
function endOf({ status, failure }: ChildFailure): End | undefined {
  if (failure === null || (status !== "failed" && status !== "expired" && status !== "rejected")) return undefined;
  return { status, failure };
}

function expiry(node: NodeState, definition: PlanNode): Failure {
  return timeoutFailure(definition.kind, nameOf(definition, node), timeoutOf(node, definition) ?? 0);
}

/** The time of a node is up. What runs below it ends first; without that, as while it waits for its lock, it fails now. */
export function containerExpired(run: Run, node: NodeState): readonly Work[] {
  const timeless = withoutWait(run, node, "timeout");
  if (progressOf(timeless).open > 0) return stopTree(run, timeless, "expired");
  return failNode(run, timeless, { status: "expired", failure: expiry(timeless, definitionOf(run, timeless)) });
}

/** Who aborted it stands at the execution; what had failed before that is not lost. */
const combined = (own: Failure | null, below: Failure | null): Failure | null =>
  own && below && own !== below
    ? { ...below, message: `${own.message}. Before that: ${below.message}` }
    : (own ?? below);

/** The failure that led to the rollback, and the rollback's own if it failed too. */
function withRollback({ failure }: NodeState, rollback: ChildFailure | null): Failure | null {
  if (!failure || !rollback?.failure) return failure;
  return { ...failure, message: `${failure.message}. The rollback failed, too: ${rollback.failure.message}` };
}

/** Begins what undoes a node. */
export function rollBack(run: Run, node: NodeState, undo?: readonly string[]): readonly Work[] {
  const progress = { ...progressOf(node), phase: "rollback" as const, next: 0, open: 0, failed: null };
  // The time of a node is for its own work.
  const timeless = withdraw(run, node);
  // One that no try of its own has begun has asked for its lock and not got it: what undoes it asks again. One that has
  // begun keeps what it holds.
  const holdsLocks = timeless.holdsLocks && hasBegunBelow(run, node);
  if (timeless.holdsLocks && !holdsLocks) run.effects.push({ kind: "releaseLocks", node: node.id });
  return fill(
    run,
    change(run, timeless.id, {
      // It may have waited, for its lock or a decision, or have been held back by a pause.
      ...{ status: "running", reason: null, stopping: null, holdsLocks },
      progress: undo ? { ...progress, undo } : progress,
    }),
  );
}
