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
import { BEGINNING, contentOf, link, type Head, type Seal, type SealedFields } from "./chain.ts";
import * as store from "./store/chain.ts";

/** In one sweep, which other sweeps wait for: so many seconds of a busy platform, or a part of a restored trail. */
const MOST_BATCHES = 20;

/** Seals what is there, 20,000 entries at most; answers how many entries that were. */
export const sealEntries =
  ({ db }: { readonly db: Db }) =>
  async (): Promise<number> => {
    let sealed = 0;
    for (let batches = 0; batches < MOST_BATCHES; batches += 1) {
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
 * A database that was restored into another cluster counts its transactions anew, and no new entry would ever come after
 * the position. Whatever has no seal gets one, in batches; then the position begins anew and passes what is sealed.
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
