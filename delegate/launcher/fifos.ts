/**
 * Named pipes for the output of steps, a new one for each step. A step opens its
 * output again with `echo oops >/dev/stderr`. It may not open an anonymous pipe of
 * root, a socket cannot be opened, and a file would be emptied. Node cannot make a
 * named pipe, so `mkfifo` makes many at once, ahead of time.
 */
import { spawn, spawnSync } from "node:child_process";
import { chownSync, closeSync, constants, openSync, rmSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { readNote, removeFolderIfUnused } from "../runtime-folder/note.ts";

const BATCH = 64;
const LOW = 16;

/** Descriptors to be closed by the caller. The pipe has no name any more. */
export type Pipe = { readonly reader: number; readonly writer: number };
export type TakePipe = (owner: { readonly uid: number; readonly gid: number } | undefined) => Pipe;

export function createFifos(folder: string, mkfifo: string): { readonly take: TakePipe; readonly close: () => void } {
  const runtimeFolder = dirname(folder);
  const note = readNote(runtimeFolder);
  let made = 0;
  let isMaking = false;
  const ready: string[] = [];
  const batch = (): string[] => Array.from({ length: BATCH }, () => join(folder, String(made++)));
  const argumentsFor = (paths: readonly string[]): string[] => ["-m", "600", "--", ...paths];

  const makeNow = (): void => {
    const paths = batch();
    const { status, error, stderr } = spawnSync(mkfifo, argumentsFor(paths), { encoding: "utf8", env: {} });
    if (status !== 0) throw new Error(`pipes for the output cannot be made: ${error?.message ?? stderr.trim()}`);
    ready.push(...paths);
  };

  const makeSoon = (): void => {
    if (isMaking) return;
    isMaking = true;
    const paths = batch();
    const child = spawn(mkfifo, argumentsFor(paths), { stdio: "ignore", env: {} });
    const over = (isMade: boolean): void => {
      isMaking = false;
      if (isMade) ready.push(...paths);
    };
    // `makeNow` reports a failure to the step that finds no pipe.
    child.once("error", () => over(false));
    child.once("exit", (code) => over(code === 0));
  };

  return {
    take: (owner) => {
      if (ready.length === 0) makeNow();
      const path = ready.shift() ?? "";
      if (ready.length < LOW) makeSoon();
      if (owner) chownSync(path, owner.uid, owner.gid);
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
      try {
        return { reader, writer: openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW) };
      } catch (error) {
        closeSync(reader);
        throw error;
      } finally {
        unlinkSync(path);
      }
    },
    close: () => {
      try {
        rmSync(folder, { recursive: true, force: true });
      } catch {
        // The next delegate removes what a step has made of it.
      }
      // The delegate has left before us, and left it to us where nothing else is in it. Steps that go on need theirs.
      removeFolderIfUnused(runtimeFolder, note).catch(() => {});
    },
  };
}
