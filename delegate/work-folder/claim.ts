/**
 * How a delegate takes its work folder, in this order:
 *
 * 1. The lock of the folder: one delegate on each folder. It holds for all that see the folder: two paths, two
 *    containers.
 * 2. The identity, which lies in the folder.
 * 3. The lock of the identity: one delegate of each identity on a machine. This lock alone decides what is a copy. It
 *    lies in memory, or in /tmp while memory cannot be used, under a name that begins with a hash of the identity
 *    (runtime-path.ts), so that copies, moves and mounts of the folder do not matter. The kernel gives it back when the
 *    process ends, so that no process number counts, and a restart of the machine clears it.
 * 4. A note beside that lock: which work folder it is, for people and for unused-folders.ts.
 * 5. User ids for the steps. They belong to the identity, so they are claimed after the check for a copy.
 *
 * A delegate is refused only while another process holds one of the locks. If the identity's lock fails for
 * another reason, the delegate starts and logs a warning.
 */
import { readdirSync, rmdirSync } from "node:fs";
import { Fault, textOf, startError } from "../fault.ts";
import { writeWorkFolderNote, readNotedWorkDir } from "../runtime-folder/unused-folders.ts";
import { lockWorkDir, type Release, takeLock } from "./lock.ts";
import type { Log } from "../log.ts";
import { removeFolderIfUnused } from "../runtime-folder/note.ts";
import { REGISTRY } from "../isolation/step-ids.ts";
import { type StepUser, createStepUser } from "../isolation/step-user.ts";
import { createRuntimeFolder, isOwnFolder, listRuntimeFolders, type RuntimePath } from "./runtime-path.ts";
import { chooseSecretsFolder, createRestorer, type OpenedWorkDir, type SecretsFolder } from "./secrets-folder.ts";
import { readOrCreateIdentity, prepareWorkDir, type WorkDir } from "./work-dir.ts";

export type WorkFolder = {
  readonly workDir: WorkDir;
  readonly identity: string;
  readonly secrets: SecretsFolder;
  /** Makes the folder in memory if it is that path and missing. @throws while it cannot be used */
  readonly restore: (path: string) => void;
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
    const opened = { workDir, isRoot, tasks };
    const { release: unlockIdentity, ...place } = await claimIdentity(identity, opened, log);
    releaseIdentity = unlockIdentity;
    const { restore, release: releaseRestored } = createRestorer(place, workDir);
    const release = async (): Promise<void> => {
      await releaseRestored();
      await unlockIdentity();
      await unlock();
    };
    const secrets = chooseSecretsFolder(place, opened, log);
    const claim = { registry, workDir: workDir.path, identity, chance, isNamed };
    return { workDir, identity, secrets, restore, user: createStepUser(user, claim), release };
  } catch (error) {
    await releaseIdentity?.();
    await unlock();
    throw error;
  }
}

/** Steps 3 and 4. @throws Fault when another process holds the lock of the identity */
async function claimIdentity(
  identity: string,
  { workDir, isRoot, tasks }: OpenedWorkDir,
  log: Pick<Log, "warn">,
): Promise<RuntimePath & { readonly release: Release }> {
  const unusable = new Set<string>();
  for (;;) {
    const place = createRuntimeFolder(identity, isRoot, { tasks, unusable });
    const { lock } = place;
    if (lock === undefined) {
      log.warn({}, "the check for a delegate on a copy of the work folder failed: no folder for the lock can be made");
      return { ...place, release: () => Promise.resolve() };
    }
    try {
      return { ...place, release: await lockWithNote(identity, lock, workDir) };
    } catch (error) {
      if (error instanceof Fault) {
        await removeFolderIfUnused(lock, undefined).catch(() => false);
        throw error;
      }
      // Its file system is full or has no locks, or another delegate has removed the unused folder.
      if (!isOwnFolder(lock)) continue;
      log.warn({ folder: lock, error: textOf(error) }, "this folder for the lock of the identity cannot be locked");
      unusable.add(lock);
      removeIfEmpty(lock);
    }
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It has files, or is gone.
  }
}

async function lockWithNote(identity: string, folder: string, workDir: WorkDir): Promise<Release> {
  const release = await lockIdentity(identity, folder, workDir);
  try {
    const note = writeWorkFolderNote(folder, workDir);
    return async () => {
      await release();
      await removeFolderIfUnused(folder, note).catch(() => false);
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * Locks all folders of the identity, and keeps the lock of `own`. Of two delegates that start at once with a folder
 * each, one succeeds: both take the locks in the order of the names, and look again for new folders when they have all.
 * @throws Fault when another process holds one of the locks; the system's error when `own` cannot be locked
 */
async function lockIdentity(identity: string, own: string, workDir: WorkDir): Promise<Release> {
  const list = (): ReadonlySet<string> => new Set([own, ...listRuntimeFolders(identity)].toSorted());
  const locks = new Map<string, Release>();
  const releaseExcept = async (kept?: string): Promise<void> => {
    for (const [folder, release] of locks) if (folder !== kept) await release();
    locks.clear();
  };
  try {
    do {
      await releaseExcept();
      for (const folder of list()) locks.set(folder, await lockFolder(folder, own, workDir));
    } while ([...list()].some((folder) => !locks.has(folder)));
    const release = locks.get(own) ?? (() => Promise.resolve());
    await releaseExcept(own);
    return release;
  } catch (error) {
    await releaseExcept();
    throw error;
  }
}

/** Another folder than `own` that cannot be locked has no delegate. */
async function lockFolder(folder: string, own: string, workDir: WorkDir): Promise<Release> {
  let release: Release | undefined;
  try {
    release = await takeLock(folder, () => {
      if (!isOwnFolder(folder)) throw new Error("it was removed");
    });
  } catch (error) {
    if (folder === own) throw error;
    return () => Promise.resolve();
  }
  if (!release) throw copyError(workDir, readNotedWorkDir(folder));
  return release;
}

const copyError = (workDir: WorkDir, other: string | undefined) =>
  startError(
    other === undefined || other === workDir.path
      ? `another delegate with the same identity is running, and not on the work folder ${workDir.path}, though perhaps on what was there before; ` +
          "delete the file identity in the folder that is a copy"
      : `another delegate with the same identity is running on the work folder ${other}; ` +
          `delete the file identity in the one that is a copy, ${workDir.path} or the other`,
  );
