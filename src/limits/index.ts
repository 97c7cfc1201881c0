/** How many requests an account and each of its tokens may make in a minute. */
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import type { SettingValue } from "../settings/index.ts";
import { createCounter, PERIOD_MS, WINDOW_MS, type Refusal } from "./count.ts";
import { problem } from "./problems.ts";
import { forgetAll } from "./store.ts";

export type LimitsDeps = { readonly db: Db; readonly clock: Clock; readonly settingValue: SettingValue };

export function createLimits({ db, clock, settingValue }: LimitsDeps) {
  let nextSweep = 0;
  const take = createCounter({ db, clock });
  const limitOf =
    (accountId: Uuid, setting: "requests_per_minute_account" | "requests_per_minute_token") =>
    async (): Promise<number> =>
      Number(await settingValue(accountId, setting));

  const ofAccount = (accountId: Uuid) =>
    take({ accountId, name: "account" }, limitOf(accountId, "requests_per_minute_account"));

  async function refuse(waiting: Promise<Refusal | undefined>): Promise<void> {
    const refusal = await waiting;
    if (refusal) throw problem("limits.too_many", [String(refusal.limit)], { retryAfter: refusal.retryAfter });
  }

  return {
    /**
     * Counts a request. `credential` names the token without its secret. Nothing to wait for in the usual case.
     * Throws `limits.too_many` (429) with the seconds to wait.
     */
    count: (accountId: Uuid, credential: string): Promise<void> | undefined => {
      const token = take({ accountId, name: credential }, limitOf(accountId, "requests_per_minute_token"));
      // A token that is over its own limit must not use up the account's.
      return token ? refuse(token).then(() => countAccount(accountId)) : countAccount(accountId);
    },
    /** The same for a request without a credential of its own, as a webhook's call. */
    countAccount,
    /** Once a minute is enough: rows of subjects that still come are removed as they count on. */
    async sweep(): Promise<void> {
      const now = clock.now();
      if (now < nextSweep) return;
      nextSweep = now + WINDOW_MS;
      await forgetAll(db, Math.floor((now - WINDOW_MS) / PERIOD_MS) - 1);
    },
  };

  function countAccount(accountId: Uuid): Promise<void> | undefined {
    const account = ofAccount(accountId);
    return account && refuse(account);
  }
}
