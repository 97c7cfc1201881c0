import { nameOf } from "./instance-name.ts";
import type { Failure, FailureStrategy, NodeState, PlanNode, Status } from "./model.ts";

/** How a node has failed by itself, and not because a child of it has. */
export type End = { readonly status: Extract<Status, "failed" | "expired" | "rejected">; readonly failure: Failure };

const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  10: "SIGUSR1",
  11: "SIGSEGV",
  12: "SIGUSR2",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
  16: "SIGSTKFLT",
  17: "SIGCHLD",
  18: "SIGCONT",
  19: "SIGSTOP",
  20: "SIGTSTP",
  21: "SIGTTIN",
  22: "SIGTTOU",
  23: "SIGURG",
  24: "SIGXCPU",
  25: "SIGXFSZ",
  26: "SIGVTALRM",
  27: "SIGPROF",
  28: "SIGWINCH",
  29: "SIGIO",
  30: "SIGPWR",
  31: "SIGSYS",
};

/** The failure of a script that ended by itself with a code other than 0. */
export function exitFailure(name: string, exitCode: number): Failure {
  // Bash reports 128 + n for a child that signal n ended.
  const signal = SIGNALS[exitCode - 128];
  const because = signal === undefined ? "" : ` (128 + ${exitCode - 128}: ended by ${signal})`;
  return { message: `Step '${name}' exited with code ${exitCode}${because}`, types: ["ApplicationError"] };
}

const KINDS = {
  pipeline: "Pipeline",
  stage: "Stage",
  group: "Step group",
  parallel: "Group",
  loop: "Loop",
  step: "Step",
};

export const timeoutFailure = (kind: PlanNode["kind"], name: string, timeoutMs: number): Failure => ({
  message: `${KINDS[kind]} '${name}' did not end within its timeout of ${timeoutMs / 1000} s`,
  types: ["Timeout"],
});

/** The same of a step whose task was still waiting for a delegate. */
export function untakenFailure(name: string, timeoutMs: number): Failure {
  const { message, types } = timeoutFailure("step", name, timeoutMs);
  return { message: `${message}: no delegate took it`, types };
}

/** The failure of a node that was stopped because the time of a node around it was up. */
export const aroundExpired = (definition: PlanNode, node: Pick<NodeState, "iteration">): Failure => ({
  message: `${KINDS[definition.kind]} '${nameOf(definition, node)}' was stopped: the timeout of what it is part of has passed`,
  types: ["Timeout"],
});

/** Whether a strategy speaks of this failure. Documents have no word for expressions: the configuration is wrong. */
export const covers = ({ errors }: FailureStrategy, { types }: Failure): boolean =>
  errors.some(
    (error) =>
      error === "AllErrors" ||
      types.includes(error) ||
      (error === "ConfigurationFailure" && types.includes("ExpressionEvaluation")),
  );
