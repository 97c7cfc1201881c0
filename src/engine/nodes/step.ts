/** Steps: their type says what they do, and this file does it. */
import { noteActed } from "../acted.ts";
import { ExpressionError } from "../expression/error.ts";
import { exportOutputs } from "../exports.ts";
import { aroundExpired, timeoutFailure, untakenFailure } from "../failure.ts";
import { nameOf } from "../instance-name.ts";
import type { Failure, FailureType, Json, NodeState, StepNode, TaskOutcome } from "../model.ts";
import { arrive } from "../arrive.ts";
import { lacksInputs } from "../inputs.ts";
import { outputBytesOf, outputsFault, progressBytesOf } from "../output-bytes.ts";
import { failNode } from "../recovery.ts";
import { awaitInputs, sendRequest } from "../requests.ts";
import {
  attemptOf,
  change,
  changeAttempt,
  close,
  definitionOf,
  endAttempt,
  hasOpenAttempt,
  nodeAt,
  openAttempt,
  parentOf,
  startTimeout,
  type Run,
  withdraw,
  withoutWait,
  type Work,
} from "../run.ts";
import { SERVICES } from "../model.ts";
import { scopeOf } from "../run-scope.ts";
import { unreachable } from "../status.ts";
import { HostRefused } from "../target.ts";
import type { Signal, StepAction, StepAttempt, StepEnd } from "../step-type.ts";
import { stopTask } from "../stop.ts";
import { withTimeout } from "../timeouts.ts";

/** A step whose inputs are not there yet waits for them first. */
export function beginStep(run: Run, node: NodeState): readonly Work[] {
  if (hasOpenAttempt(node)) return runStep(run, node).work;
  const opened = withTimeout(run, openAttempt(run, node, null));
  if ("refused" in opened) return endStep(run, nodeAt(run, node.id), refusedEnd(opened.refused));
  const step = stepOf(run, opened);
  if (lacksInputs(step, opened)) {
    awaitInputs(run, opened);
    startTimeout(run, nodeAt(run, node.id), step.timeoutMs);
    return [];
  }
  const { work, hasEnded } = runStep(run, opened);
  if (!hasEnded) startTimeout(run, nodeAt(run, node.id), step.timeoutMs);
  return work;
}

/** Expressions are resolved now, at the last moment; one that has no value fails the step before it becomes a task. */
function runStep(run: Run, node: NodeState): { readonly work: readonly Work[]; readonly hasEnded: boolean } {
  noteActed(run, node);
  const action = asked(run, node, (type, attempt) => type.begin(attempt));
  return { work: perform(run, node, action), hasEnded: action.kind === "end" };
}

/** Something that an open attempt waits for has come. */
function receive(run: Run, node: NodeState, signal: Signal): readonly Work[] {
  return perform(run, node, receivedBy(run, node, signal));
}

const receivedBy = (run: Run, node: NodeState, signal: Signal): StepAction =>
  asked(run, node, (type, attempt) => type.receive(attempt, signal));

export function timePassed(run: Run, node: NodeState): readonly Work[] {
  return receive(run, withoutWait(run, node, "time"), { kind: "timerFired" });
}

/** The time of a task is up, and not that of its step. */
export function taskOverdue(run: Run, node: NodeState): readonly Work[] {
  const timeless = withoutWait(run, node, "time");
  const { task, waitsFor } = attemptOf(timeless);
  if (timeless.stopping !== null || task === null) return [];
  changeAttempt(run, timeless, { waitsFor: [...waitsFor, "cancel"] });
  run.effects.push({ kind: "cancelTask", node: node.id, attempt: task });
  return [];
}

export function answered(run: Run, node: NodeState, signal: Extract<Signal, { kind: "answered" }>): readonly Work[] {
  const service = SERVICES.find((one) => attemptOf(node).waitsFor.includes(one));
  return service === undefined ? [] : receive(run, withoutWait(run, node, service), signal);
}

/** The barrier is open. */
export const passBarrier = (run: Run, node: NodeState): readonly Work[] =>
  receive(run, withoutWait(run, node, "barrier"), { kind: "answered", answer: null });

function stepOf(run: Run, node: NodeState): StepNode {
  const definition = definitionOf(run, node);
  if (definition.kind !== "step") throw new Error(`node ${node.path} is no step`);
  const timeoutMs = node.attempts.at(-1)?.timeoutMs;
  return timeoutMs === undefined ? definition : { ...definition, timeoutMs };
}

