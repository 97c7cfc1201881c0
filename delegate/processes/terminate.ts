/** The end of a task's processes (docs/decisions/0019-step-isolation.md). */
import { withDescendants, lowestPid, findMembers, type Target } from "./members.ts";
import { livingProcesses, type ProcessInfo, processesOfUser } from "./processes.ts";
import { pause, type Timers } from "../timers.ts";

/** Processes alive after the end; `unknown`: none was found, and what was looked for may not be all. */
export type RemainingProcesses = number | "unknown";

export type Timeouts = {
  readonly timers: Timers;
  /** From TERM to KILL. */
  readonly graceMs: number;
  /** From KILL until we give up waiting. */
  readonly drainMs: number;
};

/**
 * How all of a task's processes are found and killed.
 * `user`: they have a user of their own, which they cannot shed, and which is killed in one system call.
 * `namespace`: they have a namespace of processes, whose first process takes all others along.
 * `search`: by marks that a process can shed, one by one.
 */
export type TerminationMethod = "user" | "namespace" | "search";

export type Termination = {
  readonly target: Target;
  readonly method: TerminationMethod;
  /** A process may have become another user, as by sudo. */
  readonly mayGainPrivileges: boolean;
  /** Kills all of the user at once; false when that could not be done. */
  readonly killUser: (uid: number) => Promise<boolean>;
};

const FIRST_CHECK_MS = 1;
const MAX_CHECK_MS = 50;

/**
 * 1. TERM to all that is found. 2. After the grace period KILL, in the way that
 * leaves nothing out, also when nothing was found: a chain of processes that fork and exit is seldom seen.
 * 3. With nothing able to fork any more, count what is left: it hangs in the kernel.
 */
export async function terminateProcesses(killing: Termination, timeouts: Timeouts): Promise<RemainingProcesses> {
  const find = createFinder(killing);
  const { leader } = killing.target;
  // The first process of a name space, and the one beside it that waits for it, end with the last of the others.
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
      await killFound(find, timeouts);
      return find().length;
    case "search": {
      await killFound(find, timeouts);
      return find().length || "unknown";
    }
  }
}

function createFinder({ target, method, mayGainPrivileges }: Termination): () => readonly ProcessInfo[] {
  const { owner, leader } = target;
  switch (method) {
    case "user":
      // What has another user by now is found by its marks, as far as it is.
      if (mayGainPrivileges) return () => findMembers(target);
      return () => (owner ? processesOfUser(owner.uid, lowestPid(target)) : []);
    case "namespace":
      // Whose parent has ended becomes a child of the namespace's first process: all descend from the leader.
      return () => {
        const all = livingProcesses(lowestPid(target));
        const roots = all.filter(({ pid, startTime }) => pid === leader?.pid && startTime === leader.startTime);
        return withDescendants(all, roots);
      };
    case "search":
      return () => findMembers(target);
  }
}

async function sendSignal(
  first: readonly ProcessInfo[],
  find: () => readonly ProcessInfo[],
  { timers, graceMs }: Timeouts,
): Promise<void> {
  // A stopped process takes the TERM only when it runs again.
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
  if (!isDone || killing.mayGainPrivileges) {
    await killFound(find, { timers, graceMs: 0, drainMs });
    return find().length || "unknown";
  }
  await waitUntil(timers, drainMs, () => find().length === 0);
  return find().length;
}

async function killFound(find: () => readonly ProcessInfo[], { timers, drainMs }: Timeouts): Promise<void> {
  await waitUntil(timers, drainMs, () => {
    const rest = find();
    send(rest, "SIGKILL");
    return rest.length === 0;
  });
}

/** Looks again and again, ever more seldom, until it is so or the time is up. */
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
      // Gone meanwhile, or not ours to kill (it became another user): the count at the end tells.
    }
  }
}
