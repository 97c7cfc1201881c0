import { problem } from "../../platform/db/problems.ts";

type Lane = { running: number; readonly waiting: Set<() => void> };

/**
 * Runs at most `most` pieces of work of one key at once, in the order of calls. Rejects with `db.busy` after `waitMs`.
 *
 * The starts of one pipeline wait for its run number, one after the other. Without a bound each of them would hold a
 * database connection meanwhile, and other requests would wait for one.
 */
export function createLanes({ most, waitMs }: { readonly most: number; readonly waitMs: number }) {
  const lanes = new Map<string, Lane>();

  async function enter({ waiting }: Lane): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const late = setTimeout(() => {
      waiting.delete(turn.resolve);
      turn.reject(problem("db.busy", [], { retryAfter: 1 }));
    }, waitMs);
    waiting.add(turn.resolve);
    await turn.promise.finally(() => clearTimeout(late));
  }

  function leave(key: string, lane: Lane): void {
    const [next] = lane.waiting;
    if (next) {
      lane.waiting.delete(next);
      next();
      return;
    }
    lane.running -= 1;
    if (lane.running === 0) lanes.delete(key);
  }

  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const lane = lanes.get(key) ?? { running: 0, waiting: new Set() };
    lanes.set(key, lane);
    // The work before it passes its place on.
    if (lane.running === most) await enter(lane);
    else lane.running += 1;
    try {
      return await work();
    } finally {
      leave(key, lane);
    }
  };
}
