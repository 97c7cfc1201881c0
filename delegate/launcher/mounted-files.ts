/**
 * Keeps the files with the users of steps mounted over those of the machine. The kernel removes a mount in every name
 * space as soon as a process replaces the file below it, as useradd and the installation of many packages do; a running
 * step would then lose its name, and ssh refuses to work for a user without one.
 */
import { spawnSync } from "node:child_process";
import { statSync, watch } from "node:fs";
import { dirname } from "node:path";
import { findProgram } from "../tasks/step-command.ts";

/** `source` was mounted over `target` when the launcher was started. */
export type MountedFile = { readonly source: string; readonly target: string };

export type MountedFiles = {
  /** Mounts again what was removed. Throws what mount printed. */
  readonly restore: () => void;
};

/** Restores the mounts whenever a file beside them changes. A watch that the system refuses leaves calls of `restore`. */
export function keepMounted(files: readonly MountedFile[]): MountedFiles {
  const mounted = files.map((file) => ({ ...file, identity: identityOf(file.source) }));
  const restore = (): void => {
    for (const file of mounted) {
      if (identityOf(file.target) === file.identity) continue;
      mount(file);
      file.identity = identityOf(file.target);
    }
  };
  for (const folder of new Set(files.map(({ target }) => dirname(target)))) watchFolder(folder, restore);
  return { restore };
}

function watchFolder(folder: string, restore: () => void): void {
  // The start of the next step restores again and reports what fails.
  const leaveToNextStep = (): void => {};
  const tryToRestore = (): void => {
    try {
      restore();
    } catch {
      leaveToNextStep();
    }
  };
  try {
    watch(folder, { persistent: false }, tryToRestore).on("error", leaveToNextStep);
  } catch {
    leaveToNextStep();
  }
}

/** mount refuses its work to a process whose real user is not root. */
function mount({ source, target }: MountedFile): void {
  const { error, status, stderr } = spawnSync(findProgram("mount") ?? "/bin/mount", ["--bind", source, target], {
    uid: 0,
    encoding: "utf8",
  });
  if (error) throw error;
  if (status !== 0) throw new Error(stderr.trim());
}

function identityOf(file: string): string {
  const { dev, ino } = statSync(file);
  return `${dev}.${ino}`;
}
