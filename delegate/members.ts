/** Which processes belong to a task, wherever they have run to. */
import {
  environmentHas,
  idsOf,
  linkOf,
  livingProcesses,
  newestPid,
  type ProcessInfo,
  processInfo,
} from "./processes.ts";

export const COOKIE_NAME = "RAILHEAD_TASK";

/** How a task's processes are recognised. */
export type Target = {
  /** Leader of the task's session; undefined when it never recorded itself. */
  readonly supervisor: { readonly pid: number; readonly startTime: string } | undefined;
  readonly cookie: string;
  /** Whose group, and where `ownUser` says so whose user, only this task's processes have. */
  readonly owner: { readonly uid: number; readonly gid: number; readonly ownUser: boolean } | undefined;
  /** Sessions of all running tasks: a process cannot enter one, only be born in it. */
  readonly sessions: ReadonlySet<number>;
  readonly folder: string;
  /** Its age, to know whether pids may have started again from the bottom. */
  readonly ageMs: number;
};

/** Pids below the supervisor's are older than the task, unless the numbers have come round since. */
const SURELY_NOT_ROUND_MS = 60_000;

export function supervisorAlive({ supervisor }: Target): boolean {
  if (!supervisor) return false;
  const info = processInfo(supervisor.pid);
  return info !== undefined && !info.isZombie && info.startTime === supervisor.startTime;
}

/** Every living process of the task but the supervisor and its own two halves. */
export function strangers(target: Target): readonly ProcessInfo[] {
  const alive = supervisorAlive(target);
  return members(target).filter(
    ({ pid, parent }) => !alive || (pid !== target.supervisor?.pid && parent !== target.supervisor?.pid),
  );
}

export function members(target: Target): readonly ProcessInfo[] {
  const processes = livingProcesses(lowestPid(target)).filter(({ pid }) => pid !== process.pid && pid !== 1);
  const now = target.supervisor && processInfo(target.supervisor.pid);
  // The kernel gives out a pid again only when no session and no group has its number any more.
  const numberIsOurs = now === undefined || now.startTime === target.supervisor?.startTime;
  const roots = processes.filter((info) => isMarked(target, info, numberIsOurs));
  return family(processes, roots);
}

/** The roots and all that descend from them. */
export function family(processes: readonly ProcessInfo[], roots: readonly ProcessInfo[]): readonly ProcessInfo[] {
  if (roots.length === 0) return roots;
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const found = new Set(roots);
  // A set can grow while it is walked: what is added is visited too.
  for (const info of found) for (const child of children.get(info.pid) ?? []) found.add(child);
  return [...found];
}

function lowestPid({ supervisor, ageMs }: Target): number {
  if (!supervisor || ageMs > SURELY_NOT_ROUND_MS || newestPid() < supervisor.pid) return 2;
  return supervisor.pid;
}

/**
 * By session or process group, by the task's own user or group id, which no
 * process of an ordinary user can shed, by the cookie in the environment it was
 * started with; and for a process that has shed all these,
 * by standing in the task's folder (an operator's shell has a terminal).
 */
function isMarked(target: Target, info: ProcessInfo, numberIsOurs: boolean): boolean {
  const number = numberIsOurs ? target.supervisor?.pid : undefined;
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

/** Processes that can still write to the pipe which the supervisor's copier reads. */
export function pipeHolders(target: Target): readonly ProcessInfo[] {
  const { supervisor } = target;
  if (!supervisor || !supervisorAlive(target)) return [];
  const all = livingProcesses(2);
  const halves = all.filter(({ parent }) => parent === supervisor.pid);
  const pipes = new Set(halves.map(({ pid }) => linkOf(pid, "fd/0")).filter((link) => link?.startsWith("pipe:")));
  const ours = new Set([process.pid, supervisor.pid, ...halves.map(({ pid }) => pid)]);
  return all.filter(({ pid }) => !ours.has(pid) && ["fd/1", "fd/2"].some((name) => pipes.has(linkOf(pid, name) ?? "")));
}
