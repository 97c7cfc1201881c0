/**
 * Chooses as which user and group each task runs; step-ids.ts has the free ids. A delegate started as root allocates
 * a user and a group for each task, so that no step can signal, trace or read another. A process cannot drop them, so
 * they also identify the remaining processes and files of a task.
 *
 * With --step-user all steps are that user, and only the group is the task's
 * own: the kernel gives access to a task's folder, and to `/proc/<pid>/environ`
 * of its processes, only to the same group, but signals and the user's other
 * files to the same user.
 */
import { spawnSync } from "node:child_process";
import { chownSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf, startError, usageError } from "../fault.ts";
import { openStepIdsWithSpace } from "./deferred-step-ids.ts";
import { type StepIdsClaim, NEVER_A_STEP, type StepIds } from "./step-ids.ts";

/** Allocates users and groups to the tasks of one work folder; made by `createStepUser`. */
export type StepUser = {
  /** What USER and LOGNAME say in a step that has no user of its own. */
  readonly name: string;
  /** Names of the users with entries in the steps' user database. */
  readonly names: ReadonlyMap<number, string> | undefined;
  /** No step can have an id before there is space in this folder. */
  readonly fullFolder: string | undefined;
  /** A user of steps of this work folder that no task has. */
  readonly isUnused: (uid: number) => boolean;
  /** A user of steps of this work folder. */
  readonly isOurs: (uid: number) => boolean;
  /** An id that no step gets; undefined where steps have no ids of their own. @throws Fault when none is free */
  readonly allocateLauncherId: () => number | undefined;
  /** `delegate`: steps share the delegate's user. `own groups`, `nothing own`: steps share another user. */
  readonly separation: "own users" | "own groups" | "nothing own" | "delegate";
  /**
   * Allocates the user of the next task; undefined: the delegate's user. ssh does not work for a user without a name:
   * where steps' users have no names, it runs as a named user with a group of its own, and only that group can read the
   * task's files.
   * @throws Fault when no id is left
   */
  readonly allocate: (runs?: "script" | "ssh") => StepOwner | undefined;
  /** Reserves the user of a task that an earlier delegate started and that still exists. */
  readonly reserve: (owner: StepOwner) => void;
  /** Releases the user after the task's processes have ended and its files are removed. */
  readonly release: (owner: StepOwner) => void;
};

/** User and group of a task's processes. `ownUser`: no other task has this user; otherwise tasks share it. */
export type StepOwner = { readonly uid: number; readonly gid: number; readonly ownUser: boolean };

/** Far above the groups that persons and packages create. */
const FIRST_GROUP = 0x4000_0000;
const GROUPS = 0x3000_0000;

/** Name of a step's user without an entry in /etc/passwd. */
const NAMELESS = "railhead-step";
const NAMED = "nobody";

/**
 * @param wanted what --step-user says
 * @param claim the work folder, existing and locked; also used to try which ids may be chosen freely
 * @throws Fault when the user is unknown or may not be chosen
 */
export function createStepUser(wanted: string | undefined, claim: StepIdsClaim): StepUser {
  const self = process.getuid?.() ?? 0;
  if (self !== 0) {
    // In a container the user may have a number and no name.
    const name = passwd().find(({ uid }) => uid === self)?.name ?? String(self);
    if (wanted !== undefined && wanted !== name && wanted !== String(self))
      throw usageError(`--step-user '${wanted}': only a delegate started as root can run steps as another user`);
    return { ...NO_OWN_IDS, name, separation: "delegate", allocate: () => undefined };
  }
  if (wanted === undefined && canChooseId(claim.workDir, NEVER_A_STEP))
    return createOwnUsers(openStepIdsWithSpace(claim));
  const { name, uid, gid } = findUser(wanted ?? NAMED);
  if (uid === 0) return { ...NO_OWN_IDS, name, separation: "delegate", allocate: () => undefined };
  const ownGroups = canChooseId(claim.workDir, FIRST_GROUP);
  const group = (): number => (ownGroups ? FIRST_GROUP + Math.floor(claim.chance() * GROUPS) : gid);
  return {
    ...NO_OWN_IDS,
    name,
    separation: ownGroups ? "own groups" : "nothing own",
    allocate: () => ({ uid, gid: group(), ownUser: false }),
  };
}

const NO_OWN_IDS = {
  names: undefined,
  fullFolder: undefined,
  isUnused: () => false,
  isOurs: () => false,
  allocateLauncherId: () => undefined,
  reserve: () => {},
  release: () => {},
} as const;

const createOwnUsers = (ids: StepIds): StepUser => {
  let names: ReadonlyMap<number, string> | undefined;
  const findNames = (): ReadonlyMap<number, string> | undefined =>
    (names ??= ids.named() && new Map(ids.named()?.map((id, nth) => [id, `${NAMELESS}-${nth}`])));
  return {
    name: NAMELESS,
    get names() {
      return findNames();
    },
    get fullFolder() {
      return ids.fullFolder();
    },
    separation: "own users",
    isUnused: ids.isUnused,
    isOurs: ids.isOurs,
    allocateLauncherId: ids.allocateLauncherId,
    allocate: (runs) => {
      const id = ids.allocate();
      if (runs !== "ssh" || findNames()) return { uid: id, gid: id, ownUser: true };
      try {
        return { uid: findUser(NAMED).uid, gid: id, ownUser: false };
      } catch (error) {
        ids.release(id);
        throw error;
      }
    },
    // The group id is always the id that was taken; the user id is not, with a named user.
    reserve: ({ gid }) => ids.reserve(gid),
    release: ({ gid }) => ids.release(gid),
  };
};

/** What USER and LOGNAME say in a step. */
export const nameOf = (user: StepUser, owner: StepOwner | undefined): string =>
  (owner?.ownUser ? user.names?.get(owner.uid) : undefined) ?? user.name;

/**
 * In a container with a short map of ids the kernel refuses those outside it. The folder that is tried is there
 * already: a full disk has no inode for another one.
 * @param id that no step has, since its user owns the folder for a moment
 */
function canChooseId(workDir: string, id: number): boolean {
  const probe = join(workDir, "spare");
  const { uid, gid } = statSync(probe);
  try {
    chownSync(probe, id, id);
  } catch (error) {
    if (codeOf(error) === "EINVAL" || codeOf(error) === "EPERM") return false;
    throw error;
  }
  // A delegate that was killed here has left its probe.
  const isLeft = uid === id;
  chownSync(probe, isLeft ? 0 : uid, isLeft ? 0 : gid);
  return true;
}

type Entry = { readonly name: string; readonly uid: number; readonly gid: number };

function findUser(wanted: string): Entry {
  const numbers = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(wanted);
  const uid = numbers?.[1];
  if (uid !== undefined) {
    const known = passwd().find((entry) => entry.uid === Number(uid));
    return { name: known?.name ?? uid, uid: Number(uid), gid: Number(numbers?.[2] ?? known?.gid ?? uid) };
  }
  const entry = passwd().find(({ name }) => name === wanted) ?? findDirectoryUser(wanted);
  if (!entry) throw startError(`this machine has no user '${wanted}'; name one that exists`);
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
function findDirectoryUser(name: string): Entry | undefined {
  if (name.startsWith("-")) return undefined;
  const [uid, gid] = ["-u", "-g"].map((flag) =>
    spawnSync("id", [flag, name], { encoding: "utf8", env: { PATH: process.env["PATH"] } }),
  );
  if (uid?.status !== 0 || gid?.status !== 0) return undefined;
  return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
}
