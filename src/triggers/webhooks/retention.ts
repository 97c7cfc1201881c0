/** Deletes processed deliveries of webhooks by age and number, as the account's settings say. */
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { SettingValue } from "../../settings/index.ts";
import * as store from "../store/retention.ts";

const DAY_MS = 86_400_000;
/** Deliveries of one statement; each may have 1 MiB. */
const BATCH = 200;
/** Batches of one account in one run. */
const BATCHES = 100;

type Deps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly settingValue: SettingValue;
};

/** Deletes processed deliveries, and returns whether none is left to delete. Pending deliveries stay. */
export const createDeliveryRetention = (deps: Deps) => async (): Promise<boolean> => {
  let done = true;
  for (const accountId of await store.accountsWithTriggers(deps.db)) {
    const days = Number(await deps.settingValue(accountId, "delivery_retention_days"));
    const count = Number(await deps.settingValue(accountId, "delivery_retention_count"));
    if (days > 0) done = (await deleteOld(deps, accountId, deps.clock.now() - days * DAY_MS)) && done;
    if (count > 0) done = (await deleteSurplus(deps, accountId, count)) && done;
  }
  return done;
};

/** Deletes from the oldest on. Ids grow with time, so the first batch without an old delivery ends the search. */
async function deleteOld(deps: Deps, accountId: Uuid, before: number): Promise<boolean> {
  let after = store.FIRST_ID;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const oldest = await store.oldestDeliveries(deps.db, { accountId, after }, BATCH);
    const old = oldest.filter(({ receivedAt }) => receivedAt < before);
    const ids = old.map(({ id }) => id);
    await deleteAndRecord(deps, { accountId, reason: { receivedBefore: before } }, (tx) =>
      store.deleteProcessed(tx, accountId, ids),
    );
    if (oldest.length < BATCH || old.length === 0) return true;
    after = oldest.at(-1)?.id ?? after;
  }
  return false;
}

async function deleteSurplus(deps: Deps, accountId: Uuid, count: number): Promise<boolean> {
  for (const { id, last } of await store.triggersBeyond(deps.db, accountId, count)) {
    const reason = { newestOfTrigger: count };
    const deleteBatch = (tx: Tx): Promise<number> => store.deleteUpTo(tx, { accountId, triggerId: id, last }, BATCH);
    for (let batch = 0; ; batch += 1) {
      if (batch === BATCHES) return false;
      if ((await deleteAndRecord(deps, { accountId, reason }, deleteBatch)) < BATCH) break;
    }
  }
  return true;
}

/** Deletes a batch, and records in the same transaction how many events were deleted and why. */
const deleteAndRecord = (
  { db, audit }: Deps,
  { accountId, reason }: { readonly accountId: Uuid; readonly reason: Readonly<Record<string, number>> },
  deleteBatch: (tx: Tx) => Promise<number>,
): Promise<number> =>
  db.transaction(async (tx) => {
    const events = await deleteBatch(tx);
    if (events > 0)
      await audit.record(
        tx,
        { kind: "system", accountId },
        {
          operation: "delivery.retention",
          resourceType: "TRIGGER",
          resourceId: "",
          scope: {},
          after: { events, ...reason },
        },
      );
    return events;
  });
