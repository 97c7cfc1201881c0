/**
 * The note in a delegate's runtime folder (runtime-folder.ts) names its work folder. With it the next delegate of the
 * machine finds unused folders (unused-folders.ts). Few imports: the launcher needs it too.
 */
import { readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../fault.ts";
import { readRegularFile, replaceFile } from "../regular-file.ts";
import { LOCK_FILE, type Release, takeLock } from "../work-folder/lock.ts";

export const NOTE = "work-folder";

/** Returns the text of the note, or undefined if the folder has none. */
export function readNote(folder: string): string | undefined {
  return readRegularFile(join(folder, NOTE))?.toString("utf8");
}

/** Writes the note in one rename, so that no reader sees a part of it. */
export function writeNote(folder: string, text: string): void {
  replaceFile(join(folder, NOTE), text);
}

/**
 * Removes a folder that holds only this note. False: the folder stays. A folder with another note is used by a later
 * delegate. The lock of the folder is that of the delegate's identity (claim.ts): a delegate that starts at the same
 * time waits for it, and then makes the folder again.
 * @param lock takes the lock; waits for a second by default
 */
export async function removeFolderIfUnused(
  folder: string,
  note: string | undefined,
  lock: (folder: string) => Release | undefined | Promise<Release | undefined> = (at) => takeLock(at),
): Promise<boolean> {
  try {
    if (!isUnused(folder, note)) return false;
    const release = await lock(folder);
    if (!release) return false;
    try {
      if (!isUnused(folder, note)) return false;
      for (const name of readdirSync(folder).filter(isPartOfNote)) rmSync(join(folder, name), { force: true });
      rmSync(join(folder, LOCK_FILE), { force: true });
      rmdirSync(folder);
      return true;
    } finally {
      await release();
    }
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTEMPTY") return false;
    throw error;
  }
}

/** Also the file of a delegate that was killed while it wrote the note. */
const isPartOfNote = (name: string): boolean => name === NOTE || name.startsWith(`${NOTE}.`);

const isUnused = (folder: string, note: string | undefined): boolean =>
  readNote(folder) === note && readdirSync(folder).every((name) => isPartOfNote(name) || name === LOCK_FILE);
