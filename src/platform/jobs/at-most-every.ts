import type { Clock } from "../../core/clock.ts";

/**
 * Returns a function that runs `work` unless it began less than `ms` milliseconds ago. They are a duration inside this
 * process: a correction of the database's clock neither repeats nor delays the work (invariant 9).
 */
export function atMostEvery(
  ms: number,
  { elapsed }: Pick<Clock, "elapsed">,
  work: () => Promise<void>,
): () => Promise<void> {
  let next = Number.NEGATIVE_INFINITY;
  return async () => {
    const at = elapsed();
    if (at < next) return;
    next = at + ms;
    await work();
  };
}
