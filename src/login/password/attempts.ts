/**
 * Counts each attempt to sign in before it is checked, so that parallel attempts have no advantage over sequential
 * ones.
 */
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { afterAttempt, POLICIES, type Subject } from "./back-off.ts";
import { problem } from "../problems.ts";
import { deleteTallies, lockTallies, saveTally, subtractAttempt } from "../store/failures.ts";

export type Attempts = {
  /**
   * Counts an attempt as failed. Throws `login.blocked` (429) during a pause of any subject, and counts nothing then.
   */
  readonly begin: (accountId: Uuid, subjects: readonly Subject[]) => Promise<void>;
  /**
   * Called after a correct password. Deletes the failures of pairs. For an address, and for a person from anywhere,
   * takes back this attempt only: another client may have caused their failures, and an attacker has an account, too.
   */
  readonly succeed: (accountId: Uuid, subjects: readonly Subject[]) => Promise<void>;
};

export const createAttempts = ({ db, clock }: { readonly db: Db; readonly clock: Clock }): Attempts => ({
  begin: (accountId, subjects) =>
    db.transaction(async (tx) => {
      const now = clock.now();
      const tallies = await lockTallies(
        tx,
        accountId,
        subjects.map(({ key }) => key),
      );
      const until = Math.max(...[...tallies.values()].map(({ blockedUntil }) => blockedUntil));
      if (until > now) {
        const seconds = Math.ceil((until - now) / 1_000);
        throw problem("login.blocked", [String(seconds)], { retryAfter: seconds });
      }
      for (const { key, policy } of subjects)
        await saveTally(tx, { accountId, key }, afterAttempt(tallies.get(key), POLICIES[policy], now));
    }),
  succeed: async (accountId, subjects) => {
    const keysOf = (isPair: boolean): readonly string[] =>
      subjects.filter(({ policy }) => (policy === "pair") === isPair).map(({ key }) => key);
    await db.transaction(async (tx) => {
      // The same lock order as in every other transaction.
      await lockTallies(tx, accountId, [...keysOf(true), ...keysOf(false)]);
      await deleteTallies(tx, accountId, keysOf(true));
      await subtractAttempt(tx, accountId, keysOf(false));
    });
  },
});
