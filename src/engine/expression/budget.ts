import { ExpressionError } from "./error.ts";
import { MAX_EVENT_BYTES, MAX_EVENT_WORK, MAX_TOTAL_BYTES, MAX_TOTAL_WORK } from "./limits.ts";

/** What the evaluation of several texts has made and cost so far. One large value that many of them read is counted for each. */
export type Budget = { bytes: number; work: number; readonly ofEvent?: true };

export const newBudget = (): Budget => ({ bytes: 0, work: 0 });

/** Of all that begins or ends in one event, beside what undoes it: that has one of its own. */
export const newEventBudget = (): Budget => ({ bytes: 0, work: 0, ofEvent: true });

/** Adds to it. Throws ExpressionError once too much was made, and for all that follows. */
export function spend(budget: Budget, bytes: number, work: number): void {
  budget.bytes += bytes;
  budget.work += work;
  const { ofEvent } = budget;
  const most = ofEvent ? MAX_EVENT_BYTES : MAX_TOTAL_BYTES;
  const which = ofEvent ? "The values of all that begins at the same time" : "The values";
  if (budget.bytes > most) throw new ExpressionError("limit", `${which} have more than ${most} bytes together`, 0);
  if (budget.work > (ofEvent ? MAX_EVENT_WORK : MAX_TOTAL_WORK))
    throw new ExpressionError("limit", `${which} together take too many steps to evaluate`, 0);
}
