/**
 * Puts entries into the chains of their accounts, in the order of their transactions.
 *
 * The order has to be one in which no entry can come before one that is sealed already. Times and ids are no such
 * order: a transaction may commit long after it has made its entry. The transaction's number is one, as far as all
 * transactions before it have ended: PostgreSQL says which is the oldest that has not (`pg_snapshot_xmin`). So:
 *
 * 1. One sealer at a time, of all replicas. 2. Ask for that horizon. 3. Read on from where the last one stopped, up to
 * the horizon; all that will ever be there is there. 4. Write the seals, the new heads and the new position in one
 * transaction: after a kill -9 it is as if nothing had happened.
 */
import type { Uuid } from "../core/ids.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { BEGINNING, contentOf, link, type Head, type Seal } from "./chain.ts";
import * as store from "./store/chain.ts";

/** Entries in one transaction: some ten milliseconds. */
const BATCH = 1_000;

/** Seals what is there; answers how many entries that were. */
export type SealEntries = () => Promise<number>;

export const makeSealEntries =
  ({ db }: { readonly db: Db }): SealEntries =>
  async () => {
    let sealed = 0;
    for (;;) {
      const batch = await db.transaction(sealBatch);
      sealed += batch;
      if (batch < BATCH) return sealed;
    }
  };

async function sealBatch(tx: Tx): Promise<number> {
  const position = await store.lockPosition(tx);
  if (!position) return 0;
  const entries = await store.unsealedEntries(tx, position, BATCH);
  const last = entries.at(-1);
  if (!last) return 0;
  const accounts = [...new Set(entries.map(({ accountId }) => accountId))].toSorted();
  const heads = new Map(await store.lockHeads(tx, accounts));
  const seals: (Seal & { readonly accountId: Uuid })[] = [];
  for (const entry of entries) {
    const { accountId, id: entryId } = entry;
    const content = contentOf(entry);
    const head: Head = link(heads.get(accountId) ?? BEGINNING, content);
    heads.set(accountId, head);
    seals.push({ accountId, entryId, content, ...head });
  }
  await store.insertSeals(tx, seals);
  await store.saveHeads(tx, heads);
  await store.savePosition(tx, last);
  return entries.length;
}
