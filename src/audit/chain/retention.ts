import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { atMostEvery } from "../../platform/jobs/at-most-every.ts";
import type { Head } from "./chain.ts";
import type { Audit } from "../record.ts";
import * as store from "../store/chain.ts";

const DAY_MS = 86_400_000;
/** The interval in milliseconds between two checks for old entries. */
const CHECK_INTERVAL_MS = 3_600_000;
/** Entries in one transaction. */
export const BATCH = 2_000;

type Deps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  /** The retention of the account in days; 0 keeps everything. */
  readonly retentionDays: (accountId: Uuid) => Promise<number>;
};

/**
 * Removes entries older than the account's retention, from the beginning of the chain up to the first newer one. The
 * chain then begins at the cut. An entry records the hash of the cut.
 */
export function createRetention(deps: Deps): { readonly sweep: () => Promise<void> } {
  return {
    sweep: atMostEvery(CHECK_INTERVAL_MS, deps.clock, async () => {
      const now = deps.clock.now();
      for (const accountId of await store.chainedAccounts(deps.db)) {
        const days = await deps.retentionDays(accountId);
        if (days === 0) continue;
        while ((await deps.db.transaction((tx) => cutBatch(deps, tx, accountId, now - days * DAY_MS))) === BATCH);
      }
    }),
  };
}

/** Returns the number of removed entries. */
async function cutBatch({ audit }: Deps, tx: Tx, accountId: Uuid, before: number): Promise<number> {
  const chain = await store.lockChain(tx, accountId);
  if (!chain) return 0;
  const oldest = await store.oldestSeals(tx, { accountId, after: chain.cut.sequence }, BATCH);
  const firstNewer = oldest.findIndex(({ at }) => at !== null && at >= before);
  const old = firstNewer < 0 ? oldest : oldest.slice(0, firstNewer);
  const cut: Head | undefined = old.at(-1);
  if (!cut) return 0;
  await store.cutOff(tx, accountId, { from: chain.cut, to: cut });
  await audit.record(
    tx,
    { kind: "system", accountId },
    {
      operation: "audit.sweep",
      resourceType: "AUDIT",
      resourceId: "",
      scope: {},
      after: { entries: old.length, before, cut: `${cut.sequence}:${cut.hash.toString("hex")}` },
    },
  );
  return old.length;
}
