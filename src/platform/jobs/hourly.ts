import type { Clock } from "../../core/clock.ts";

const EVERY_MS = 3_600_000;

/**
 * Runs all functions once an hour. Each does a bounded part of its work and returns whether it is finished; if one is
 * not, all run again at the next call. The hour is a duration inside this process: a correction of the database's clock
 * neither repeats nor delays the run (invariant 9).
 */
export function hourly(
  { elapsed }: Pick<Clock, "elapsed">,
  jobs: readonly (() => Promise<boolean>)[],
): () => Promise<void> {
  let next = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = elapsed();
    if (now < next) return;
    let done = true;
    for (const job of jobs) done = (await job()) && done;
    if (done) next = now + EVERY_MS;
  };
}
