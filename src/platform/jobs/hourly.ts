import type { Clock } from "../../core/clock.ts";

const EVERY_MS = 3_600_000;

/**
 * Runs all functions once an hour. Each does a bounded part of its work and returns whether it is finished; if one is
 * not, all run again at the next call.
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
