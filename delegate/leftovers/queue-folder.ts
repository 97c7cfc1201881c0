/** The folder in which launchers show POSIX message queues, on machines that do not show them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { StepUser } from "../isolation/step-user.ts";
import type { WorkDir } from "../work-folder/work-dir.ts";
import { hasQueues } from "./public-folders.ts";

export const queueFolderOf = ({ path }: WorkDir): string => join(path, "queues");

/** Undefined where the machine shows the queues, or nothing can be mounted. */
export function createQueueFolder(workDir: WorkDir, user: StepUser): string | undefined {
  if (hasQueues() || !user.names) return undefined;
  const path = queueFolderOf(workDir);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}
