import type { Folders } from "../task-folder/task-folders.ts";
import { textOf } from "../fault.ts";
import type { Leftovers } from "../leftovers/leftovers.ts";
import type { Log } from "../log.ts";
import type { RuntimeFolder } from "../runtime-folder/runtime-folder.ts";
import type { LeasedTask } from "./task.ts";

type Deps = {
  readonly folders: Pick<Folders, "discard">;
  readonly runtimeFolder: Pick<RuntimeFolder, "remove" | "unlinkHome">;
  readonly leftovers: Pick<Leftovers, "retry" | "releaseUser">;
  readonly log: Pick<Log, "warn">;
};

/**
 * Removes the folders of an ended task, however much a step has put there: its task folder (journal, output), its part
 * of the runtime folder (script, secrets, output variables) and the link to its home folder. Then it passes the step's
 * user to `leftovers.releaseUser` (leftovers/leftovers.ts), which removes what the step left elsewhere and releases the
 * user. Never throws: a failure is logged, and the removal is tried again.
 */
export function removeTaskFolders(
  { folders, runtimeFolder, leftovers, log }: Deps,
  { lease, folder, owner, isClean }: Pick<LeasedTask, "lease" | "folder" | "owner" | "isClean">,
): void {
  const unlinkHome = async (): Promise<void> => owner && runtimeFolder.unlinkHome(owner.uid);
  const discardFolder = async (): Promise<void> => {
    if (folder !== undefined) await folders.discard(folder);
  };
  const removeAll = async (): Promise<void> => {
    // Each removal is tried, even if another one fails.
    const removed = await Promise.allSettled([unlinkHome(), runtimeFolder.remove(lease), discardFolder()]);
    for (const one of removed) if (one.status === "rejected") throw one.reason;
    // If processes of the task remain, its user is not released: no other task may get it.
    if (owner && isClean()) leftovers.releaseUser(owner);
  };
  removeAll().catch((error: unknown) => {
    log.warn(
      { ...lease, error: textOf(error) },
      "the folders of an ended task could not be removed; the removal is retried",
    );
    leftovers.retry(removeAll);
  });
}
