/**
 * Folders in memory (safe.ts) of delegates that were killed and did not start again. Each holds a note of its work
 * folder and of the delegate's process. A delegate that starts removes those of its own user that are of no use any more.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { codeOf, textOf, unable } from "./fault.ts";
import { lockName, tryLock } from "./lock.ts";
import type { Log } from "./log.ts";
import { noteIn, removeUnused, writeNote } from "./memory-note.ts";
import { isAlive, type ProcessName, processInfo } from "./processes.ts";
import { removeTree } from "./remove-tree.ts";
import type { WorkDir } from "./work-dir.ts";

/** Where folders in memory are made, the first that is there. */
export const MEMORY = ["/dev/shm", "/run"] as const;
const NAME = /^railhead-[0-9a-f]{32}$/;

/**
 * The random word tells the delegates on one work folder apart.
 * @param holder the delegate's process
 * @throws Fault when a delegate with the same identity runs on another work folder: one is a copy of the other
 */
export function noteFolder(folder: string, workDir: WorkDir, identity: string, holder = ownProcess()): void {
  const note = parse(noteIn(folder) ?? "");
  if (note.workDir !== workDir.path && isRunning(note))
    throw unable(
      `another delegate with the same identity is running on the work folder ${note.workDir}; ` +
        `delete the file identity in the one that is a copy, ${workDir.path} or the other`,
    );
  const words = [
    workDir.path,
    lockName(identity),
    processes(),
    `${holder.pid} ${holder.startTime}`,
    randomBytes(9).toString("base64url"),
  ];
  try {
    writeNote(folder, `${words.join("\n")}\n`);
  } catch (error) {
    // A step that fills the memory must not keep the delegate from starting. The folder stays when the delegate is killed.
    if (codeOf(error) !== "ENOSPC" && codeOf(error) !== "EDQUOT") throw error;
  }
}

type Note = {
  readonly workDir: string;
  readonly lock: string;
  /** The name space that the pid is of. */
  readonly processes: string;
  readonly holder: ProcessName;
};

function parse(note: string): Note {
  const [workDir = "", lock = "", where = "", holder = ""] = note.split("\n");
  const [pid, startTime = ""] = holder.split(" ");
  return { workDir, lock, processes: where, holder: { pid: Number(pid), startTime } };
}

const isRunning = (note: Note): boolean => note.processes === processes() && isAlive(note.holder);

function ownProcess(): ProcessName {
  return { pid: process.pid, startTime: processInfo(process.pid)?.startTime ?? "" };
}

/** What cannot be removed is told and stays. @param identity of the delegate that looks */
export async function removeForgotten(
  identity: string,
  log: Pick<Log, "info" | "warn">,
  memory: readonly string[] = MEMORY,
): Promise<void> {
  for (const folder of memory.flatMap(foldersIn)) {
    try {
      if (await removeIfForgotten(folder, lockName(identity)))
        log.info({ folder }, "removed an unused folder in memory");
    } catch (error) {
      log.warn({ folder, error: textOf(error) }, "an unused folder in memory could not be removed");
    }
  }
}

function foldersIn(memory: string): readonly string[] {
  try {
    const names = readdirSync(memory).filter((name) => NAME.test(name));
    return names.map((name) => join(memory, name));
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "EACCES") return [];
    throw error;
  }
}

async function removeIfForgotten(folder: string, ownLock: string): Promise<boolean> {
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) return false;
  const note = noteIn(folder);
  // Its delegate is just being started, or was killed before it made the note.
  if (note === undefined) return false;
  const { workDir, lock, processes: where, holder } = parse(note);
  // Of another name space no process can be found.
  if (!isAbsolute(workDir) || lock === ownLock || where !== processes() || isAlive(holder)) return false;
  if (isGone(join(workDir, "identity"))) {
    // Another delegate on a copy of the identity may have taken it meanwhile.
    if (noteIn(folder) !== note) return false;
    if (!(await removeTree(folder))) throw new Error("it holds more files than are removed at once");
    return true;
  }
  const release = tryLock(workDir);
  if (!release) return false;
  try {
    return removeUnused(folder, note);
  } finally {
    await release();
  }
}

const processes = (): string => readlinkSync("/proc/self/ns/pid");

function isGone(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return true;
    throw error;
  }
}
