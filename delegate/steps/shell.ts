/** Scripts, on this machine or on another host. */
import { shellTask } from "../../protocol/work/shell.ts";
import { startShell } from "../tasks/start-task.ts";
import { readWork, type StepKind } from "./kind.ts";

export const shell: StepKind = {
  kind: "shell",
  versions: [1, 2],
  needsFiles: true,
  start: (deps, lease, work) => readWork(shellTask, work, (task) => startShell(deps, lease, task)),
};
