import { ExpressionError } from "./error.ts";
import { MAX_TOTAL_BYTES, MAX_TOTAL_WORK } from "./limits.ts";

/** What the evaluation of several texts has made and cost so far. One large value that many of them read is counted for each. */
export type Budget = { bytes: number; work: number };

export const newBudget = (): Budget => ({ bytes: 0, work: 0 });

/** Adds to it. Throws ExpressionError once too much was made, and for all that follows. */
export function spend(budget: Budget, bytes: number, work: number): void {
  budget.bytes += bytes;
  budget.work += work;
  if (budget.bytes > MAX_TOTAL_BYTES) {
    throw new ExpressionError("limit", `The values have more than ${MAX_TOTAL_BYTES} bytes together`, 0);
  }
  if (budget.work > MAX_TOTAL_WORK) {
    throw new ExpressionError("limit", "The values together take too many steps to evaluate", 0);
  }
}
