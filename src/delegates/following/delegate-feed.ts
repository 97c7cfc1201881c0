/** Reads the delegates of an account for all its followers on this server. */
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { createPace, resumed } from "../../platform/pace.ts";
import { LOST_AFTER_MS } from "../delegate.ts";
import { selectDelegates, selectRemaining } from "../store/registry.ts";
import { createDelegateChanges, type DelegateChanges } from "./delegate-changes.ts";

/** Delegates that are followed, by name; as many as a list has. */
const MAX_FOLLOWED = 1_000;

export type FeedDeps = { readonly db: Db; readonly clock: Clock };

export type DelegateFeed = {
  readonly changes: DelegateChanges;
  /** Reads the delegates as soon as possible. */
  readonly wake: () => void;
  /** Reads the delegates and resolves afterwards. */
  readonly read: () => Promise<void>;
  /** Resolves when there are changes after `at`, after `ms`, or when `signal` aborts. Rejects if a reading failed. */
  readonly next: (at: number, ms: number, signal: AbortSignal) => Promise<void>;
  readonly stop: () => void;
};

export function createDelegateFeed({ db, clock }: FeedDeps, accountId: Uuid): DelegateFeed {
  const changes = createDelegateChanges(MAX_FOLLOWED);
  const waiting = new Set<() => void>();
  let failure: { readonly error: unknown } | undefined;
  let isStopped = false;

  /** The delegates that are not deleted, and those that were not when they were last read. */
  async function readDelegates() {
    const remaining = await selectRemaining(db, accountId, MAX_FOLLOWED);
    const found = new Set(remaining.map(({ id }) => id));
    const ids = changes.remaining().filter((id) => !found.has(id));
    if (ids.length === 0) return remaining;
    return [...remaining, ...(await selectDelegates(db, accountId, { ids }, { limit: ids.length, offset: 0 }))];
  }

  async function update(): Promise<void> {
    try {
      const delegates = await readDelegates();
      failure = undefined;
      if (!changes.update(delegates, clock.now() - LOST_AFTER_MS)) return;
    } catch (error) {
      failure = { error };
    }
    for (const resume of waiting) resume();
  }

  const pace = createPace(clock, update);
  const wake = (): void => {
    if (!isStopped) pace.run();
  };
  return {
    ...{ changes, wake },
    read: () => new Promise((resolve) => pace.run(resolve)),
    async next(at, ms, signal) {
      if (!failure && changes.at() === at && !signal.aborted) await resumed(waiting, ms, signal);
      if (failure) throw failure.error instanceof Error ? failure.error : new Error("the delegates cannot be read");
    },
    stop: () => {
      isStopped = true;
      pace.stop();
      for (const resume of waiting) resume();
    },
  };
}
