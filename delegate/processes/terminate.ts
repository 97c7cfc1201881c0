/** The end of a task's processes (docs/decisions/0019-step-isolation.md). */
import { family, lowestPid, members, type Target } from "./members.ts";
import { livingProcesses, type ProcessInfo, processesOf } from "./processes.ts";
import { pause, type Timers } from "../timers.ts";

/** Processes alive after the end; `unknown`: none was found, and what was looked for may not be all. */
export type Survivors = number | "unknown";

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
export type Ending = "user" | "namespace" | "search";

export type Killing = {
  readonly target: Target;
  readonly ending: Ending;
  /** A process may have become another user, as by sudo. */
  readonly mayGainPrivileges: boolean;
  /** Kills all of the user at once; false when that could not be done. */
  readonly killUser: (uid: number) => Promise<boolean>;
};

const FIRST_LOOK_MS = 1;
const LONGEST_LOOK_MS = 50;

/**
 * 1. TERM to all that is found. 2. After the grace period KILL, in the way that
 * leaves nothing out, also when nothing was found: a chain of processes that fork and exit is seldom seen.
 * 3. With nothing able to fork any more, count what is left: it hangs in the kernel.
 */
export async function endProcesses(killing: Killing, timeouts: Timeouts): Promise<Survivors> {
  const find = finder(killing);
  const { leader } = killing.target;
  // The first process of a name space, and the one beside it that waits for it, end with the last of the others.
  const own = (): readonly ProcessInfo[] =>
    killing.ending === "namespace"
      ? find().filter(({ pid, parent }) => pid !== leader?.pid && parent !== leader?.pid)
      : find();
  const first = own();
  if (first.length > 0) await terminate(first, own, timeouts);
  switch (killing.ending) {
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

function finder({ target, ending, mayGainPrivileges }: Killing): () => readonly ProcessInfo[] {
  const { owner, leader } = target;
  switch (ending) {
    case "user":
      // What has another user by now is found by its marks, as far as it is.
      if (mayGainPrivileges) return () => members(target);
      return () => (owner ? processesOf(owner.uid, lowestPid(target)) : []);
    case "namespace":
      // Whose parent has ended becomes a child of the namespace's first process: all descend from the leader.
      return () => {
        const all = livingProcesses(lowestPid(target));
        const roots = all.filter(({ pid, startTime }) => pid === leader?.pid && startTime === leader.startTime);
        return family(all, roots);
      };
    case "search":
      return () => members(target);
  }
}

async function terminate(
  first: readonly ProcessInfo[],
  find: () => readonly ProcessInfo[],
  { timers, graceMs }: Timeouts,
): Promise<void> {
  // A stopped process takes the TERM only when it runs again.
  for (const name of ["SIGTERM", "SIGCONT"] as const) send(first, name);
  await within(timers, graceMs, () => find().length === 0);
}

async function killUser(
  killing: Killing,
  find: () => readonly ProcessInfo[],
  { timers, drainMs }: Timeouts,
): Promise<Survivors> {
  const { owner } = killing.target;
  const isDone = owner !== undefined && (await killing.killUser(owner.uid));
  if (!isDone || killing.mayGainPrivileges) {
    await killFound(find, { timers, graceMs: 0, drainMs });
    return find().length || "unknown";
  }
  await within(timers, drainMs, () => find().length === 0);
  return find().length;
}

async function killFound(find: () => readonly ProcessInfo[], { timers, drainMs }: Timeouts): Promise<void> {
  await within(timers, drainMs, () => {
    const rest = find();
    send(rest, "SIGKILL");
    return rest.length === 0;
  });
}

/** Looks again and again, ever more seldom, until it is so or the time is up. */
async function within(timers: Timers, ms: number, isSo: () => boolean): Promise<boolean> {
  const end = timers.elapsed() + ms;
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(wait * 2, LONGEST_LOOK_MS)) {
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
