/**
 * How a delegate takes its work folder, in this order:
 *
 * 1. The lock of the folder: one delegate on each folder. It holds for all that see the folder: two paths, two containers.
 * 2. The identity, which lies in the folder.
 * 3. The lock of the identity: one delegate of each identity on a machine. This lock alone decides what is a copy. It lies
 *    in memory under a name made of the identity (runtime-path.ts), so that copies, moves and mounts of the folder do not
 *    matter. The kernel gives it back when the process ends, so that no process number counts, and a restart of the machine clears it.
 * 4. A note beside that lock: which work folder it is, for people and for unused-folders.ts.
 * 5. User ids for the steps. They belong to the identity, so they are claimed after the check for a copy.
 *
 * A delegate is refused only while another process holds one of the locks. If the identity's lock fails for
 * another reason, the delegate starts and logs a warning.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { textOf, startError } from "../fault.ts";
import { writeWorkFolderNote, readNotedWorkDir } from "../runtime-folder/unused-folders.ts";
import { lockWorkDir, type Release, takeLock, tryLock } from "./lock.ts";
import type { Log } from "../log.ts";
import { removeFolderIfUnused } from "../runtime-folder/note.ts";
import { REGISTRY } from "../isolation/step-ids.ts";
import { type StepUser, createStepUser } from "../isolation/step-user.ts";
import { removeTree } from "./remove-tree.ts";
import { createFolder, createRuntimeFolder, holdsTask, listRuntimeFolders, type RuntimePath } from "./runtime-path.ts";
import { readOrCreateIdentity, prepareWorkDir, type WorkDir } from "./work-dir.ts";

export type WorkFolder = {
  readonly workDir: WorkDir;
  readonly identity: string;
  /** Folder for secrets of running steps: in memory, or in the work folder (`chooseSecretsFolder`). */
  readonly secrets: RuntimePath;
  readonly user: StepUser;
  /** Releases everything; the end of the process releases the locks, too. */
  readonly release: Release;
};

type Wanted = {
  /** Path of the folder, which is created if it does not exist. */
  readonly path: string;
  /** As of --step-user. */
  readonly stepUser: string | undefined;
  /** Users of steps are to have names. */
  readonly isNamed: boolean;
  /** File of the machine's registry of user ids. */
  readonly registry?: string;
};

type Deps = { readonly chance: () => number; readonly log: Pick<Log, "warn"> };

/** @throws Fault when another delegate runs on the folder or on a copy of it, or the machine does not allow it */
export async function claimWorkFolder(wanted: Wanted, { chance, log }: Deps): Promise<WorkFolder> {
  const isRoot = process.getuid?.() === 0;
  const { path, stepUser: user, registry = REGISTRY, isNamed } = wanted;
  const workDir = prepareWorkDir(path, isRoot);
  const unlock = await lockWorkDir(workDir.path, () => void prepareWorkDir(path, isRoot));
  let releaseIdentity: Release | undefined;
  try {
    const identity = readOrCreateIdentity(workDir);
    const tasks = readdirSync(workDir.tasks);
    const place = createRuntimeFolder(identity, isRoot, tasks, (folder, why) =>
      log.warn({ folder, why }, "this name of the delegate's folder in memory cannot be used; the next one is tried"),
    );
    releaseIdentity = place && (await claimIdentity(place.path, workDir, isRoot, log));
    for (const folder of listRuntimeFolders(identity))
      if (folder !== place?.path) await checkIsUnlocked(folder, workDir);
    const release = async (): Promise<void> => {
      await releaseIdentity?.();
      await unlock();
    };
    const secrets = chooseSecretsFolder(place, join(workDir.path, "secrets"), tasks, isRoot, log);
    const claim = { registry, workDir: workDir.path, identity, chance, isNamed };
    return { workDir, identity, secrets, user: createStepUser(user, claim), release };
  } catch (error) {
    await releaseIdentity?.();
    await unlock();
    throw error;
  }
}

/**
 * The folder for secrets: in memory, unless only the one on the disk holds tasks of an earlier start, whose values to mask
 * lie there. Otherwise the folder on the disk is removed: no task needs its files.
 */
function chooseSecretsFolder(
  place: RuntimePath | undefined,
  disk: string,
  tasks: readonly string[],
  isRoot: boolean,
  log: Pick<Log, "warn">,
): RuntimePath {
  const holdsTasks = holdsTask(disk, tasks);
  if (place?.inMemory && (!holdsTasks || holdsTask(place.path, tasks))) {
    if (!holdsTasks)
      removeTree(disk).catch((error: unknown) =>
        log.warn({ folder: disk, error: textOf(error) }, "the unused folder for secrets could not be removed"),
      );
    return place;
  }
  const why = createFolder(disk, isRoot);
  if (why !== undefined) throw startError(`${disk} cannot be used for the secrets of steps: ${why}`);
  const reason = place?.inMemory ? "tasks of an earlier start have theirs there" : "no folder in memory can be used";
  log.warn({ folder: disk }, `secrets of running steps lie on a disk: ${reason}`);
  return { path: disk, inMemory: false };
}

/**
 * Makes the folder in memory again, with the lock of the identity and the note, after it was removed. The end of the
 * process releases the lock. @throws when it cannot be made, or another process holds the lock
 */
export function restoreRuntimeFolder(path: string, secrets: WorkFolder["secrets"], workDir: WorkDir): void {
  // The work folder may lie on a disk that is away.
  if (!secrets.inMemory || path !== secrets.path) return;
  const why = createFolder(path, process.getuid?.() === 0);
  if (why !== undefined) throw new Error(`the folder ${path} is missing and cannot be made: ${why}`);
  if (!tryLock(path)) throw new Error("another delegate with the same identity is running");
  writeWorkFolderNote(path, workDir);
}

/** Steps 3 and 4. @throws Fault when another process holds the lock of the identity */
async function claimIdentity(
  path: string,
  workDir: WorkDir,
  isRoot: boolean,
  log: Pick<Log, "warn">,
): Promise<Release> {
  let unlock: Release | undefined;
  try {
    unlock = await takeLock(path, () => void createFolder(path, isRoot));
  } catch (error) {
    // The file system is full or has no locks. The delegate starts without the check for copies.
    log.warn({ folder: path, error: textOf(error) }, "the check for a delegate on a copy of the work folder failed");
    unlock = () => Promise.resolve();
  }
  if (!unlock) throw copyError(workDir, readNotedWorkDir(path));
  const release = unlock;
  try {
    const note = writeWorkFolderNote(path, workDir);
    return async () => {
      await release();
      await removeFolderIfUnused(path, note).catch(() => false);
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * A delegate with this identity may run under another name of the folder, if another user of the machine had the first
 * name at its start. @throws Fault when it does
 */
async function checkIsUnlocked(folder: string, workDir: WorkDir): Promise<void> {
  let release: Release | undefined;
  try {
    release = await takeLock(folder);
  } catch {
    // It was removed, or cannot be locked: no delegate runs there.
    return;
  }
  if (!release) throw copyError(workDir, readNotedWorkDir(folder));
  await release();
}

const copyError = (workDir: WorkDir, other: string | undefined) =>
  startError(
    other === undefined || other === workDir.path
      ? `another delegate with the same identity is running, and not on the work folder ${workDir.path}, though perhaps on what was there before; ` +
          "delete the file identity in the folder that is a copy"
      : `another delegate with the same identity is running on the work folder ${other}; ` +
          `delete the file identity in the one that is a copy, ${workDir.path} or the other`,
  );
