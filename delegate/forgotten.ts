/**
 * Folders in memory (safe.ts) of delegates that were killed and did not start again. Each holds a note of its work
 * folder and of that one's lock. A delegate that starts removes those of its own user that are of no use any more.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { codeOf, textOf } from "./fault.ts";
import { lockName, tryLock } from "./lock.ts";
import type { Log } from "./log.ts";
import { noteIn, removeUnused, writeNote } from "./memory-note.ts";
import type { WorkDir } from "./work-dir.ts";

/** Where folders in memory are made, the first that is there. */
export const MEMORY = ["/dev/shm", "/run"] as const;
const NAME = /^railhead-[0-9a-f]{32}$/;

/** The random word tells the delegates on one work folder apart. */
export function noteFolder(folder: string, workDir: WorkDir, identity: string): void {
  const words = [workDir.path, lockName(identity), network(), randomBytes(9).toString("base64url")];
  writeNote(folder, `${words.join("\n")}\n`);
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
  if (note === undefined) return removeNoteless(folder, ownLock);
  const [workDir = "", lock = "", where = ""] = note.split("\n");
  // In another network the lock would seem free.
  if (!isAbsolute(workDir) || lock === ownLock || where !== network()) return false;
  const release = await tryLock(lock);
  if (!release) return false;
  try {
    if (!isGone(join(workDir, "identity"))) return removeUnused(folder, note);
    // Another delegate on a copy of the identity may have taken it before the lock was ours.
    if (noteIn(folder) !== note) return false;
    rmSync(folder, { recursive: true, force: true });
    return true;
  } finally {
    await release();
  }
}

/** Of an older version, which made no notes: only an empty one, while no other delegate runs here. */
function removeNoteless(folder: string, ownLock: string): boolean {
  const locks = readFileSync("/proc/net/unix", "latin1").match(/@railhead-delegate-[0-9a-f]{40}/g) ?? [];
  if (locks.some((lock) => lock !== `@${ownLock}`) || readdirSync(folder).length > 0) return false;
  rmdirSync(folder);
  return true;
}

const network = (): string => readlinkSync("/proc/self/ns/net");

function isGone(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return true;
    throw error;
  }
}
