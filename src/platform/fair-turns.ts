/** Bounds work that runs at once and work that waits, and shares the places among groups, for example accounts. */

export type TurnLimits = {
  /** Works that run at once, of all groups and of one. */
  readonly atOnce: number;
  readonly atOnceOfOne: number;
  /** Works that wait, of all groups and of one. */
  readonly waiting: number;
  readonly waitingOfOne: number;
};

/**
 * Runs the work when its turn comes and answers its result. Answers undefined without running it if too many wait, or
 * if its turn comes after `deadline`, a time by `elapsed`.
 */
export type RunInTurn = <T>(group: string, deadline: number, work: () => Promise<T>) => Promise<T | undefined>;

type Ticket = { readonly deadline: number; readonly begin: (isInTime: boolean) => void };

/** Groups that wait take turns; within a group, works run in the order in which they came. */
export function createFairTurns(limits: TurnLimits, elapsed: () => number): RunInTurn {
  const { atOnce, atOnceOfOne, waiting, waitingOfOne } = limits;
  let running = 0;
  const runningOf = new Map<string, number>();
  /** By group. A group moves behind all others that wait when one of its works ends. */
  const queues = new Map<string, Ticket[]>();

  function beginNext(): void {
    for (const [group, tickets] of [...queues]) {
      if (running >= atOnce) return;
      const ofOne = runningOf.get(group) ?? 0;
      if (ofOne >= atOnceOfOne) continue;
      const late = tickets.findIndex(({ deadline }) => deadline > elapsed());
      for (const ticket of tickets.splice(0, late === -1 ? tickets.length : late)) ticket.begin(false);
      const next = tickets.shift();
      if (tickets.length === 0) queues.delete(group);
      if (!next) continue;
      running += 1;
      runningOf.set(group, ofOne + 1);
      next.begin(true);
    }
  }

  function end(group: string): void {
    running -= 1;
    const left = (runningOf.get(group) ?? 1) - 1;
    if (left === 0) runningOf.delete(group);
    else runningOf.set(group, left);
    const tickets = queues.get(group);
    if (tickets && queues.delete(group)) queues.set(group, tickets);
    beginNext();
  }

  function turn(group: string, deadline: number): Promise<boolean> {
    const own = queues.get(group) ?? [];
    const all = [...queues.values()].reduce((sum, tickets) => sum + tickets.length, 0);
    if (own.length >= waitingOfOne || all >= waiting) return Promise.resolve(false);
    return new Promise((begin) => {
      own.push({ deadline, begin });
      queues.set(group, own);
      beginNext();
    });
  }

  return async (group, deadline, work) => {
    if (!(await turn(group, deadline))) return undefined;
    try {
      return await work();
    } finally {
      end(group);
    }
  };
}
