/**
 * The share of connections that intake may use at once. The number of webhooks is unlimited; without a share they
 * would occupy all connections, and reads would wait for them. The asynchronous context assigns statements to intake:
 * the handling of a delivery begins in `asIntake`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { LentTo } from "./lent.ts";
import { problem } from "../problems.ts";

/**
 * `beside` is true inside an open transaction of this work. A permit for a second connection could wait for the first
 * one forever.
 */
type Context = "intake" | "beside";
const context = new AsyncLocalStorage<Context>();

/** Runs work whose statements count towards the share of intake, including everything that it starts. */
export const asIntake = <T>(work: () => T): T => context.run("intake", work);

/** Runs work inside an open transaction. */
export const besideTransaction = <T>(work: () => T): T => (isIntake() ? context.run("beside", work) : work());

/** Runs work that only follows from intake, such as waking up readers. */
export const outsideIntake = <T>(work: () => T): T => context.exit(work);

export const isIntake = (): boolean => context.getStore() === "intake";

type Lend = () => Promise<LentTo>;

/** Limits the number of lent connections, in the order of requests. Rejects with `db.busy` after `waitMs`. */
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
  /** Passes the permit to the request that has waited longest. */
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
