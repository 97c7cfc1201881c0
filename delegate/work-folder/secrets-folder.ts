/**
 * The folder for scripts, output variables and secrets of running steps. It lies in memory, and in the work folder only
 * on a machine without a file system in memory that this user may use. While memory is full, the delegate takes no
 * tasks (availability.ts): another user must not be able to move secrets to a disk.
 */
import { dirname, join } from "node:path";
import { FullDiskError, startError, textOf } from "../fault.ts";
import type { Log } from "../log.ts";
import { removeFolderIfUnused } from "../runtime-folder/note.ts";
import { writeWorkFolderNote } from "../runtime-folder/unused-folders.ts";
import { holdsLock, type Release, tryLock } from "./lock.ts";
import { removeTree } from "./remove-tree.ts";
import { createFolder, type FolderProblem, holdsTask, isOwnFolder, type RuntimePath } from "./runtime-path.ts";
import type { WorkDir } from "./work-dir.ts";

/** Tasks of an earlier start, `<task>.<epoch>`, whose files are in another folder than those of new tasks, or lost. */
export type EarlierTasks = { readonly folder: string; readonly tasks: ReadonlySet<string> };

export type SecretsFolder = {
  readonly path: string;
  readonly inMemory: boolean;
  readonly earlier: EarlierTasks;
};

/** A work folder as a start has found it. */
export type OpenedWorkDir = {
  readonly workDir: WorkDir;
  readonly isRoot: boolean;
  /** Names of the folders of the tasks that an earlier start left. */
  readonly tasks: readonly string[];
};

/**
 * The folder on the disk stays while it holds tasks of an earlier start, whose values to mask lie there.
 * @throws Fault when only the folder on the disk could be used, and cannot be made
 */
export function chooseSecretsFolder(
  { lock, memory }: RuntimePath,
  { workDir, isRoot, tasks }: OpenedWorkDir,
  log: Pick<Log, "warn">,
): SecretsFolder {
  const disk = join(workDir.path, "secrets");
  if (memory === undefined) {
    const problem = createFolder(disk, isRoot);
    if (problem) throw startError(`${disk} cannot be used for the secrets of steps: ${problem.why}`);
    warnOfDisk(log, disk, "this user has no file system in memory");
    return { path: disk, inMemory: false, earlier: { folder: disk, tasks: new Set() } };
  }
  if (holdsTask(disk, tasks)) warnOfDisk(log, disk, "tasks of an earlier start have theirs there");
  else
    removeTree(disk).catch((error: unknown) =>
      log.warn({ folder: disk, error: textOf(error) }, "the unused folder for secrets could not be removed"),
    );
  // Without the lock, what is at the path in memory may be of another user.
  const elsewhere = tasks.filter((task) => memory !== lock || !holdsTask(memory, [task]));
  return { path: memory, inMemory: true, earlier: { folder: disk, tasks: new Set(elsewhere) } };
}

const warnOfDisk = (log: Pick<Log, "warn">, folder: string, reason: string): void =>
  log.warn({ folder }, `secrets of running steps lie on a disk: ${reason}`);

type Restorer = {
  /**
   * Makes the folder in memory with the lock of the identity and the note, if it could not be made at the start or was
   * removed. Other paths are not examined. @throws while it cannot be made, or another process holds the lock
   */
  readonly restore: (path: string) => void;
  readonly release: Release;
};

export function createRestorer({ memory }: RuntimePath, workDir: WorkDir): Restorer {
  const releases: Release[] = [];
  const isUsable = (path: string): boolean => isOwnFolder(path) && holdsLock(path);
  return {
    restore: (path) => {
      // The work folder may lie on a disk that is away.
      if (path !== memory || isUsable(path)) return;
      const problem = createFolder(path, process.getuid?.() === 0);
      if (problem) throw toError(path, problem);
      if (isUsable(path)) return;
      const unlock = tryLock(path);
      if (!unlock) throw new Error("another delegate with the same identity is running");
      const note = writeWorkFolderNote(path, workDir);
      releases.push(async () => {
        await unlock();
        await removeFolderIfUnused(path, note).catch(() => false);
      });
    },
    release: async () => {
      for (const release of releases) await release();
    },
  };
}

/** Does not show the path: another user who knows it before the folder is there could take it. */
function toError(path: string, { kind, why }: FolderProblem): Error {
  const message = `the folder for secrets in ${dirname(path)} cannot be made: ${why}`;
  return kind === "full" ? new FullDiskError(message) : new Error(message);
}
