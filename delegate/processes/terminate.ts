/** Terminates the processes of a task (docs/decisions/0019-step-isolation.md). */
import { withDescendants, lowestPid, findMembers, type Target } from "./members.ts";
import { livingProcesses, type ProcessIdentity, type ProcessInfo, processesOfUser } from "./processes.ts";
import { pause, type Timers } from "../timers.ts";

/** Number of processes that remain; `unknown`: none was found, and the search may have missed some. */
export type RemainingProcesses = number | "unknown";

/** How long a termination waits, in milliseconds. */
export type Timeouts = {
  readonly timers: Timers;
  /** From TERM to KILL. */
  readonly graceMs: number;
  /** From KILL until we give up waiting. */
  readonly drainMs: number;
};

/**
 * How all of a task's processes are found and killed.
 * `user`: by their own user, which they cannot drop; one system call kills all of them.
 * `namespace`: by their name space of processes, whose first process ends all others.
 * `search`: one by one, by marks that a process can drop.
 */
export type TerminationMethod = "user" | "namespace" | "search";

export type Termination = {
  readonly target: Target;
  readonly method: TerminationMethod;
  /** A process may run as another user, for example by sudo. */
  readonly mayGainPrivileges: boolean;
  /** Kills all processes of the user at once; false if that failed. */
  readonly killUser: (uid: number) => Promise<boolean>;
};

const FIRST_CHECK_MS = 1;
const MAX_CHECK_MS = 50;

/**
 * 1. Sends TERM to all processes found. 2. After the grace period sends KILL by `method`,
 * also when none was found: the search seldom sees a chain of processes that fork and exit.
 * 3. Counts the remaining processes, which hang in the kernel.
 */
export async function terminateProcesses(killing: Termination, timeouts: Timeouts): Promise<RemainingProcesses> {
  const find = createFinder(killing);
  const { leader } = killing.target;
  // The first process of a name space and the process that waits for it end after all others.
  const findOwn = (): readonly ProcessInfo[] =>
    killing.method === "namespace"
      ? find().filter(({ pid, parent }) => pid !== leader?.pid && parent !== leader?.pid)
      : find();
  const first = findOwn();
  if (first.length > 0) await sendSignal(first, findOwn, timeouts);
  switch (killing.method) {
    case "user":
      return killUser(killing, find, timeouts);
    case "namespace":
      return killFound(find, timeouts);
    case "search":
      return (await killFound(find, timeouts)) || "unknown";
  }
}

function createFinder({ target, method, mayGainPrivileges }: Termination): () => readonly ProcessInfo[] {
  const { owner } = target;
  switch (method) {
    case "user":
      // Processes that run as another user are found by their marks, if at all.
      if (mayGainPrivileges) return () => findMembers(target);
      return () => (owner ? processesOfUser(owner.uid, lowestPid(target)) : []);
    case "namespace":
      return createNamespaceFinder(target);
    case "search":
      return () => findMembers(target);
  }
}

/**
 * All processes of a name space descend from the leader: one whose parent has ended becomes a child of the name space's
 * first process. That one outlives a killed leader until all others have ended, so what was found before counts, too.
 */
function createNamespaceFinder(target: Target): () => readonly ProcessInfo[] {
  let known: readonly ProcessIdentity[] = target.leader ? [target.leader] : [];
  return () => {
    const all = livingProcesses(lowestPid(target));
    const roots = all.filter((info) => known.some((one) => one.pid === info.pid && one.startTime === info.startTime));
    const found = withDescendants(all, roots);
    known = found;
    return found;
  };
}

async function sendSignal(
  first: readonly ProcessInfo[],
  find: () => readonly ProcessInfo[],
  { timers, graceMs }: Timeouts,
): Promise<void> {
  // A stopped process handles TERM only after CONT.
  for (const name of ["SIGTERM", "SIGCONT"] as const) send(first, name);
  await waitUntil(timers, graceMs, () => find().length === 0);
}

async function killUser(
  killing: Termination,
  find: () => readonly ProcessInfo[],
  { timers, drainMs }: Timeouts,
): Promise<RemainingProcesses> {
  const { owner } = killing.target;
  const isDone = owner !== undefined && (await killing.killUser(owner.uid));
  if (!isDone || killing.mayGainPrivileges)
    return (await killFound(find, { timers, graceMs: 0, drainMs })) || "unknown";
  return (await waitUntil(timers, drainMs, () => find().length === 0)) ? 0 : find().length;
}

/** Returns the number of processes that remain. */
async function killFound(find: () => readonly ProcessInfo[], { timers, drainMs }: Timeouts): Promise<number> {
  const isDone = await waitUntil(timers, drainMs, () => {
    const rest = find();
    send(rest, "SIGKILL");
    return rest.length === 0;
  });
  return isDone ? 0 : find().length;
}

/** Polls with growing pauses until `isSo` or the time is over. */
async function waitUntil(timers: Timers, ms: number, isSo: () => boolean): Promise<boolean> {
  const end = timers.elapsed() + ms;
  for (let wait = FIRST_CHECK_MS; ; wait = Math.min(wait * 2, MAX_CHECK_MS)) {
    if (isSo()) return true;
    const left = end - timers.elapsed();
    if (left <= 0) return false;
    await pause(timers, Math.min(wait, left));
  }
}

function send(processes: readonly ProcessInfo[], signal: "SIGTERM" | "SIGCONT" | "SIGKILL"): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended, or runs as another user: the final count includes it.
    }
  }
}
