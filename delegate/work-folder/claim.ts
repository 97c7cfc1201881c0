/**
 * How a delegate takes its work folder, in this order:
 *
 * 1. The lock of the folder: one delegate on each folder. It holds for all that see the folder: two paths, two containers.
 * 2. The identity, which lies in the folder.
 * 3. The lock of the identity: one delegate of each identity on a machine. This lock alone decides what is a copy. It lies
 *    in memory under a name made of the identity, so that copies, moves and mounts of the folder do not matter. The kernel
 *    gives it back when the process ends, so that no process number counts, and a restart of the machine clears it.
 * 4. A note beside that lock: which work folder it is, for people and for unused-folders.ts.
 * 5. User ids for the steps. They belong to the identity, so they are claimed after the check for a copy.
 *
 * A delegate is refused only while another process holds one of the locks. If the identity's lock fails for
 * another reason, the delegate starts and logs a warning.
 */
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { textOf, startError } from "../fault.ts";
import { writeWorkFolderNote, readNotedWorkDir } from "../runtime-folder/unused-folders.ts";
import { lockWorkDir, type Release, takeLock, tryLock } from "./lock.ts";
import type { Log } from "../log.ts";
import { removeFolderIfUnused } from "../runtime-folder/note.ts";
import { REGISTRY } from "../isolation/step-ids.ts";
import { type StepUser, createStepUser } from "../isolation/step-user.ts";
import { readOrCreateIdentity, prepareWorkDir, type WorkDir } from "./work-dir.ts";

export type WorkFolder = {
  readonly workDir: WorkDir;
  readonly identity: string;
  /** Folder for secrets of running steps: in memory, or in the work folder if no file system in memory exists. */
  readonly secrets: { readonly path: string; readonly inMemory: boolean };
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
    const place = createRuntimeFolder(identity, isRoot);
    releaseIdentity = place && (await claimIdentity(place.path, workDir, isRoot, log));
    const release = async (): Promise<void> => {
      await releaseIdentity?.();
      await unlock();
    };
    const secrets = place?.inMemory ? place : { path: createDiskFolder(workDir, isRoot), inMemory: false };
    const claim = { registry, workDir: workDir.path, identity, chance, isNamed };
    return { workDir, identity, secrets, user: createStepUser(user, claim), release };
  } catch (error) {
    await releaseIdentity?.();
    await unlock();
    throw error;
  }
}

/** Parents of runtime folders; the first usable one is taken. */
const MEMORY_PARENTS = ["/dev/shm", "/run"] as const;
/** Parent of the identity's lock where no file system in memory exists. Steps without a user of their own have another /tmp. */
const DISK_PARENT = "/tmp";
/** Parents that `removeUnusedFolders` searches. */
export const RUNTIME_PARENTS = [...MEMORY_PARENTS, DISK_PARENT] as const;

const TMPFS = 0x0102_1994;
const RAMFS = 0x8584_58f6;

type RuntimePath = { readonly path: string; readonly inMemory: boolean };

/**
 * Creates the runtime folder of this identity, in the first place where the delegate owns that name. Another user of the
 * machine can see the name once it was there, and take it while the delegate is stopped: then the next place is used.
 * Undefined: no such folder can be made.
 */
export function createRuntimeFolder(identity: string, isRoot: boolean): RuntimePath | undefined {
  const name = `railhead-${createHash("sha256").update(`secrets of ${identity}`).digest("hex").slice(0, 32)}`;
  return RUNTIME_PARENTS.map((place): RuntimePath => ({
    path: join(place, name),
    inMemory: place !== DISK_PARENT && isInMemory(place),
  }))
    .filter(({ path, inMemory }) => inMemory || path.startsWith(DISK_PARENT))
    .find(({ path }) => createFolder(path, isRoot));
}

function isInMemory(folder: string): boolean {
  try {
    return [TMPFS, RAMFS].includes(statfsSync(folder).type);
  } catch {
    return false;
  }
}

function createFolder(path: string, isRoot: boolean): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const stat = lstatSync(path);
    if (!stat.isDirectory() || stat.uid !== process.getuid?.()) return false;
    chmodSync(path, isRoot ? 0o711 : 0o700);
    return true;
  } catch {
    return false;
  }
}

function createDiskFolder(workDir: WorkDir, isRoot: boolean): string {
  const path = join(workDir.path, "secrets");
  if (!createFolder(path, isRoot)) throw startError(`${path} cannot be used for the secrets of steps`);
  return path;
}

/**
 * Makes the folder in memory again, with the lock of the identity and the note, after it was removed. The end of the
 * process releases the lock. @throws when it cannot be made, or another process holds the lock
 */
export function restoreRuntimeFolder(path: string, secrets: WorkFolder["secrets"], workDir: WorkDir): void {
  // The work folder may lie on a disk that is away.
  if (!secrets.inMemory || path !== secrets.path) return;
  if (!createFolder(path, process.getuid?.() === 0))
    throw new Error(`the folder ${path} is missing and cannot be made`);
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

const copyError = (workDir: WorkDir, other: string | undefined) =>
  startError(
    other === undefined || other === workDir.path
      ? `another delegate with the same identity is running, and not on the work folder ${workDir.path}, though perhaps on what was there before; ` +
          "delete the file identity in the folder that is a copy"
      : `another delegate with the same identity is running on the work folder ${other}; ` +
          `delete the file identity in the one that is a copy, ${workDir.path} or the other`,
  );
