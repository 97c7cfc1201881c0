/** Finds the processes of a task, also those that left its session. */
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

/** Environment variable with the cookie of the task. A process can remove it from its environment. */
export const COOKIE_NAME = "RAILHEAD_TASK";

/** How a task's processes are recognised. */
export type Target = {
  /** Leader of the step's session; undefined if the step was not started. */
  readonly leader: ProcessIdentity | undefined;
  readonly cookie: string;
  /** The task's own group, and with `ownUser` its own user. */
  readonly owner: { readonly uid: number; readonly gid: number; readonly ownUser: boolean } | undefined;
  /** Sessions of all running tasks: a process cannot join a session, only inherit it. */
  readonly sessions: ReadonlySet<number>;
  readonly folder: string;
  /** Age of the task: pids may have wrapped around since its start. */
  readonly ageMs: number;
};

/** Until this age pids below the leader's are older than the task: they cannot have wrapped around. */
const PID_WRAPAROUND_MS = 60_000;

/** Every living process of the task that can be recognised. */
export function findMembers(target: Target): readonly ProcessInfo[] {
  const processes = livingProcesses(lowestPid(target)).filter(({ pid }) => pid !== process.pid && pid !== 1);
  const now = target.leader && processInfo(target.leader.pid);
  // The kernel reuses a pid only after no session and no group has its number.
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
  // The iteration of a set includes the elements added meanwhile.
  for (const info of found) for (const child of children.get(info.pid) ?? []) found.add(child);
  return [...found];
}

/** The lowest pid that a process of the task can have. */
export function lowestPid({ leader, ageMs }: Pick<Target, "leader" | "ageMs">): number {
  if (!leader || ageMs > PID_WRAPAROUND_MS || newestPid() < leader.pid) return 2;
  return leader.pid;
}

/**
 * Recognises a process by its session or process group, by the task's own user or group id, which no
 * process of an ordinary user can drop, and by the cookie in the environment that it was started with.
 * A process without these is recognised by its working directory in the task's folder, unless it has a
 * terminal, as an operator's shell has.
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
