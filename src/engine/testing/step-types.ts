/** Step types for tests of the engine: one that runs a task, and one that waits for a time or for an answer. */
import { evaluateTemplate } from "../expression/template.ts";
import { exitFailure } from "../failure.ts";
import type { StepEnd, StepType, StepTypes } from "../step-type.ts";

type Script = { readonly kind: string; readonly env: readonly { readonly name: string; readonly value: string }[] };

const script: StepType = {
  begin({ step, scope }) {
    const work = step.work as Script;
    const env = work.env.map(({ name, value }) => ({ name, value: evaluateTemplate(value, scope()) }));
    return { kind: "runTask", selectors: step.selectors, work: { ...work, env } };
  },
  receive({ name }, signal) {
    if (signal.kind !== "taskEnded" || signal.outcome.kind !== "exited") return failed("no exit code");
    const { exitCode, outputs } = signal.outcome;
    if (exitCode === 0) return { kind: "end", status: "succeeded", exitCode, outputs };
    return { kind: "end", status: "failed", exitCode, failure: exitFailure(name, exitCode) };
  },
};

const failed = (message: string): StepEnd => ({
  kind: "end",
  status: "failed",
  failure: { message, types: ["ApplicationError"] },
});

const pause: StepType = {
  begin: ({ at }) => ({
    kind: "wait",
    reason: { kind: "approval", message: "Waits for a decision." },
    until: at + 60_000,
    request: { service: "approval", request: null },
  }),
  receive(_, signal) {
    if (signal.kind === "answered" && signal.answer === "reject")
      return {
        ...failed("Rejected"),
        status: "rejected",
        failure: { message: "Rejected", types: ["ApprovalRejection"] },
      };
    // Any other text is the name of who approves.
    if (signal.kind !== "answered" || typeof signal.answer !== "string") return { kind: "end", status: "succeeded" };
    const output = { approverInputs: {}, approvalActivities: [{ user: { name: signal.answer } }] };
    return { kind: "end", status: "succeeded", output };
  },
};

const queue: StepType = {
  begin: ({ step }) => ({
    kind: "wait",
    reason: { kind: "lock", message: "Waits for the lock." },
    request: { service: "lock", key: step.id, until: "stage" },
  }),
  receive: () => ({ kind: "end", status: "succeeded" }),
};

const barrier: StepType = {
  begin: () => ({ kind: "wait", reason: { kind: "barrier", message: "Waits for the others." }, isAtBarrier: true }),
  receive: () => ({ kind: "end", status: "succeeded" }),
};

/** Runs its task until it exits with 0. */
const poll: StepType = {
  repeats: true,
  begin: ({ step, at }) => ({ kind: "runTask", selectors: step.selectors, work: step.work, until: at + 3_000 }),
  receive({ step, at }, signal) {
    if (signal.kind === "timerFired")
      return { kind: "runTask", selectors: step.selectors, work: step.work, until: at + 3_000 };
    if (signal.kind === "taskEnded" && signal.outcome.kind === "exited" && signal.outcome.exitCode === 0)
      return { kind: "end", status: "succeeded" };
    return { kind: "wait", reason: { kind: "approval", message: "Waits for another run." }, until: at + 5_000 };
  },
};

export const testStepTypes: StepTypes = new Map([
  ["ShellScript", script],
  ["Pause", pause],
  ["Approval", { ...pause, needsApproval: true }],
  ["Queue", queue],
  ["Barrier", barrier],
  ["Poll", poll],
]);
