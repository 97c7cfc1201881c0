/**
 * Wakes the readers that follow an execution (its log and its end, `logs.ts`): here at once, on other replicas by
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
    for (const resume of waiting.get(id) ?? []) resume();
  };

  const stop = deps.db.listen(CHANNEL, (payload) => {
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
    /** Resolves at the next wake-up, when `signal` aborts, or after a second: the follower looks again in any case. */
    next(id: Uuid, signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const all = waiting.get(id) ?? new Set();
        waiting.set(id, all);
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          all.delete(done);
          if (all.size === 0) waiting.delete(id);
          resolve();
        };
        const timer = setTimeout(done, LOOK_AGAIN_MS);
        all.add(done);
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
