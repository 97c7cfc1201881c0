/** Whose work runs next: some at once, one of each account, and the accounts that wait one after the other. */
import type { Uuid } from "../core/ids.ts";

export type Bounds = {
  /** Works that run at once, of all accounts. */
  readonly atOnce: number;
  /** Works that wait, of all accounts and of one. */
  readonly waiting: number;
  readonly waitingOfOne: number;
};

/**
 * Runs the work when its turn comes and answers its result; undefined without running it where too many wait, and where
 * its turn comes after `until`, a time by `elapsed`.
 */
export type InTurn = <T>(accountId: Uuid, until: number, work: () => Promise<T>) => Promise<T | undefined>;

type Ticket = { readonly until: number; readonly begin: (isInTime: boolean) => void };

export function makeTurns({ atOnce, waiting, waitingOfOne }: Bounds, elapsed: () => number): InTurn {
  /** Accounts of which a work runs. */
  const busy = new Set<Uuid>();
  /** By account; one whose work has ended goes behind all others that wait. */
  const queues = new Map<Uuid, Ticket[]>();

  function beginNext(): void {
    for (const [accountId, tickets] of [...queues]) {
      if (busy.size >= atOnce) return;
      if (busy.has(accountId)) continue;
      const late = tickets.findIndex(({ until }) => until > elapsed());
      for (const ticket of tickets.splice(0, late === -1 ? tickets.length : late)) ticket.begin(false);
      const next = tickets.shift();
      if (tickets.length === 0) queues.delete(accountId);
      if (!next) continue;
      busy.add(accountId);
      next.begin(true);
    }
  }

  function end(accountId: Uuid): void {
    busy.delete(accountId);
    const tickets = queues.get(accountId);
    if (tickets && queues.delete(accountId)) queues.set(accountId, tickets);
    beginNext();
  }

  function turn(accountId: Uuid, until: number): Promise<boolean> {
    const own = queues.get(accountId) ?? [];
    const all = [...queues.values()].reduce((sum, tickets) => sum + tickets.length, 0);
    if (own.length >= waitingOfOne || all >= waiting) return Promise.resolve(false);
    return new Promise((begin) => {
      own.push({ until, begin });
      queues.set(accountId, own);
      beginNext();
    });
  }

  return async (accountId, until, work) => {
    if (!(await turn(accountId, until))) return undefined;
    try {
      return await work();
    } finally {
      end(accountId);
    }
  };
}
