/**
 * Counting requests over a sliding minute, right with any number of replicas. What counts is in the database; a
 * replica takes requests from there in portions and hands them out from memory, so that a busy client costs a
 * statement now and then. A portion that is not used up within its period is lost to the caller: never too much
 * is allowed, at most one portion for each replica too little.
 */
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import { createLru } from "../core/lru.ts";
import type { Db } from "../platform/db/db.ts";
import { addUsed, lockAccount, usedSince, type Used } from "./store.ts";

export const PERIOD_MS = 5_000;
export const WINDOW_MS = 60_000;
const PERIODS = WINDOW_MS / PERIOD_MS;

/** So many portions make up a minute's limit. */
const PORTIONS = 200;
const MAX_SUBJECTS = 50_000;

/** Who is counted: an account as a whole, or one of its tokens. */
export type Subject = { readonly accountId: Uuid; readonly name: string };
export type Refusal = { readonly limit: number; readonly retryAfter: number };

type Held = { left: number; readonly until: number; readonly refusal?: Refusal };

/** Undefined when the request may go on; otherwise in how many seconds another may. */
export function createCounter(deps: { readonly db: Db; readonly clock: Clock }) {
  const held = createLru<string, Held>(MAX_SUBJECTS);
  const fetching = new Map<string, Promise<void>>();

  const fresh = (key: string): Held | undefined => {
    const have = held.get(key);
    return have && have.until > deps.clock.now() ? have : undefined;
  };

  async function fetch(key: string, subject: Subject, limitOf: () => Promise<number>): Promise<void> {
    const limit = await limitOf();
    const portion = Math.max(1, Math.floor(limit / PORTIONS));
    held.set(key, await takePortion(deps.db, subject, limit, portion, deps.clock.now()));
  }

  async function wait(key: string, subject: Subject, limit: () => Promise<number>): Promise<Refusal | undefined> {
    for (;;) {
      const have = fresh(key);
      if (have?.refusal) return have.refusal;
      if (have && have.left > 0) {
        have.left -= 1;
        return undefined;
      }
      // One statement for all that wait for this subject.
      const mine = fetching.get(key) ?? fetch(key, subject, limit).finally(() => fetching.delete(key));
      fetching.set(key, mine);
      await mine;
    }
  }

  return (subject: Subject, limit: () => Promise<number>): Promise<Refusal | undefined> | undefined => {
    const key = `${subject.accountId} ${subject.name}`;
    const have = fresh(key);
    if (have && have.left > 0) {
      have.left -= 1;
      return undefined;
    }
    return wait(key, subject, limit);
  };
}

async function takePortion(
  db: Db,
  { accountId, name }: Subject,
  limit: number,
  portion: number,
  now: number,
): Promise<Held> {
  const period = Math.floor(now / PERIOD_MS);
  const until = (period + 1) * PERIOD_MS;
  return db.transaction(async (tx) => {
    await lockAccount(tx, accountId, name);
    const used = await usedSince(tx, accountId, name, period - PERIODS);
    const free = limit - used.reduce((sum, one) => sum + one.used, 0);
    if (free <= 0) {
      const retryAfter = secondsUntilFree(used, limit, now);
      return { left: 0, until: Math.min(until, now + 1_000), refusal: { limit, retryAfter } };
    }
    const left = Math.min(portion, free);
    await addUsed(tx, accountId, name, { period, used: left, forgetTo: period - PERIODS });
    return { left, until };
  });
}

/** When the oldest periods that fill the window have left it. A period counts until it is wholly outside. */
function secondsUntilFree(used: readonly Used[], limit: number, now: number): number {
  let sum = used.reduce((total, one) => total + one.used, 0);
  for (const one of used.toSorted((a, b) => a.period - b.period)) {
    sum -= one.used;
    if (sum < limit) return Math.max(1, Math.ceil(((one.period + PERIODS + 1) * PERIOD_MS - now) / 1_000));
  }
  return WINDOW_MS / 1_000;
}
