/**
 * The share of the connections that intake may use at once. Webhooks come in any number; without a share they would hold
 * all connections, and reads would wait behind them. Which statements belong to intake is told by the asynchronous
 * context that they are sent in: everything that handles a delivery begins in `asIntake`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { LentTo } from "./lent.ts";
import { problem } from "../problems.ts";

/** `beside`: a transaction of this work is open. A permit for a second connection could wait for the first one for ever. */
type Context = "intake" | "beside";
const context = new AsyncLocalStorage<Context>();

/** Runs work whose statements count towards the share of intake, with all that it begins and that goes on after it. */
export const asIntake = <T>(work: () => T): T => context.run("intake", work);

/** Runs work inside an open transaction. */
export const besideTransaction = <T>(work: () => T): T => (isIntake() ? context.run("beside", work) : work());

/** Runs work that only follows from intake, such as waking somebody up. */
export const outsideIntake = <T>(work: () => T): T => context.exit(work);

export const isIntake = (): boolean => context.getStore() === "intake";

type Lend = () => Promise<LentTo>;

/** Lends at most so many connections at once, in the order of asking. Rejects with `db.busy` after `waitMs`. */
export function lendWithin(lend: Lend, { most, waitMs }: { readonly most: number; readonly waitMs: number }): Lend {
  let free = most;
  const waiting = new Set<() => void>();

  const permit = async (): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return;
    }
    const granted = Promise.withResolvers<void>();
    const grant = (): void => {
      clearTimeout(late);
      granted.resolve();
    };
    const late = setTimeout(() => {
      waiting.delete(grant);
      granted.reject(problem("db.busy", [], { retryAfter: 1 }));
    }, waitMs);
    waiting.add(grant);
    await granted.promise;
  };
  /** The permit goes to the one that has waited longest. */
  const giveBack = (): void => {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return async () => {
    await permit();
    try {
      const lent = await lend();
      return {
        ...lent,
        release: (destroy) => {
          lent.release(destroy);
          giveBack();
        },
      };
    } catch (error) {
      giveBack();
      throw error;
    }
  };
}
