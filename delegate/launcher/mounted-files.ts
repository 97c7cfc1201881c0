/**
 * Keeps the files with the users of steps mounted over those of the machine. The kernel removes a mount in every name
 * space as soon as a process replaces the file below it, as useradd does and the installation of many packages; a
 * running step would then lose its name, and ssh refuses to work for a user without one.
 */
import { spawnSync } from "node:child_process";
import { statSync, watch } from "node:fs";
import { dirname } from "node:path";
import { findProgram } from "../tasks/step-command.ts";

/** `source` was mounted over `target` when the launcher was started. */
export type MountedFile = { readonly source: string; readonly target: string };

/** Where a folder cannot be watched, or a change of it is not reported. */
const CHECK_MS = 1_000;

/**
 * Mounts again what was removed, as soon as a file beside it changes. Where that is not possible, steps have no name,
 * as on machines that permit no mounts. Returns a function that does it at once.
 */
export function keepMounted(files: readonly MountedFile[]): () => void {
  const restore = (): void => {
    for (const file of files) mountAgain(file);
  };
  if (files.length > 0) setInterval(restore, CHECK_MS).unref();
  for (const folder of new Set(files.map(({ target }) => dirname(target)))) {
    try {
      watch(folder, { persistent: false }, restore).on("error", () => {});
    } catch {
      // The system permits no further watch. The interval remains.
    }
  }
  return restore;
}

/** mount refuses its work to a process whose real user is not root. */
function mountAgain({ source, target }: MountedFile): void {
  const wanted = identityOf(source);
  const found = identityOf(target);
  // A file is absent for a moment while some programs replace it.
  if (wanted === undefined || found === undefined || found === wanted) return;
  spawnSync(findProgram("mount") ?? "/bin/mount", ["--bind", source, target], { uid: 0, stdio: "ignore" });
}

function identityOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat && `${stat.dev}.${stat.ino}`;
}
