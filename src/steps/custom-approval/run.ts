import {
  type FailureType,
  type Output,
  type StepAction,
  type StepAttempt,
  type StepEnd,
  type StepType,
} from "../../engine/index.ts";
import { resolveShell } from "../shell-script/resolve.ts";
import { areMet } from "./criteria.ts";
import type { CustomApprovalTemplate } from "./plan.ts";

/** Runs of one attempt: each is a task, and its log is kept. */
const MAX_RUNS = 10_000;

type Progress = { readonly runs: number };

const templateOf = ({ step }: StepAttempt): CustomApprovalTemplate => step.work as unknown as CustomApprovalTemplate;

/** Runs a script at intervals, until what it leaves meets the criteria. */
export const run: StepType = {
  repeats: true,
  needsApproval: true,
  begin(attempt) {
    const { intervalMs } = templateOf(attempt);
    const runs = Math.floor(attempt.step.timeoutMs / intervalMs);
    if (runs <= MAX_RUNS) return runScript(attempt, 0);
    const why = `its timeout and its retryInterval come to ${runs} runs of the script; at most ${MAX_RUNS} are allowed`;
    return failed(attempt, why, "ConfigurationFailure");
  },
  receive(attempt, signal) {
    switch (signal.kind) {
      case "timerFired":
        return runScript(attempt, (attempt.attempt.progress as Progress).runs);
      case "taskOverdue":
        return again(
          attempt,
          `did not end within its scriptTimeout of ${templateOf(attempt).scriptTimeoutMs / 1000} s`,
        );
      case "taskLost":
        return again(attempt, `was lost: ${signal.message}`);
      case "taskEnded":
        if (signal.outcome.kind !== "exited")
          return failed(attempt, "its delegate did not say how the script ended", "ApplicationError");
        if (signal.outcome.exitCode !== 0) return again(attempt, `exited with code ${signal.outcome.exitCode}`);
        return decided(attempt, signal.outcome.outputs);
      case "answered":
        return failed(attempt, "a service answered instead of a delegate", "ApplicationError");
    }
  },
};

/** Expressions of the script are resolved anew for each run. */
function runScript(attempt: StepAttempt, runs: number): StepAction {
  const { script, scriptTimeoutMs } = templateOf(attempt);
  return {
    kind: "runTask",
    selectors: attempt.step.selectors,
    work: resolveShell(script, attempt.scope()),
    until: attempt.at + scriptTimeoutMs,
    progress: { runs: runs + 1 },
  };
}

function decided(attempt: StepAttempt, outputs: readonly Output[]): StepAction {
  const { approval, rejection } = templateOf(attempt);
  const scope = attempt.scope();
  if (areMet(approval, outputs, scope)) return { kind: "end", status: "succeeded", exitCode: 0, outputs };
  if (!rejection || !areMet(rejection, outputs, scope)) return again(attempt, "met no criteria");
  const message = `Step '${attempt.name}' was rejected: its script met the rejection criteria`;
  const failure = { message, types: ["ApprovalRejection" as const] };
  return { kind: "end", status: "rejected", exitCode: 0, outputs, failure };
}

function again(attempt: StepAttempt, why: string): StepAction {
  const { runs } = attempt.attempt.progress as Progress;
  const until = attempt.at + templateOf(attempt).intervalMs;
  const message = `Waits for its approval criteria: run ${runs} of the script ${why.slice(0, 500)}. The next run begins at ${new Date(until).toISOString()}.`;
  return { kind: "wait", reason: { kind: "approval", message }, until };
}

const failed = ({ name }: StepAttempt, why: string, type: FailureType): StepEnd => ({
  kind: "end",
  status: "failed",
  failure: { message: `Step '${name}' failed: ${why}`, types: [type] },
});
