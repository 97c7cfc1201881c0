/** Which processes belong to a task, wherever they have run to. */
import {
  environmentHas,
  idsOf,
  linkOf,
  livingProcesses,
  newestPid,
  type ProcessInfo,
  processInfo,
  type ProcessIdentity,
} from "./processes.ts";

export const COOKIE_NAME = "RAILHEAD_TASK";

/** How a task's processes are recognised. */
export type Target = {
  /** Leader of the step's session; undefined when none was started. */
  readonly leader: ProcessIdentity | undefined;
  readonly cookie: string;
  /** Whose group, and where `ownUser` says so whose user, only this task's processes have. */
  readonly owner: { readonly uid: number; readonly gid: number; readonly ownUser: boolean } | undefined;
  /** Sessions of all running tasks: a process cannot enter one, only be born in it. */
  readonly sessions: ReadonlySet<number>;
  readonly folder: string;
  /** Its age, to know whether pids may have started again from the bottom. */
  readonly ageMs: number;
};

/** Pids below the leader's are older than the task, unless the numbers have come round since. */
const PID_WRAPAROUND_MS = 60_000;

/** Every living process of the task, as far as it can be recognised. */
export function findMembers(target: Target): readonly ProcessInfo[] {
  const processes = livingProcesses(lowestPid(target)).filter(({ pid }) => pid !== process.pid && pid !== 1);
  const now = target.leader && processInfo(target.leader.pid);
  // The kernel gives out a pid again only when no session and no group has its number any more.
  const isLeaderPidValid = now === undefined || now.startTime === target.leader?.startTime;
  const roots = processes.filter((info) => belongsToTask(target, info, isLeaderPidValid));
  return withDescendants(processes, roots);
}

/** The roots and all that descend from them. */
export function withDescendants(
  processes: readonly ProcessInfo[],
  roots: readonly ProcessInfo[],
): readonly ProcessInfo[] {
  if (roots.length === 0) return roots;
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const found = new Set(roots);
  // A set can grow while it is walked: what is added is visited too.
  for (const info of found) for (const child of children.get(info.pid) ?? []) found.add(child);
  return [...found];
}

/** Where to begin to look for the task's processes. */
export function lowestPid({ leader, ageMs }: Pick<Target, "leader" | "ageMs">): number {
  if (!leader || ageMs > PID_WRAPAROUND_MS || newestPid() < leader.pid) return 2;
  return leader.pid;
}

/**
 * By session or process group, by the task's own user or group id, which no
 * process of an ordinary user can shed, by the cookie in the environment it was
 * started with; and for a process that has shed all these,
 * by standing in the task's folder (an operator's shell has a terminal).
 */
function belongsToTask(target: Target, info: ProcessInfo, numberIsOurs: boolean): boolean {
  const number = numberIsOurs ? target.leader?.pid : undefined;
  if (number !== undefined && (info.session === number || info.group === number)) return true;
  if (target.sessions.has(info.session)) return false;
  if (target.owner) {
    const { uid, gid, ownUser } = target.owner;
    const ids = idsOf(info.pid);
    if (ids?.gids.includes(gid)) return true;
    // The same user with another group: another task, where tasks share the user.
    if (ids?.uids.includes(uid)) return ownUser;
  }
  if (environmentHas(info.pid, `${COOKIE_NAME}=${target.cookie}`)) return true;
  const cwd = info.hasTerminal ? undefined : linkOf(info.pid, "cwd");
  return cwd === target.folder || (cwd?.startsWith(`${target.folder}/`) ?? false);
}
