import { ExpressionError } from "../expression/error.ts";
import { exitFailure, timeoutFailure } from "../failure.ts";
import type { Failure, FailureType, NodeState, PlanNode, ShellWork, TaskOutcome } from "../model.ts";
import { resolveShell } from "../resolve.ts";
import { change, close, open, stateOf, type Run, type Work } from "../run.ts";
import { scopeFor } from "../scope.ts";
import { HostRefused } from "../target.ts";
import { unreachable } from "../status.ts";

type Step = PlanNode & { readonly kind: "step" };

/** Expressions are resolved now, at the last moment; one that has no value, or a host that is not allowed, fails the step before it becomes a task. */
export function startStep(run: Run, node: Step): readonly Work[] {
  const { attempt } = open(run, node.id);
  const work = resolved(run, node);
  if ("failure" in work) return close(run, node, "failed", work);
  run.effects.push({ kind: "enqueueTask", node: node.id, attempt, selectors: node.selectors, work });
  run.effects.push({ kind: "startTimer", node: node.id, attempt, at: run.at + node.timeoutMs });
  return [];
}

function resolved(run: Run, node: Step): ShellWork | { readonly failure: Failure } {
  try {
    return resolveShell(
      node.work,
      scopeFor(run.plan, (id) => stateOf(run, id), node.id),
    );
  } catch (error) {
    if (error instanceof HostRefused) return { failure: { message: error.message, types: ["Authorization"] } };
    if (!(error instanceof ExpressionError)) throw error;
    return { failure: { message: error.message, types: ["ExpressionEvaluation"] } };
  }
}

/** Asks the task to end. Its answer decides how the step ends; see `taskEnded`. */
export function stopStep(run: Run, node: Step, state: NodeState, stopping: "aborted" | "expired"): void {
  change(run, node.id, { stopping });
  run.effects.push({ kind: "cancelTask", node: node.id, attempt: state.attempt });
  if (stopping === "aborted") run.effects.push({ kind: "stopTimer", node: node.id, attempt: state.attempt });
}

/** How a task ended, and the end of its log. */
type Ended = { readonly outcome: TaskOutcome; readonly log?: string };

/**
 * The task's answer ends the step.
 *
 * A task that was asked to stop may have ended before the request reached it.
 * Exit 0 then stands: the script did all its work and nobody stopped it, and a
 * server that was down while the timeout passed must not roll back what had
 * succeeded in time. Any other end may be the request's own doing (a script that
 * caught TERM and exited 143), so the step ends as it was asked to: aborted or expired.
 */
export function taskEnded(run: Run, node: Step, state: NodeState, { outcome, log }: Ended): readonly Work[] {
  if (state.stopping === null) {
    run.effects.push({ kind: "stopTimer", node: node.id, attempt: state.attempt });
  }
  const facts = factsOf(outcome);
  if (outcome.kind === "exited" && outcome.exitCode === 0) {
    const failure = outputsFailure(run, node, outcome.outputs);
    return failure
      ? close(run, node, "failed", { ...facts, outputs: [], failure })
      : close(run, node, "succeeded", facts);
  }
  switch (state.stopping) {
    case null:
      return close(run, node, "failed", { ...facts, failure: withLog(failureFrom(node, outcome), log) });
    case "aborted":
      return close(run, node, "aborted", facts);
    case "expired":
      return close(run, node, "expired", {
        ...facts,
        failure: withLog(timeoutFailure(node.name, node.timeoutMs), log),
      });
    default:
      return unreachable(state.stopping);
  }
}

/** UTF-8 bytes of the output variables of one execution: its state holds them, and is written at each of its events. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

function outputsFailure(run: Run, node: Step, outputs: NodeState["outputs"]): Failure | undefined {
  if (outputs.length === 0) return undefined;
  const before = Object.values(run.before.nodes).flatMap((state) => state.outputs);
  const bytes = [...before, ...outputs].reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
  if (bytes <= MAX_OUTPUT_BYTES) return undefined;
  const limit = `The output variables of one execution have at most ${MAX_OUTPUT_BYTES} bytes together`;
  return failed(
    `Step '${node.name}' failed: ${limit}, and with those of this step they have ${bytes}`,
    "ApplicationError",
  );
}

/** What is kept of an outcome. Outputs count only when the script ended well. */
function factsOf(outcome: TaskOutcome): Partial<NodeState> {
  switch (outcome.kind) {
    case "exited":
      return { stopping: null, exitCode: outcome.exitCode, outputs: outcome.exitCode === 0 ? outcome.outputs : [] };
    case "cancelled":
      return { stopping: null, survivors: outcome.survivors };
    case "refused":
    case "lost":
      return { stopping: null };
    default:
      return unreachable(outcome);
  }
}

function failureFrom(node: Step, outcome: TaskOutcome): Failure {
  switch (outcome.kind) {
    case "exited":
      return exitFailure(node.name, outcome.exitCode);
    case "cancelled":
      return failed(`Step '${node.name}' was stopped by its delegate, although nobody had asked for it`, "Unknown");
    case "refused":
      return failed(`Step '${node.name}' failed: ${outcome.message}`, outcome.type ?? "ApplicationError");
    case "lost":
      return failed(`Step '${node.name}' was lost: ${outcome.message}`, outcome.type);
    default:
      return unreachable(outcome);
  }
}

const withLog = (failure: Failure, log: string | undefined): Failure => (log ? { ...failure, log } : failure);

const failed = (message: string, type: FailureType): Failure => ({ message, types: [type] });
