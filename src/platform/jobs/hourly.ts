import type { Clock } from "../../core/clock.ts";

const EVERY_MS = 3_600_000;

/**
 * Does all the works when an hour has gone by since they were done. Each does a bounded part and answers whether nothing
 * is left; while something is, they go on at the next call.
 */
export function hourly(clock: Clock, works: readonly (() => Promise<boolean>)[]): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = clock.now();
    if (now < next) return;
    let done = true;
    for (const work of works) done = (await work()) && done;
    if (done) next = now + EVERY_MS;
  };
}
