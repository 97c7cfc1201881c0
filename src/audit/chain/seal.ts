/**
 * Adds entries to the chains of their accounts, in the order of their transactions. No entry may come before one that
 * is sealed already. Times and ids do not give such an order, since a transaction may commit long after it has created
 * its entry. Transaction numbers do, up to the oldest transaction that has not ended (`pg_snapshot_xmin`). Therefore:
 * 1. One sealer runs at a time, of all replicas. 2. It reads that horizon. 3. It reads from the last position to the
 * horizon; no further entry can appear there. 4. It writes seals, heads and position in one transaction, so that a
 * crash has no effect.
 */
import type { Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { BEGINNING, contentOf, link, type Head, type Seal, type SealedFields } from "./chain.ts";
import * as store from "../store/chain.ts";

/**
 * Batches of one sweep, for which other sweeps wait: entries of several seconds under load, or a part of a restored
 * trail.
 */
const MAX_BATCHES = 20;

/** Seals new entries, at most 20,000. Returns their number. */
export const sealEntries =
  ({ db }: { readonly db: Db }) =>
  async (): Promise<number> => {
    let sealed = 0;
    for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
      const batch = await db.transaction(sealBatch);
      sealed += batch.sealed;
      if (!batch.more) break;
    }
    return sealed;
  };

type Batch = { readonly sealed: number; readonly more: boolean };

async function sealBatch(tx: Tx): Promise<Batch> {
  const position = await store.lockPosition(tx);
  if (!position) return { sealed: 0, more: false };
  if (position.isAhead) return sealRestored(tx);
  const entries = await store.nextEntries(tx, position);
  const last = entries.at(-1);
  if (!last) return { sealed: 0, more: false };
  const unsealed = entries.filter(({ isSealed }) => !isSealed);
  await seal(tx, unsealed);
  await store.savePosition(tx, last);
  return { sealed: unsealed.length, more: entries.length === store.BATCH };
}

/**
 * Seals entries of a database that was restored into another cluster. That cluster numbers transactions anew, so new
 * entries would never come after the position. All entries without a seal are sealed in batches; then the position
 * starts again and skips sealed entries.
 */
async function sealRestored(tx: Tx): Promise<Batch> {
  const unsealed = await store.unsealedEntries(tx);
  await seal(tx, unsealed);
  if (unsealed.length < store.BATCH) await store.savePosition(tx, store.FIRST_POSITION);
  return { sealed: unsealed.length, more: true };
}

async function seal(tx: Tx, entries: readonly SealedFields[]): Promise<void> {
  if (entries.length === 0) return;
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
}
