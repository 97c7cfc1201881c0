/** Deletes processed deliveries of webhooks once the account's settings say that they are old or many enough. */
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import type { SettingValue } from "../settings/index.ts";
import * as store from "./store/retention.ts";

const DAY_MS = 86_400_000;
/** Deliveries of one statement; each may have 1 MiB. */
const BATCH = 200;
/** Batches of one account before the others have their turn. */
const BATCHES = 100;

type Deps = { readonly db: Db; readonly clock: Clock; readonly settingValue: SettingValue };

/** Answers whether nothing is left to delete. What waits to be processed is kept. */
export const makeDeliveryRetention = (deps: Deps) => async (): Promise<boolean> => {
  let done = true;
  for (const accountId of await store.accountsWithTriggers(deps.db)) {
    const days = Number(await deps.settingValue(accountId, "delivery_retention_days"));
    const count = Number(await deps.settingValue(accountId, "delivery_retention_count"));
    if (days > 0) done = (await deleteOld(deps.db, accountId, deps.clock.now() - days * DAY_MS)) && done;
    if (count > 0) done = (await deleteSurplus(deps.db, accountId, count)) && done;
  }
  return done;
};

/** From the oldest on. Ids grow with time, so the first batch that is young ends the search. */
async function deleteOld(db: Db, accountId: Uuid, before: number): Promise<boolean> {
  let after = store.FIRST_ID;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const oldest = await store.oldestDeliveries(db, accountId, after, BATCH);
    const old = oldest.filter(({ receivedAt }) => receivedAt < before);
    await store.deleteProcessed(
      db,
      accountId,
      old.map(({ id }) => id),
    );
    if (oldest.length < BATCH || old.length === 0) return true;
    after = oldest.at(-1)?.id ?? after;
  }
  return false;
}

async function deleteSurplus(db: Db, accountId: Uuid, count: number): Promise<boolean> {
  for (const { id, last } of await store.triggersBeyond(db, accountId, count)) {
    for (let batch = 0; ; batch += 1) {
      if (batch === BATCHES) return false;
      if ((await store.deleteUpTo(db, accountId, id, last, BATCH)) < BATCH) break;
    }
  }
  return true;
}
