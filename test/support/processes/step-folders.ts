/** The step files of a delegate, for tests that read them while no server runs. */
import { readdirSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { paths } from "../../../delegate/task-folder/paths.ts";
import type { ServerFolder } from "./server-process.ts";

/** Returns the folders of the steps on the delegate's disk. */
export const stepFolders = ({ delegateDir }: Pick<ServerFolder, "delegateDir">): readonly string[] =>
  readdirSync(join(delegateDir, "tasks")).map((name) => join(delegateDir, "tasks", name));

/** Resolves once the step has ended and its file contains all of its output. */
export function waitForStepEnd(folder: string): Promise<void> {
  return new Promise((resolve) => {
    const { journal } = paths(folder);
    const look = (): void => {
      if (!/^copied \d+$/m.test(readFileSync(journal, "utf8"))) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(journal, look);
    look();
  });
}
