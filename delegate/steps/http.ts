/** HTTP requests, sent by the delegate itself. */
import { httpTask } from "../../protocol/work/http.ts";
import { runRequest } from "../http/run-request.ts";
import { startInProcessTask } from "../tasks/in-process-task.ts";
import { readWork, type StepKind } from "./kind.ts";

export const http: StepKind = {
  kind: "http",
  versions: [1],
  needsFiles: true,
  start: (deps, lease, work) =>
    readWork(httpTask, work, (task) =>
      startInProcessTask(deps, lease, {
        kind: task.kind,
        version: task.version,
        uses: task.secrets?.uses ?? [],
        run: (around) => runRequest(task, around),
      }),
    ),
};
