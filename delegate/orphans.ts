/**
 * Work folders that servers have chosen for their local delegates lie side by
 * side, away from the data directories they belong to, so that deleting a data
 * directory leaves its work folder behind. Each holds a note of its owner; the
 * next local delegate of the machine removes those whose owner is gone.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { codeOf, Fault, textOf } from "./fault.ts";
import { lockWorkDir, type Release } from "./lock.ts";
import type { Log } from "./log.ts";
import { removeTree } from "./remove-tree.ts";
import { hasLivingSteps, REGISTRY } from "./step-ids.ts";
import type { WorkDir } from "./work-dir.ts";

const NOTE = "owner";
/** Begins the names of work folders that are being removed. */
const GONE = ".gone-";

/** @param owner the folder without which the work folder has no use */
export function noteOwner(workDir: WorkDir, owner: string): void {
  const fresh = join(workDir.path, `${NOTE}.new`);
  writeFileSync(fresh, `${owner}\n`, { mode: 0o600 });
  renameSync(fresh, join(workDir.path, NOTE));
}

/** Looks at the folders beside this one. What cannot be removed is told and stays. */
export async function removeOrphans(workDir: WorkDir, log: Pick<Log, "info" | "warn">): Promise<void> {
  const beside = dirname(workDir.path);
  for (const name of readdirSync(beside)) {
    const folder = join(beside, name);
    if (folder === workDir.path) continue;
    try {
      await removeOrphan(folder, log);
    } catch (error) {
      log.warn({ folder, error: textOf(error) }, "a work folder whose data directory is gone could not be removed");
    }
  }
}

async function removeOrphan(folder: string, log: Pick<Log, "info" | "warn">): Promise<void> {
  if (!isOurs(folder)) return;
  // An earlier delegate has not come to its end.
  if (basename(folder).startsWith(GONE)) return remove(folder);
  if (!isOrphan(folder)) return;
  const release = await lockIfFree(folder);
  if (!release) return;
  try {
    // Its owner may have come back before the lock was ours.
    if (!isOrphan(folder)) return;
    // Results that nobody has fetched: the data directory's disk may only be away.
    if (readdirSync(join(folder, "tasks")).length > 0)
      return log.warn({ folder }, "a work folder whose data directory is gone still holds tasks; it stays");
    // A step that an earlier delegate could not end may still write there.
    if (process.getuid?.() === 0 && hasLivingSteps(REGISTRY, folder))
      return log.warn({ folder }, "a work folder whose data directory is gone still has processes of steps; it stays");
    // Under its own name it is there whole or not at all.
    const gone = join(dirname(folder), `${GONE}${randomBytes(9).toString("base64url")}`);
    renameSync(folder, gone);
    await remove(gone);
    log.info({ folder }, "removed a work folder whose data directory is gone");
  } finally {
    await release();
  }
}

/** Other delegates' steps may still hold folders in it open: nothing is removed by a path that they could change. */
async function remove(folder: string): Promise<void> {
  if (!(await removeTree(folder))) throw new Error("it holds more files than are removed at once");
}

/** A folder of our user's. Names that are not UTF-8, and what we may not look at, are not a delegate's. */
function isOurs(folder: string): boolean {
  try {
    const stat = lstatSync(folder);
    return stat.isDirectory() && stat.uid === process.getuid?.();
  } catch {
    return false;
  }
}

/** With a note, and what the note names is surely not there. */
function isOrphan(folder: string): boolean {
  const owner = noteIn(folder);
  return owner !== undefined && isAbsolute(owner) && isGone(owner);
}

function noteIn(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, NOTE), "utf8").replace(/\n$/, "");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isGone(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return true;
    throw error;
  }
}

async function lockIfFree(folder: string): Promise<Release | undefined> {
  try {
    return await lockWorkDir(folder);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
