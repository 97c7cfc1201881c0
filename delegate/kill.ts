import { members, pipeHolders, strangers, supervisorAlive, type Target } from "./members.ts";
import type { ProcessInfo } from "./processes.ts";
import { pause, type Timers } from "./timers.ts";

export type Patience = {
  readonly timers: Timers;
  /** From TERM to KILL. */
  readonly graceMs: number;
  /** From KILL, or from the last process's end, until we give up waiting. */
  readonly drainMs: number;
};

const FIRST_LOOK_MS = 1;
const LONGEST_LOOK_MS = 50;

/**
 * Ends everything that belongs to the task and says how many processes are alive after that.
 *
 * 1. TERM to all (the supervisor catches it). 2. After the grace period KILL,
 * again and again while new ones appear. 3. With its last writer gone the
 * copier brings the rest of the output into the file and the supervisor ends;
 * a process unknown to us that keeps the pipe open is killed for it, then the
 * supervisor itself. 4. Count.
 */
export async function endProcesses(target: Target, patience: Patience): Promise<number> {
  const first = strangers(target);
  if (first.length > 0) await terminate(target, first, patience);
  if (supervisorAlive(target)) await drain(target, patience);
  return first.length === 0 && !supervisorAlive(target) ? 0 : members(target).length;
}

async function terminate(target: Target, first: readonly ProcessInfo[], patience: Patience): Promise<void> {
  // A stopped process takes the TERM only when it runs again.
  for (const name of ["SIGTERM", "SIGCONT"] as const) send(first, name);
  const none = (): boolean => strangers(target).length === 0;
  if (await within(patience.timers, patience.graceMs, none)) return;
  await within(patience.timers, patience.drainMs, () => {
    const rest = strangers(target);
    send(rest, "SIGKILL");
    return rest.length === 0;
  });
}

async function drain(target: Target, { timers, drainMs }: Patience): Promise<void> {
  const gone = (): boolean => !supervisorAlive(target);
  if (await within(timers, drainMs, gone)) return;
  send(pipeHolders(target), "SIGKILL");
  if (await within(timers, drainMs, gone)) return;
  send(members(target), "SIGKILL");
  await within(timers, drainMs, gone);
}

/** Looks again and again, ever more seldom, until it is so or the time is up. */
async function within(timers: Timers, ms: number, isSo: () => boolean): Promise<boolean> {
  const end = timers.now() + ms;
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(wait * 2, LONGEST_LOOK_MS)) {
    if (isSo()) return true;
    const left = end - timers.now();
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
