/** Secret outputs as a sealed store: sealed again under a new root key, and verified. */
import type { Uuid } from "../../core/ids.ts";
import type { HoldRootKey } from "../../identity/index.ts";
import { type Sealer, UnknownRootKey } from "../../platform/crypto/seal.ts";
import type { BatchResult, SealedStore } from "../../platform/crypto/sealed-store.ts";
import type { Db } from "../../platform/db/db.ts";
import {
  countOutputsUnderOthers,
  listSecretOutputs,
  type SecretOutputRow,
  updateSealedOutput,
} from "../store/secret-outputs.ts";
import { sealIdentity } from "./seal.ts";

type Deps = { readonly db: Db; readonly sealer: Sealer; readonly holdRootKey: HoldRootKey };

const BATCH = 100;

export const createSealedOutputs = (deps: Deps): SealedStore => ({
  what: "secret outputs",
  countUnderOtherKeys: countOutputsUnderOthers,
  async *reseal(accountId, keyId) {
    for await (const batch of batches(deps.db, accountId, keyId))
      yield await resealBatch(deps, { accountId, keyId }, batch);
  },
  async *verify(accountId) {
    for await (const batch of batches(deps.db, accountId, null)) yield verifyBatch(deps, accountId, batch);
  },
});

/** Each starts after the last row of the former, so that a row that cannot be opened comes once. */
async function* batches(
  db: Db,
  accountId: Uuid,
  exceptKeyId: string | null,
): AsyncGenerator<readonly SecretOutputRow[]> {
  let after: Uuid | null = null;
  for (;;) {
    const batch: readonly SecretOutputRow[] = await listSecretOutputs(db, accountId, {
      exceptKeyId,
      after,
      limit: BATCH,
    });
    const last = batch.at(-1);
    if (!last) return;
    yield batch;
    after = last.id;
  }
}

async function resealBatch(
  { db, sealer, holdRootKey }: Deps,
  { accountId, keyId }: { readonly accountId: Uuid; readonly keyId: string },
  batch: readonly SecretOutputRow[],
): Promise<BatchResult> {
  const failed: string[] = [];
  const done = await db.transaction(async (tx) => {
    if ((await holdRootKey(tx, accountId)) !== keyId)
      throw new Error("Another rotation changed the root key of the account meanwhile. Start the rotation again.");
    let saved = 0;
    for (const { id, name, sealed: before } of batch) {
      const identity = sealIdentity(accountId, id);
      let plain: string;
      try {
        plain = sealer.open(before, identity);
      } catch {
        failed.push(name);
        continue;
      }
      if (await updateSealedOutput(tx, accountId, { id, before, sealed: sealer.seal(plain, identity, keyId) }))
        saved += 1;
    }
    return saved;
  });
  return { done, failed };
}

function verifyBatch({ sealer }: Deps, accountId: Uuid, batch: readonly SecretOutputRow[]): BatchResult {
  const [failed, missingKeyIds]: [string[], string[]] = [[], []];
  for (const { id, name, sealed } of batch)
    try {
      sealer.open(sealed, sealIdentity(accountId, id));
    } catch (error) {
      if (error instanceof UnknownRootKey) missingKeyIds.push(error.keyId);
      else failed.push(name);
    }
  return { done: batch.length - failed.length - missingKeyIds.length, failed, missingKeyIds };
}
