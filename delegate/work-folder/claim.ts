/**
 * How a delegate takes its work folder, in this order:
 *
 * 1. The lock of the folder: one delegate on each folder. It holds for all that see the folder: two paths, two containers.
 * 2. The identity, which lies in the folder.
 * 3. The lock of the identity: one delegate of each identity on a machine. This lock alone decides what is a copy. It lies
 *    in memory, or in /tmp while memory cannot be used, under a name made of the identity (runtime-path.ts), so that copies, moves and mounts of the folder do not
 *    matter. The kernel gives it back when the process ends, so that no process number counts, and a restart of the machine clears it.
 * 4. A note beside that lock: which work folder it is, for people and for unused-folders.ts.
 * 5. User ids for the steps. They belong to the identity, so they are claimed after the check for a copy.
 *
 * A delegate is refused only while another process holds one of the locks. If the identity's lock fails for
 * another reason, the delegate starts and logs a warning.
 */
import { readdirSync } from "node:fs";
import { textOf, startError } from "../fault.ts";
import { writeWorkFolderNote, readNotedWorkDir } from "../runtime-folder/unused-folders.ts";
import { lockWorkDir, type Release, takeLock } from "./lock.ts";
import type { Log } from "../log.ts";
import { removeFolderIfUnused } from "../runtime-folder/note.ts";
import { REGISTRY } from "../isolation/step-ids.ts";
import { type StepUser, createStepUser } from "../isolation/step-user.ts";
import { createFolder, createRuntimeFolder, listRuntimeFolders } from "./runtime-path.ts";
import { chooseSecretsFolder, createRestorer, type SecretsFolder } from "./secrets-folder.ts";
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
    const place = createRuntimeFolder(identity, isRoot, tasks, (folder, why) =>
      log.warn({ folder, why }, "this path of the delegate's folder in memory cannot be used"),
    );
    const { lock } = place;
    releaseIdentity = lock === undefined ? undefined : await claimIdentity(lock, workDir, isRoot, log);
    for (const folder of listRuntimeFolders(identity)) if (folder !== lock) await checkIsUnlocked(folder, workDir);
    const { restore, release: releaseRestored } = createRestorer(place, workDir);
    const release = async (): Promise<void> => {
      await releaseRestored();
      await releaseIdentity?.();
      await unlock();
    };
    const secrets = chooseSecretsFolder(place, workDir, tasks, isRoot, log);
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
  path: string,
  workDir: WorkDir,
  isRoot: boolean,
  log: Pick<Log, "warn">,
): Promise<Release> {
  let release: Release | undefined;
  try {
    release = await takeLock(path, () => void createFolder(path, isRoot));
  } catch (error) {
    // The file system is full or has no locks, or another user has taken the path meanwhile: nothing is written there.
    log.warn({ folder: path, error: textOf(error) }, "the check for a delegate on a copy of the work folder failed");
    return () => Promise.resolve();
  }
  if (!release) throw copyError(workDir, readNotedWorkDir(path));
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