/** What the step type says, or the failure of an expression that it evaluated. */
function asked(
  run: Run,
  node: NodeState,
  ask: (type: NonNullable<ReturnType<Run["types"]["get"]>>, attempt: StepAttempt) => StepAction,
): StepAction {
  const step = stepOf(run, node);
  const type = run.types.get(step.type);
  if (!type) throw new Error(`there is no step type ${step.type}`);
  try {
    return withinBytes(
      run,
      node,
      ask(type, {
        step,
        name: nameOf(step, node),
        at: run.at,
        number: node.attempts.length,
        attempt: attemptOf(node),
        scope: () => scopeOf(run, node),
      }),
    );
  } catch (error) {
    if (error instanceof HostRefused) return failed(error.message, "Authorization");
    if (!(error instanceof ExpressionError)) throw error;
    return failed(error.message, "ExpressionEvaluation");
  }
}

/** The action, or the failure of a step that would keep too much while it runs or waits. */
function withinBytes(run: Run, node: NodeState, action: StepAction): StepAction {
  if (action.kind === "end" || action.progress === undefined) return action;
  const failure = outputsFault(run, `Step '${nameOf(stepOf(run, node), node)}'`, addedBytes(node, action.progress));
  return failure ? { kind: "end", status: "failed", failure } : action;
}

const addedBytes = (node: NodeState, progress: Json): number =>
  progressBytesOf(progress) - progressBytesOf(attemptOf(node).progress);

/** What the step keeps from now on, which counts until the end of the attempt. */
function keptBy(run: Run, node: NodeState, action: { readonly progress?: Json }): Json {
  const progress = action.progress ?? attemptOf(node).progress;
  run.outputBytes = Math.max(0, run.outputBytes + addedBytes(node, progress));
  return progress;
}

const failed = (message: string, type: FailureType): StepEnd => ({
  kind: "end",
  status: "failed",
  failure: { message, types: [type] },
});

const refusedEnd = (failure: Failure): StepEnd => ({ kind: "end", status: "failed", failure });

function perform(run: Run, node: NodeState, action: StepAction): readonly Work[] {
  switch (action.kind) {
    case "end":
      return endStep(run, node, action);
    case "runTask": {
      const task = node.tasks + 1;
      const progress = keptBy(run, node, action);
      const { waitsFor } = attemptOf(node);
      const running = change(run, node.id, { tasks: task, status: "running", reason: null });
      const { selectors, work, until } = action;
      const awaited = until === undefined ? (["task"] as const) : (["task", "time"] as const);
      changeAttempt(run, running, { task, waitsFor: [...waitsFor, ...awaited], progress });
      run.effects.push({ kind: "enqueueTask", node: node.id, attempt: task, selectors, work });
      if (until !== undefined) run.effects.push({ kind: "startTimer", node: node.id, purpose: "wait", at: until });
      return [];
    }
    case "wait": {
      const { until, request, reason } = action;
      const progress = keptBy(run, node, action);
      const waiting = change(run, withdraw(run, node, ["time", "barrier", ...SERVICES]).id, {
        status: "waiting",
        reason,
      });
      const known = changeAttempt(run, waiting, { progress });
      const asked = request ? sendRequest(run, known, request) : known;
      const asking = action.isAtBarrier ? arrive(run, asked) : asked;
      if (until === undefined) return [];
      run.effects.push({ kind: "startTimer", node: node.id, purpose: "wait", at: until });
      changeAttempt(run, asking, { waitsFor: [...attemptOf(asking).waitsFor, "time"] });
      return [];
    }
    default:
      return unreachable(action);
  }
}

function endStep(run: Run, node: NodeState, end: StepEnd): readonly Work[] {
  const bytes = outputBytesOf(end);
  // What it has kept until now makes room.
  const kept = progressBytesOf(attemptOf(node).progress);
  const tooLarge = outputsFault(run, `Step '${nameOf(stepOf(run, node), node)}'`, bytes - kept);
  const { exitCode = null } = end;
  if (tooLarge && end.status === "succeeded") {
    const closed = endAttempt(run, node, "failed", { exitCode, failure: tooLarge });
    return failNode(run, closed, { status: "failed", failure: tooLarge });
  }
  if (!tooLarge) run.outputBytes += bytes;
  const made = tooLarge ? {} : { outputs: end.outputs ?? [], output: end.output ?? null };
  const ended = endAttempt(run, node, end.status, { exitCode, failure: end.failure ?? null, ...made });
  if (end.status === "succeeded") {
    exportOutputs(run, ended);
    return close(run, ended, "succeeded");
  }
  return failNode(run, ended, {
    status: end.status,
    failure: end.failure ?? { message: "The step failed", types: ["Unknown"] },
  });
}

