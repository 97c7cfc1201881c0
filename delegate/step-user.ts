/**
 * Who the steps run as. Started as root: an unprivileged user, and for each
 * task a group id that nothing else has. The group is what keeps steps of the
 * same user apart: the kernel gives access to a task's folder, and to
 * `/proc/<pid>/environ` of its processes, only to the same group; and no
 * process can shed it, so it also marks what a task has left behind.
 */
import { spawnSync } from "node:child_process";
import { chownSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, unable, usage } from "./fault.ts";

export type StepUser = {
  readonly name: string;
  /** Undefined: steps share the delegate's own user. */
  readonly switchTo: { readonly uid: number; readonly gid: number; readonly ownGroups: boolean } | undefined;
};

/** Far above any group that a person or a package makes. */
const FIRST_GROUP = 0x4000_0000;
const GROUPS = 0x3000_0000;

/**
 * @param wanted what --step-user says
 * @param workDir an existing folder of ours, used to try whether free group ids may be used
 * @throws Fault when the user is unknown or may not be chosen
 */
export function stepUser(wanted: string | undefined, workDir: string): StepUser {
  const self = process.getuid?.() ?? 0;
  if (self !== 0) {
    // In a container the user may have a number and no name.
    const name = passwd().find(({ uid }) => uid === self)?.name ?? String(self);
    if (wanted !== undefined && wanted !== name && wanted !== String(self))
      throw usage(`--step-user '${wanted}': only a delegate started as root can run steps as another user`);
    return { name, switchTo: undefined };
  }
  const user = lookUp(wanted ?? "nobody");
  if (user.uid === 0) return { name: user.name, switchTo: undefined };
  return { name: user.name, switchTo: { uid: user.uid, gid: user.gid, ownGroups: groupsAreFree(workDir) } };
}

/** A group id for one task. `chance` gives numbers in [0, 1). */
export function groupForTask(user: NonNullable<StepUser["switchTo"]>, chance: () => number): number {
  return user.ownGroups ? FIRST_GROUP + Math.floor(chance() * GROUPS) : user.gid;
}

/** In a container with a short map of group ids the kernel refuses ids outside it. */
function groupsAreFree(workDir: string): boolean {
  const probe = join(workDir, `.group-probe-${process.pid}`);
  try {
    writeFileSync(probe, "", { mode: 0o600 });
    chownSync(probe, 0, FIRST_GROUP);
    return true;
  } catch (error) {
    if (codeOf(error) === "EINVAL" || codeOf(error) === "EPERM") return false;
    throw error;
  } finally {
    rmSync(probe, { force: true });
  }
}

type Entry = { readonly name: string; readonly uid: number; readonly gid: number };

function lookUp(wanted: string): Entry {
  const numbers = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(wanted);
  const uid = numbers?.[1];
  if (uid !== undefined) {
    const known = passwd().find((entry) => entry.uid === Number(uid));
    return { name: known?.name ?? uid, uid: Number(uid), gid: Number(numbers?.[2] ?? known?.gid ?? uid) };
  }
  const entry = passwd().find(({ name }) => name === wanted) ?? askSystem(wanted);
  if (!entry) throw unable(`--step-user: this machine has no user '${wanted}'; name one that exists`);
  return entry;
}

function passwd(): readonly Entry[] {
  return readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .filter((fields) => fields.length >= 4)
    .map(([name, , uid, gid]) => ({ name: name ?? "", uid: Number(uid), gid: Number(gid) }));
}

/** Users of a directory service are not in the file. */
function askSystem(name: string): Entry | undefined {
  if (name.startsWith("-")) return undefined;
  const [uid, gid] = ["-u", "-g"].map((flag) =>
    spawnSync("id", [flag, name], { encoding: "utf8", env: { PATH: process.env["PATH"] } }),
  );
  if (uid?.status !== 0 || gid?.status !== 0) return undefined;
  return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
}
