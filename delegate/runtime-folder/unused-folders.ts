/**
 * Folders in memory (runtime-folder.ts) of delegates that were killed and did not start again. Each holds a note of its
 * work folder. A delegate that starts removes the unused folders of its own user. While a delegate runs it has
 * the lock of its folder (claim.ts), and nothing is removed without that lock.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, renameSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { codeOf, textOf } from "../fault.ts";
import { idsInUse } from "../isolation/step-ids.ts";
import { livingProcesses } from "../processes/processes.ts";
import { isTaskName } from "../task-folder/task-folders.ts";
import { tryLock } from "../work-folder/lock.ts";
import type { Log } from "../log.ts";
import { NOTE, readNote, removeFolderIfUnused, writeNote } from "./note.ts";
import { removeTree } from "../work-folder/remove-tree.ts";
import { listFolders } from "../work-folder/runtime-path.ts";
import type { WorkDir } from "../work-folder/work-dir.ts";

/** How long the files of a task whose work folder is gone stay, in milliseconds: a day. */
const UNREPORTED_MS = 24 * 60 * 60 * 1000;

/** The caller has the folder's lock. Returns the note; its random word distinguishes delegates on one work folder. */
export function writeWorkFolderNote(folder: string, workDir: WorkDir): string {
  const note = `${[workDir.path, pidNamespace(), randomBytes(9).toString("base64url")].join("\n")}\n`;
  try {
    writeNote(folder, note);
  } catch (error) {
    // A step that fills the memory must not prevent the delegate from starting. The folder then stays if the delegate
    // is killed.
    if (codeOf(error) !== "ENOSPC" && codeOf(error) !== "EDQUOT") throw error;
  }
  return note;
}

/** The work folder that the note of a folder names. */
export const readNotedWorkDir = (folder: string): string | undefined => readNote(folder)?.split("\n")[0];

/** Removes unused folders; logs a failure and continues. @param places parents of folders in memory */
export async function removeUnusedFolders(
  log: Pick<Log, "info" | "warn">,
  places: readonly string[],
  now = Date.now(),
): Promise<void> {
  for (const folder of places.flatMap(listFolders)) {
    try {
      if (await removeIfUnused(folder, now)) log.info({ folder }, "removed an unused folder in memory");
    } catch (error) {
      log.warn({ folder, error: textOf(error) }, "an unused folder in memory could not be removed");
    }
  }
}

async function removeIfUnused(folder: string, now: number): Promise<boolean> {
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) return false;
  const note = readNote(folder);
  // Its delegate is starting, or was killed before it wrote the note.
  if (note === undefined) return false;
  const [workDir = "", where] = note.split("\n");
  // A delegate in another name space may have a work folder that this process cannot see.
  if (!isAbsolute(workDir) || where !== pidNamespace()) return false;
  if (!isMissing(join(workDir, "identity"))) return removeFolderIfUnused(folder, note, tryLock);
  // The work folder may have been moved, with steps that still run, or whose end is not reported yet.
  return hasRunningSteps(folder) || hasRecentTask(folder, now) ? false : removeWithContent(folder, note);
}

/**
 * Whether a task's files have changed lately: its delegate may still need its output variables and the values to mask.
 * The kernel sets the time of a change (ctime), and its step cannot; one of the future comes from a wrong clock.
 */
const hasRecentTask = (folder: string, now: number): boolean =>
  readdirSync(folder)
    .filter(isTaskName)
    .flatMap((name) => [join(folder, name), join(folder, name, "outputs")])
    .some((path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat !== undefined && Math.abs(now - stat.ctimeMs) < UNREPORTED_MS;
    });

/** Whether a process has the group of a task's folder, or was started with a script of the folder. */
function hasRunningSteps(folder: string): boolean {
  const groups = readdirSync(folder).map((name) => lstatSync(join(folder, name)).gid);
  const inUse = idsInUse();
  return (
    groups.some((gid) => gid !== process.getgid?.() && inUse.has(gid)) ||
    livingProcesses(2).some(({ pid }) => readCommand(pid).includes(`${folder}/`))
  );
}

/** Empty for a process that has ended meanwhile. */
function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/**
 * Removes the folder and its content. A delegate with the same identity that starts meanwhile creates the folder again.
 */
async function removeWithContent(folder: string, note: string): Promise<boolean> {
  const release = tryLock(folder);
  if (!release) return false;
  try {
    // A delegate on a copy of the work folder may have used the folder before this process got the lock.
    if (readNote(folder) !== note) return false;
    // The new name also is a runtime folder's: an interrupted removal is completed later.
    const removalPath = join(dirname(folder), `railhead-${randomBytes(16).toString("hex")}`);
    renameSync(folder, removalPath);
    // The note last: without it no later delegate would remove the rest.
    for (const name of readdirSync(removalPath)) if (name !== NOTE) await removeTree(join(removalPath, name));
    if (!(await removeTree(removalPath))) throw new Error("it holds more files than are removed at once");
    return true;
  } finally {
    await release();
  }
}

/** Identifies the name space of processes, and with it the container. */
const pidNamespace = (): string => readlinkSync("/proc/self/ns/pid");

function isMissing(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return true;
    throw error;
  }
}