type Ended = {
  readonly outcome: TaskOutcome;
  readonly log?: string;
  readonly delegate?: { readonly id: string; readonly name: string };
};

/**
 * A task has ended.
 *
 * A task that was asked to stop may have ended before the request reached it.
 * Exit 0 then stands: the script did all its work and nobody stopped it, and a
 * server that was down while the timeout passed must not roll back what had
 * succeeded in time. Any other end may be the request's own doing (a script that
 * caught TERM and exited 143), so the step ends as it was asked to.
 */
export function taskEnded(run: Run, node: NodeState, { outcome, log, delegate }: Ended): readonly Work[] {
  const step = stepOf(run, node);
  const isOverdue = attemptOf(node).waitsFor.includes("cancel");
  const known = changeAttempt(run, withdraw(run, withoutWait(run, node, "task"), ["time", "cancel"]), {
    delegate: delegate ?? null,
    survivors: outcome.kind === "cancelled" ? outcome.survivors : null,
  });
  const { stopping } = node;
  const action =
    isOverdue && !hasSucceeded(outcome) ? receivedBy(run, known, { kind: "taskOverdue" }) : endOf(run, known, outcome);
  if (stopping === null || (action.kind === "end" && action.status === "succeeded")) {
    if (action.kind !== "end") return stopping === null ? perform(run, known, action) : [];
    return perform(run, known, withLog(action, log));
  }
  const exitCode = outcome.kind === "exited" ? outcome.exitCode : null;
  if (stopping !== "expired") {
    endAttempt(run, known, stopping, { exitCode });
    return close(run, known, stopping);
  }
  const isAround = parentOf(run, node)?.stopping === "expired";
  const failureOf = outcome.kind === "cancelled" && outcome.wasReady ? untakenFailure : stepTimeout;
  const why = isAround ? aroundExpired(step, node) : failureOf(nameOf(step, node), step.timeoutMs);
  const failure = logged(why, log);
  return failNode(run, endAttempt(run, known, "expired", { exitCode, failure }), { status: "expired", failure });
}

const stepTimeout = (name: string, timeoutMs: number): Failure => timeoutFailure("step", name, timeoutMs);

const hasSucceeded = (outcome: TaskOutcome): boolean => outcome.kind === "exited" && outcome.exitCode === 0;

function endOf(run: Run, node: NodeState, outcome: TaskOutcome): StepAction {
  const step = stepOf(run, node);
  const name = nameOf(step, node);
  switch (outcome.kind) {
    case "exited":
    case "result":
      return receivedBy(run, node, { kind: "taskEnded", outcome });
    case "cancelled":
      return failed(`Step '${name}' was stopped by its delegate, although nobody had asked for it`, "Unknown");
    case "refused":
      return failed(`Step '${name}' failed: ${outcome.message}`, outcome.type ?? "ApplicationError");
    case "lost":
      if (run.types.get(step.type)?.repeats)
        return receivedBy(run, node, { kind: "taskLost", message: outcome.message });
      return failed(`Step '${name}' was lost: ${outcome.message}`, outcome.type);
    default:
      return unreachable(outcome);
  }
}

const logged = (failure: Failure, log: string | undefined): Failure => (log ? { ...failure, log } : failure);

const withLog = (end: StepEnd, log: string | undefined): StepEnd =>
  end.failure ? { ...end, failure: logged(end.failure, log) } : end;

/** The time of a step is up. */
export function stepExpired(run: Run, node: NodeState): readonly Work[] {
  const timeless = withoutWait(run, node, "timeout");
  if (attemptOf(timeless).waitsFor.includes("task")) {
    stopTask(run, timeless, "expired");
    return [];
  }
  const step = stepOf(run, node);
  const failure = stepTimeout(nameOf(step, node), step.timeoutMs);
  const ended = endAttempt(run, timeless, "expired", { failure });
  return failNode(run, ended, { status: "expired", failure });
}
