/**
 * Wakes the readers that follow an execution (its log and its end, `logs/logs.ts`): here at once, on other replicas by
 * NOTIFY. Many wake-ups within a moment become one statement, sent outside any transaction: inside, NOTIFY would make
 * the commits of the database queue up.
 */
import type { Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import { createNotificationBatcher } from "../platform/db/notify/notification-batcher.ts";

const CHANNEL = "railhead_executions";
/** How long a follower sleeps at most before it looks by itself (invariant 9). */
export const LOOK_AGAIN_MS = 1_000;

export type Wakeups = ReturnType<typeof makeWakeups>;

export function makeWakeups(deps: { db: Db; origin: Uuid; onError: (error: unknown) => void }) {
  const waiting = new Map<string, Set<() => void>>();
  const others = createNotificationBatcher({ ...deps, channel: CHANNEL, prefix: deps.origin });

  const wakeHere = (id: string): void => {
    for (const resume of [...(waiting.get(id) ?? [])]) resume();
  };

  function subscribe(id: Uuid, woken: () => void): () => void {
    const all = waiting.get(id) ?? new Set();
    waiting.set(id, all);
    all.add(woken);
    return () => {
      all.delete(woken);
      if (all.size === 0 && waiting.get(id) === all) waiting.delete(id);
    };
  }

  const stop = deps.db.listen(CHANNEL, (payload) => {
    // Notifications may have been missed.
    if (payload === "") for (const id of waiting.keys()) wakeHere(id);
    const [origin, ...ids] = payload.split(" ");
    if (origin === deps.origin) return;
    for (const id of ids) wakeHere(id);
  });

  return {
    /** Something about the execution was committed. */
    wake(id: Uuid): void {
      wakeHere(id);
      others.add(id);
    },
    /** Calls `woken` at each wake-up of the execution. Returns a function that unsubscribes. */
    subscribe,
    /** Resolves at the next wake-up, when `signal` aborts, or after a second: the follower looks again in any case. */
    next(id: Uuid, signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          unsubscribe();
          resolve();
        };
        const timer = setTimeout(done, LOOK_AGAIN_MS);
        const unsubscribe = subscribe(id, done);
        signal.addEventListener("abort", done);
        if (signal.aborted) done();
      });
    },
    stop(): void {
      others.stop();
      stop();
    },
  };
}
