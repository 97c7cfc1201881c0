/** What a delegate keeps of its steps on the disk, for tests that look at it while no server is there. */
import { readdirSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { paths } from "../../delegate/task-folder/paths.ts";
import type { ServerFolder } from "./server-process.ts";

/** The folders of the steps that the delegate holds. */
export const steps = ({ delegateDir }: Pick<ServerFolder, "delegateDir">): readonly string[] =>
  readdirSync(join(delegateDir, "tasks")).map((name) => join(delegateDir, "tasks", name));

/** Settles once the step has ended and all that it wrote is in its file. */
export function stepEnded(folder: string): Promise<void> {
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
