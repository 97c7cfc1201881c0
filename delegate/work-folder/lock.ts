/**
 * The lock of a folder, for one process at a time. It is the lock of an SQLite file in the folder, as for the server's
 * data directory: Node has no function for the kernel's file locks. claim.ts explains what is locked, and why.
 *
 * The kernel gives such a lock to one process and takes it back when that process ends, kill -9 included. So there is
 * nothing stale to detect, no pid that another process may have by then, and no race between two delegates that start
 * at once.
 *
 * No step can take it: steps with users of their own cannot open the file (0600), and steps in name spaces do not see
 * the work folder. A socket of the abstract name space, in contrast, is listed in /proc/net/unix for every user,
 * and any process can bind it once the delegate has stopped. A socket file needs a check whether it is stale.
 */
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { codeOf, Fault, textOf, startError } from "../fault.ts";
import { withOwnFolder } from "./runtime-path.ts";

/** Releases the lock; the end of the process does the same. */
export type Release = () => Promise<void>;

/** Name of the file whose lock is the lock of its folder. */
export const LOCK_FILE = "lock";
/**
 * A program that removes an unused folder holds its lock for a moment, and a delegate that ends may need one, too: for
 * a second a lock that another process holds does not count as a delegate's.
 */
const ATTEMPTS = 25;
const RETRY_MS = 40;
const SQLITE_BUSY = 5;
/** Linux's O_PATH, which Node does not define: refers to a file without opening it. */
const O_PATH = 0o10_000_000;

/**
 * Files that this process has locked, by device and inode. The kernel releases a lock when its process closes any
 * descriptor of the file, so a locked file is not opened again. The map prevents garbage collection, which would close
 * the file, too.
 */
const lockedFiles = new Map<string, DatabaseSync>();

/**
 * @param prepare creates the folder if it is missing; called before each attempt, since an unused folder may be removed
 * @throws Fault when another process holds the lock, or the folder cannot have one
 */
export async function lockWorkDir(path: string, prepare = (): void => {}): Promise<Release> {
  let release: Release | undefined;
  try {
    release = await takeLock(path, prepare);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw startError(`the work folder ${path} cannot be locked: ${textOf(error)}; choose another with --work-dir`);
  }
  if (!release)
    throw startError(`another delegate is running on the work folder ${path}; choose another with --work-dir`);
  return release;
}

/**
 * Tries for a second at most. Undefined: another process held the lock all the time.
 * @param prepare as for `lockWorkDir`
 * @throws the system's error
 */
export async function takeLock(path: string, prepare = (): void => {}): Promise<Release | undefined> {
  for (let look = 1; ; look++) {
    try {
      prepare();
      const release = tryLock(path);
      if (release || look === ATTEMPTS) return release;
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || look === ATTEMPTS) throw error;
    }
    await sleep(RETRY_MS);
  }
}

/**
 * Undefined: this or another process holds it, or the folder was removed or replaced meanwhile. Until this process has
 * the lock, another user can take the path of a folder that is removed: nothing is created or locked there.
 * @throws the system's error; ENOENT if there is no folder; an error if it is another user's
 */
export function tryLock(path: string): Release | undefined {
  return withOwnFolder(path, (folder) => {
    const at = join(folder, LOCK_FILE);
    if (fileIdentity(at) === undefined) createLockFile(at);
    // While this descriptor is open, no later file has the same inode. Closing it releases no lock, unlike other
    // descriptors.
    const descriptor = openSync(at, O_PATH | constants.O_NOFOLLOW);
    try {
      const key = identityOf(fstatSync(descriptor, { bigint: true }));
      return lockedFiles.has(key) ? undefined : lockFile(join(path, LOCK_FILE), key);
    } finally {
      closeSync(descriptor);
    }
  });
}

/** Whether this process has the lock of the folder. @throws the system's error */
export const holdsLock = (path: string): boolean => lockedFiles.has(fileIdentity(join(path, LOCK_FILE)) ?? "");

/** @param key identity of the file, which a process may remove at any time until this one has the lock */
function lockFile(at: string, key: string): Release | undefined {
  let file: DatabaseSync | undefined;
  let isLocked = false;
  try {
    // SQLite must not create a file: every user could read it, and so lock it.
    const url = pathToFileURL(at);
    url.search = "?mode=rw";
    file = new DatabaseSync(url);
    // Node's SQLite refuses the mode `off`; the default mode would create a second file.
    file.exec("pragma journal_mode = memory; begin exclusive");
    isLocked = fileIdentity(at) === key;
  } catch (error) {
    // SQLite reports a removed file as one that it cannot open.
    if (!isBusy(error) && fileIdentity(at) === key) throw error;
  } finally {
    if (!isLocked) file?.close();
  }
  if (!file || !isLocked) return undefined;
  const locked = file;
  lockedFiles.set(key, locked);
  return () => {
    // A second release must not release the lock of a later file with the same inode.
    if (lockedFiles.get(key) === locked) {
      lockedFiles.delete(key);
      locked.close();
    }
    return Promise.resolve();
  };
}

const identityOf = (stat: BigIntStats): string => `${stat.dev}:${stat.ino}`;

/** Undefined: there is no such file. */
function fileIdentity(at: string): string | undefined {
  const stat = lstatSync(at, { throwIfNoEntry: false, bigint: true });
  return stat && identityOf(stat);
}

/** Only its owner can read it: a user that can read a file can lock it. */
function createLockFile(at: string): void {
  try {
    writeFileSync(at, "", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

const isBusy = (error: unknown): boolean =>
  codeOf(error) === "ERR_SQLITE_ERROR" && error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
