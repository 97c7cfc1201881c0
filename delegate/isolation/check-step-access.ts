/**
 * Checks at the start of a delegate, as the step user, that steps can work in the work folder.
 * start/step-environment.ts runs it.
 */
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isFull, startError, textOf } from "../fault.ts";
import type { Log } from "../log.ts";
import type { StepOwner, StepUser } from "./step-user.ts";
import type { WorkDir } from "../work-folder/work-dir.ts";

type StepAccess = { readonly workDir: WorkDir; readonly user: StepUser; readonly bash: string };

/**
 * Tests as the step user, in a folder like a task's, whether a step can start Bash, enter its working directory and
 * write there. A full disk does not allow the test: the delegate starts without it,
 * since it has to remove the files of earlier tasks.
 * @throws Fault that names the obstacle
 */
export function checkStepAccess(access: StepAccess, log: Pick<Log, "warn">): void {
  try {
    const owner = access.user.allocate();
    if (owner) tryStepAccess(access, owner);
  } catch (error) {
    if (!isFull(error)) throw error;
    log.warn(
      { folder: access.workDir.path, error: textOf(error) },
      "no space is left to try whether steps can work in the work folder",
    );
  }
}

function tryStepAccess({ workDir, user, bash }: StepAccess, owner: StepOwner): void {
  const { uid, gid } = owner;
  const folder = join(workDir.tasks, ".probe");
  const work = join(folder, "work");
  rmSync(folder, { recursive: true, force: true });
  try {
    mkdirSync(folder, { mode: 0o710 });
    mkdirSync(work, { mode: 0o700 });
    const file = join(work, "written");
    // Made here, a file that finds no space is told from one that the user may not write.
    writeFileSync(file, "", { mode: 0o600, flag: "wx" });
    for (const path of [file, work]) chownSync(path, uid, gid);
    chownSync(folder, 0, gid);
    const tried = spawnSync(bash, ["-c", 'cd "$1" && : >written', "probe", work], {
      uid,
      gid,
      cwd: "/",
      env: {},
      encoding: "utf8",
    });
    if (tried.status === 0) return;
    const closed = closedFolder(workDir.path, uid);
    const why = closed ? `it cannot enter ${closed}` : (tried.error?.message ?? tried.stderr.trim());
    const who = owner.ownUser ? "a user of its own for each step" : `the step user '${user.name}'`;
    throw startError(
      `${who} cannot work in ${workDir.path}: ${why}; choose a folder that it can reach with --work-dir, or another user with --step-user`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
    user.release(owner);
  }
}

/** The first folder of the path that the user cannot enter. */
function closedFolder(path: string, uid: number): string | undefined {
  const above = dirname(path) === path ? undefined : closedFolder(dirname(path), uid);
  if (above !== undefined) return above;
  const stat = statSync(path);
  const open = stat.uid === uid ? stat.mode & 0o100 : stat.mode & 0o001;
  return open === 0 ? path : undefined;
}
