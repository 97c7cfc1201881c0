/**
 * Turns for work that clients cause before they are known. The event loop processes everything that it can read in one
 * round: thousands of requests, or hundreds of thousands of parts of bodies. Answers of the database are processed
 * between two rounds, so each step of all other requests would wait for a long round.
 */
import { outsideShares } from "../../db/pool/budget.ts";
import { createTurns } from "../../db/pool/turns.ts";

/** Runs the work at once, or in a later round. Groups take turns; `group` is called only for work that waits. */
export type InRound = (group: () => string, work: () => void) => void;

/**
 * @param budgetMs work begins in one round of the event loop until this time has passed since its first work; further
 *   work waits for the next rounds, each of which begins at least one
 * @param elapsed milliseconds of a clock that only goes forward
 */
export function createRounds(budgetMs: number, elapsed: () => number = () => performance.now()): InRound {
  const waiting = createTurns<() => void>(Infinity);
  /** Time of the first work of this round. */
  let since: number | undefined;
  let count = 0;

  function begin(): void {
    since = elapsed();
    // The next round serves others, too, so it has no share of the work that was first.
    outsideShares(() => setImmediate(nextRound));
  }

  function nextRound(): void {
    if (count === 0) return void (since = undefined);
    begin();
    next();
  }

  function next(): void {
    count -= 1;
    waiting.takeNext()?.();
    // After the promises that the work has settled, so that their time counts.
    if (count > 0) queueMicrotask(() => process.nextTick(() => void (count > 0 && isInBudget() && next())));
  }

  const isInBudget = (): boolean => since === undefined || elapsed() - since < budgetMs;

  return (group, work) => {
    if (count === 0 && isInBudget()) {
      if (since === undefined) begin();
      return work();
    }
    count += 1;
    waiting.add([group()], work);
  };
}
