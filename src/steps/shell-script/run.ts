import { exitFailure, type ShellTemplate, type StepType } from "../../engine/index.ts";
import { resolveShell } from "./resolve.ts";

/** Runs a Bash script on a delegate, or from there on another host. */
export const run: StepType = {
  begin({ step, scope }) {
    const work = resolveShell(step.work as ShellTemplate, scope());
    return { kind: "runTask", selectors: step.selectors, work };
  },
  receive({ name }, signal) {
    if (signal.kind !== "taskEnded" || signal.outcome.kind !== "exited")
      return {
        kind: "end",
        status: "failed",
        failure: {
          message: `Step '${name}' failed: its delegate did not say how the script ended`,
          types: ["ApplicationError"],
        },
      };
    const { exitCode, outputs } = signal.outcome;
    // Outputs count only when the script ended well.
    if (exitCode === 0) return { kind: "end", status: "succeeded", exitCode, outputs };
    return { kind: "end", status: "failed", exitCode, failure: exitFailure(name, exitCode) };
  },
};
