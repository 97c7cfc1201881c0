/**
 * The note in a delegate's folder in memory (safe.ts): whose it is. With it the next delegate of the machine knows what
 * became of no use (forgotten.ts). Few imports: the launcher needs it too.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "./fault.ts";

export const NOTE = "work-folder";

/** Returns the text of the note, or undefined if the folder has none. */
export function noteIn(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, NOTE), "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** It is there whole or not at all. The launcher of an earlier delegate may just have removed the folder. */
export function writeNote(folder: string, text: string): void {
  const fresh = join(folder, `${NOTE}.new`);
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, join(folder, NOTE));
}

/** Removes a folder that holds nothing but this note. With another one, a later delegate uses it. False: it stays. */
export function removeUnused(folder: string, note: string | undefined): boolean {
  try {
    if (readdirSync(folder).some((name) => name !== NOTE) || noteIn(folder) !== note) return false;
    rmSync(join(folder, NOTE), { force: true });
    rmdirSync(folder);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTEMPTY") return false;
    throw error;
  }
}
