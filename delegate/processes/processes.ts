/** Reads from /proc what the kernel knows about processes. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";

/** Identifies a process uniquely: the kernel reuses pids, so the start time belongs to it. */
export type ProcessIdentity = { readonly pid: number; readonly startTime: string };

export type ProcessInfo = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly hasTerminal: boolean;
  /** Clock ticks after boot; identifies a process together with its pid. */
  readonly startTime: string;
  /** The process has ended and its parent has not waited for it. A process with other living threads is no zombie. */
  readonly isZombie: boolean;
};

const scratch = Buffer.allocUnsafe(64 * 1024);

/** Changes when the machine restarts. */
export const bootId = (): string => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

/** The process with this pid; undefined if there is none. */
export function processInfo(pid: number): ProcessInfo | undefined {
  return read(`/proc/${pid}/stat`, (fd) =>
    parseStat(pid, scratch.toString("latin1", 0, readSync(fd, scratch, 0, scratch.length, 0))),
  );
}

/** `pid (name) state parent group session terminal … starttime`: the name may hold spaces and parentheses. */
export function parseStat(pid: number, text: string): ProcessInfo | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session, terminal] = fields;
  const startTime = fields[19];
  if (state === undefined || startTime === undefined) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    hasTerminal: terminal !== "0",
    startTime,
    isZombie: (state === "Z" || state === "X") && !(Number(fields[17]) > 1),
  };
}

/** Every living process from `lowest` up. */
export function livingProcesses(lowest: number): readonly ProcessInfo[] {
  return readPids().flatMap((pid) => {
    if (pid < lowest) return [];
    const info = processInfo(pid);
    return info && !info.isZombie ? [info] : [];
  });
}

/** Whether exactly this process runs: a zombie or a later process with the same pid does not count. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  const info = processInfo(pid);
  return info !== undefined && !info.isZombie && info.startTime === startTime;
}

/** Every living process of the user, from the pid `lowest` up. */
export const processesOfUser = (uid: number, lowest: number): readonly ProcessInfo[] =>
  pidsFrom(lowest).flatMap((pid) => {
    const ids = idsOf(pid);
    // Threads have numbers, too.
    if (ids?.threadGroup !== pid || !ids.uids.includes(uid)) return [];
    const info = processInfo(pid);
    return info && !info.isZombie ? [info] : [];
  });

/** Up to this many numbers are tried one by one, which is cheaper than to read the list of all processes. */
const MAX_TRIED = 64;

/**
 * Numbers of processes and threads from `lowest` up. A number above the newest is from before the numbers wrapped
 * around.
 */
function pidsFrom(lowest: number): readonly number[] {
  const found: number[] = [];
  let next = lowest;
  // Processes that start meanwhile have the next numbers.
  for (let newest = newestPid(); newest >= next; newest = newestPid()) {
    if (newest - lowest >= MAX_TRIED) return readPids().filter((pid) => pid >= lowest);
    for (; next <= newest; next += 1) if (existsSync(`/proc/${next}`)) found.push(next);
  }
  return next === lowest ? readPids().filter((pid) => pid >= lowest) : found;
}

const readPids = (): readonly number[] =>
  readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));

/** The newest pid; lower than an earlier one after pids have wrapped around. */
export const newestPid = (): number => Number(readFileSync("/proc/loadavg", "utf8").trim().split(" ").at(-1));

/**
 * Whether the environment that the process was started with holds the text. False also without permission to read it.
 */
export function environmentHas(pid: number, text: string): boolean {
  const needle = Buffer.from(text);
  return (
    read(`/proc/${pid}/environ`, (fd) => {
      let keptBytes = 0;
      for (;;) {
        const size = readSync(fd, scratch, keptBytes, scratch.length - keptBytes, null);
        const filled = scratch.subarray(0, keptBytes + size);
        if (filled.includes(needle)) return true;
        if (size === 0) return false;
        // The text may lie across two reads.
        keptBytes = Math.min(filled.length, needle.length - 1);
        filled.copy(scratch, 0, filled.length - keptBytes);
      }
    }) ?? false
  );
}

/**
 * Users and groups of a process: real, effective, saved and for files. The
 * owner of `/proc/<pid>` is not enough: it is root for a process that has
 * forbidden dumps of itself.
 */
export function idsOf(pid: number):
  | {
      readonly uids: readonly number[];
      readonly gids: readonly number[];
      /** The pid of the process that has this number, or this thread. */
      readonly threadGroup: number;
    }
  | undefined {
  return read(`/proc/${pid}/status`, (fd) => {
    const text = scratch.toString("latin1", 0, readSync(fd, scratch, 0, scratch.length, 0));
    // A process can choose its name, but the kernel escapes line breaks in it.
    const ids = (label: string): number[] => {
      const [, line = ""] = new RegExp(`^${label}:\\t(.*)$`, "m").exec(text) ?? [];
      return line.split("\t").map(Number);
    };
    return { uids: ids("Uid"), gids: ids("Gid"), threadGroup: ids("Tgid")[0] ?? 0 };
  });
}

/** Target of a link below /proc/<pid>, for example `cwd` or `fd/1`; undefined also without permission. */
export function linkOf(pid: number, name: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch {
    return undefined;
  }
}

/** Undefined on every error: processes may end during the call. */
function read<T>(path: string, use: (fd: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    return use(fd);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}
