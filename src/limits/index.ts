/** Limits the requests of an account and of each of its tokens in a minute. */
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import { atMostEvery } from "../platform/jobs/at-most-every.ts";
import type { SettingValue } from "../settings/index.ts";
import { createCounter, PERIOD_MS, WINDOW_MS, type Refusal } from "./count.ts";
import { problem } from "./problems.ts";
import { deleteExpiredCounts } from "./store.ts";

export type LimitsDeps = { readonly db: Db; readonly clock: Clock; readonly settingValue: SettingValue };

/** The limits are settings of the account and hold for all replicas together. */
export function createLimits({ db, clock, settingValue }: LimitsDeps) {
  const takeRequest = createCounter({ db, clock });
  const limitOf =
    (accountId: Uuid, setting: "requests_per_minute_account" | "requests_per_minute_token") =>
    async (): Promise<number> =>
      Number(await settingValue(accountId, setting));

  const takeAccountRequest = (accountId: Uuid) =>
    takeRequest({ accountId, name: "account" }, limitOf(accountId, "requests_per_minute_account"));

  async function rejectExceeded(waiting: Promise<Refusal | undefined>): Promise<void> {
    const refusal = await waiting;
    if (refusal) throw problem("limits.too_many", [String(refusal.limit)], { retryAfter: refusal.retryAfter });
  }

  return {
    /**
     * Counts a request. `credential` identifies the token without its secret. Usually returns undefined, without a
     * promise. Throws `limits.too_many` (429) with the seconds to wait.
     */
    count: (accountId: Uuid, credential: string): Promise<void> | undefined => {
      const token = takeRequest({ accountId, name: credential }, limitOf(accountId, "requests_per_minute_token"));
      // A token above its own limit must not use up the limit of the account.
      return token ? rejectExceeded(token).then(() => countAccount(accountId)) : countAccount(accountId);
    },
    /** Counts a request without its own credential, such as a call of a webhook. */
    countAccount,
    /** Deletes counts of inactive subjects, at most once a minute. Active subjects delete their own expired counts. */
    sweep: atMostEvery(WINDOW_MS, clock, () =>
      deleteExpiredCounts(db, Math.floor((clock.now() - WINDOW_MS) / PERIOD_MS) - 1),
    ),
  };

  function countAccount(accountId: Uuid): Promise<void> | undefined {
    const account = takeAccountRequest(accountId);
    return account && rejectExceeded(account);
  }
}
