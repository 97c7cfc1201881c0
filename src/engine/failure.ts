import type { Failure, FailureStrategy } from "./model.ts";
import { unreachable } from "./status.ts";

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

export const timeoutFailure = (name: string, timeoutMs: number): Failure => ({
  message: `Step '${name}' did not end within its timeout of ${timeoutMs / 1000} s`,
  types: ["Timeout"],
});

/** The first strategy that speaks of this failure; undefined when none does. */
export const strategyFor = (strategies: readonly FailureStrategy[], failure: Failure): FailureStrategy | undefined =>
  strategies.find(({ errors }) => errors.some((error) => covers(error, failure)));

function covers(error: FailureStrategy["errors"][number], _failure: Failure): boolean {
  switch (error) {
    case "AllErrors":
      return true;
    default:
      return unreachable(error);
  }
}
