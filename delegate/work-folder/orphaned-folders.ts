/**
 * Removes work folders without an owner. Work folders of local delegates lie side
 * by side, apart from the data directories of their servers, so that a deleted data
 * directory leaves its work folder behind. A note in each work folder names the owner;
 * the next local delegate of the machine removes folders whose owner is missing.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { codeOf, isFull, textOf } from "../fault.ts";
import { type Release, tryLock } from "./lock.ts";
import type { Log } from "../log.ts";
import { readRegularFile, replaceFile } from "../regular-file.ts";
import { removeTree } from "./remove-tree.ts";
import { hasLivingSteps, REGISTRY } from "../isolation/step-ids.ts";
import { hasIdentity, type WorkDir } from "./work-dir.ts";

const NOTE = "owner";
/**
 * A work folder under removal lies in a new folder `.gone-<random>`, as WORK_FOLDER, beside REMOVAL_MARK,
 * which holds its former path. Only these two are removed, and only if both names match: files of a person
 * stay, and then the folder stays, too.
 */
const REMOVAL_PREFIX = ".gone-";
const REMOVAL_NAME = /^\.gone-[A-Za-z0-9_-]{12}$/;
const WORK_FOLDER = "work-folder";
const REMOVAL_MARK = "railhead-removes-work-folder";

/**
 * Writes nothing if the note is there: a delegate has to start on a full disk, too.
 * @param owner the folder without which the work folder has no use
 * @throws the system's error
 */
export function writeOwnerNote(workDir: WorkDir, owner: string): void {
  if (readOwnerNote(workDir.path) === owner) return;
  replaceFile(join(workDir.path, NOTE), `${owner}\n`);
}

/** Notes the owner of the work folder, and removes the folders beside it whose owner no longer exists. */
export function recordOwner(workDir: WorkDir, owner: string, log: Log): void {
  try {
    writeOwnerNote(workDir, owner);
  } catch (error) {
    if (!isFull(error)) throw error;
    log.warn(
      { folder: workDir.path, error: textOf(error) },
      "no space is left for the note of the work folder's owner",
    );
  }
  removeOrphanedFolders(workDir, log).catch((error: unknown) =>
    log.warn({ error: textOf(error) }, "the search for work folders without an owner failed"),
  );
}

/** Checks the folders beside this one. Logs a failed removal and continues. */
export async function removeOrphanedFolders(workDir: WorkDir, log: Pick<Log, "info" | "warn">): Promise<void> {
  const siblings = dirname(workDir.path);
  for (const name of readdirSync(siblings)) {
    const folder = join(siblings, name);
    if (folder === workDir.path) continue;
    try {
      await removeIfOrphaned(folder, log);
    } catch (error) {
      log.warn({ folder, error: textOf(error) }, "a work folder whose data directory is gone could not be removed");
    }
  }
}

async function removeIfOrphaned(folder: string, log: Pick<Log, "info" | "warn">): Promise<void> {
  if (!isOwnFolder(folder)) return;
  // An earlier delegate has not finished this removal.
  const originalPath = REMOVAL_NAME.test(basename(folder)) ? textIn(join(folder, REMOVAL_MARK)) : undefined;
  if (originalPath !== undefined) return removeMarked(folder, originalPath, log);
  if (!isOrphaned(folder)) return;
  const release = lockIfFree(folder);
  if (!release) return;
  try {
    // The owner may have been restored before this process got the lock.
    if (!isOrphaned(folder)) return;
    // Unreported results: the disk of the data directory may only be unmounted.
    if (readdirSync(join(folder, "tasks")).length > 0)
      return log.warn({ folder }, "a work folder whose data directory is gone still holds tasks; it stays");
    // A step that an earlier delegate could not end may still write there.
    if (process.getuid?.() === 0 && hasLivingSteps(REGISTRY, folder))
      return log.warn({ folder }, "a work folder whose data directory is gone still has processes of steps; it stays");
    // The rename removes the folder from its own path at once.
    const removalFolder = join(dirname(folder), `${REMOVAL_PREFIX}${randomBytes(9).toString("base64url")}`);
    mkdirSync(removalFolder, { mode: 0o700 });
    writeFileSync(join(removalFolder, REMOVAL_MARK), `${folder}\n`, { mode: 0o600, flag: "wx" });
    renameSync(folder, join(removalFolder, WORK_FOLDER));
    await removeMarked(removalFolder, folder, log);
  } finally {
    await release();
  }
}

/** Steps of other delegates may have folders in it open, so nothing is removed by a path that they could change. */
async function removeMarked(gone: string, folder: string, log: Pick<Log, "info">): Promise<void> {
  if (!(await removeTree(join(gone, WORK_FOLDER)))) throw new Error("it holds more files than are removed at once");
  log.info({ folder, gone }, "removed a work folder whose data directory is gone");
  rmSync(join(gone, REMOVAL_MARK), { force: true });
  try {
    rmdirSync(gone);
  } catch (error) {
    // Files of a person stay. Another delegate may have finished the same removal.
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "ENOENT") throw error;
  }
}

/**
 * Whether the folder belongs to this user. Unreadable folders and names that are not UTF-8 do not belong to delegates.
 */
function isOwnFolder(folder: string): boolean {
  try {
    const stat = lstatSync(folder);
    return stat.isDirectory() && stat.uid === process.getuid?.();
  } catch {
    return false;
  }
}

/** Whether the folder is a work folder whose note names a missing owner. */
function isOrphaned(folder: string): boolean {
  const owner = readOwnerNote(folder);
  return hasIdentity(folder) && owner !== undefined && isAbsolute(owner) && isMissing(owner);
}

const readOwnerNote = (folder: string): string | undefined => textIn(join(folder, NOTE));

const textIn = (file: string): string | undefined => readRegularFile(file)?.toString("utf8").replace(/\n$/, "");

function isMissing(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return true;
    throw error;
  }
}

/** Undefined if the lock is taken or the folder is missing. */
function lockIfFree(folder: string): Release | undefined {
  try {
    return tryLock(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
