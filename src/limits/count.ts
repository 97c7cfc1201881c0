/**
 * Counts requests over a sliding minute, correct with any number of replicas. The counts are in the database. A replica
 * reserves requests in portions and serves them from memory, so that a busy client costs few statements. The unused
 * rest of a portion expires with its period. A client therefore never gets too many requests, and at most one portion
 * for each replica too few.
 */
import type { Clock } from "../core/clock.ts";
import { createLru } from "../platform/lru.ts";
import type { Db } from "../platform/db/db.ts";
import { outsideShares } from "../platform/db/pool/budget.ts";
import { addUsedRequests, lockSubject, findUsedSince, type Subject, type UsedRequests } from "./store.ts";

export const PERIOD_MS = 5_000;
export const WINDOW_MS = 60_000;
const PERIODS = WINDOW_MS / PERIOD_MS;

/** Number of portions in the limit of a minute. */
const PORTIONS = 200;
const MAX_SUBJECTS = 50_000;

export type Refusal = { readonly limit: number; readonly retryAfter: number };

type Portion = { left: number; readonly until: number; readonly refusal?: Refusal };

/**
 * Creates a function that takes one request. It returns undefined if the request is allowed, otherwise limit and
 * seconds to wait.
 */
export function createCounter(deps: { readonly db: Db; readonly clock: Clock }) {
  const portions = createLru<string, Portion>(MAX_SUBJECTS);
  const fetching = new Map<string, Promise<void>>();

  const currentPortion = (key: string): Portion | undefined => {
    const current = portions.get(key);
    return current && current.until > deps.clock.now() ? current : undefined;
  };

  async function fetchPortion(key: string, subject: Subject, limitOf: () => Promise<number>): Promise<void> {
    const limit = await limitOf();
    portions.set(key, await takePortion(deps.db, subject, { limit, now: deps.clock.now() }));
  }

  async function waitForPortion(
    key: string,
    subject: Subject,
    limit: () => Promise<number>,
  ): Promise<Refusal | undefined> {
    for (;;) {
      const current = currentPortion(key);
      if (current?.refusal) return current.refusal;
      if (current && current.left > 0) {
        current.left -= 1;
        return undefined;
      }
      // All requests that wait for this subject share one transaction. Those of the API do not wait in the line of
      // webhooks.
      const pending =
        fetching.get(key) ?? outsideShares(() => fetchPortion(key, subject, limit)).finally(() => fetching.delete(key));
      fetching.set(key, pending);
      await pending;
    }
  }

  return (subject: Subject, limit: () => Promise<number>): Promise<Refusal | undefined> | undefined => {
    const key = `${subject.accountId} ${subject.name}`;
    const current = currentPortion(key);
    if (current && current.left > 0) {
      current.left -= 1;
      return undefined;
    }
    return waitForPortion(key, subject, limit);
  };
}

async function takePortion(
  db: Db,
  subject: Subject,
  { limit, now }: { readonly limit: number; readonly now: number },
): Promise<Portion> {
  const period = Math.floor(now / PERIOD_MS);
  const until = (period + 1) * PERIOD_MS;
  return db.transaction(async (tx) => {
    await lockSubject(tx, subject);
    const used = await findUsedSince(tx, subject, period - PERIODS);
    const free = limit - used.reduce((sum, one) => sum + one.used, 0);
    if (free <= 0) {
      const retryAfter = secondsUntilFree(used, limit, now);
      return { left: 0, until: Math.min(until, now + 1_000), refusal: { limit, retryAfter } };
    }
    const left = Math.min(Math.max(1, Math.floor(limit / PORTIONS)), free);
    await addUsedRequests(tx, subject, { period, used: left, expiredUntil: period - PERIODS });
    return { left, until };
  });
}

/** Seconds until enough periods have left the window. A period counts until it is completely outside. */
function secondsUntilFree(used: readonly UsedRequests[], limit: number, now: number): number {
  let sum = used.reduce((total, one) => total + one.used, 0);
  for (const one of used.toSorted((a, b) => a.period - b.period)) {
    sum -= one.used;
    if (sum < limit) return Math.max(1, Math.ceil(((one.period + PERIODS + 1) * PERIOD_MS - now) / 1_000));
  }
  return WINDOW_MS / 1_000;
}
