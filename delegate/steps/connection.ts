/** Tests of connectors. */
import { connectionTask } from "../../protocol/work/connection.ts";
import { createConnectionTask } from "../tasks/connection-task.ts";
import { readWork, type StepKind } from "./kind.ts";

export const connection: StepKind = {
  kind: "connection",
  versions: [1],
  needsFiles: false,
  start: ({ intervals: { timers }, ownCluster }, lease, work) =>
    readWork(connectionTask, work, (task) => createConnectionTask({ timers, ownCluster }, lease, task)),
};
