/** The tokens of webhooks as a sealed store: sealed again under a new root key, and verified. */
import type { Uuid } from "../../core/ids.ts";
import type { HoldRootKey } from "../../identity/index.ts";
import type { Sealer } from "../../platform/crypto/seal.ts";
import { sealedPrefix, UnknownRootKey } from "../../platform/crypto/seal.ts";
import type { SealedStore, BatchResult } from "../../platform/crypto/sealed-store.ts";
import type { Db } from "../../platform/db/db.ts";
import { sealIdentity } from "../create.ts";
import {
  countTokensUnderOthers,
  listSealedTokens,
  saveSealedToken,
  type SealedToken,
  type SealedTokenFilter,
} from "../store/sealed-tokens.ts";

type Deps = { readonly db: Db; readonly sealer: Sealer; readonly holdRootKey: HoldRootKey };

const BATCH = 200;

export const createSealedTokens = (deps: Deps): SealedStore => ({
  what: "webhook tokens",
  countUnderOtherKeys: countTokensUnderOthers,
  reseal: (accountId, keyId) =>
    processBatches(deps.db, { accountId, except: sealedPrefix(keyId) }, (batch) =>
      resealBatch(deps, { accountId, keyId }, batch),
    ),
  verify: (accountId) =>
    processBatches(deps.db, { accountId, except: null }, async (batch) => {
      const [failed, missingKeyIds]: [string[], string[]] = [[], []];
      for (const token of batch)
        try {
          deps.sealer.open(token.tokenSealed, sealIdentity(token));
        } catch (error) {
          if (error instanceof UnknownRootKey) missingKeyIds.push(error.keyId);
          else failed.push(token.name);
        }
      return { done: batch.length - failed.length - missingKeyIds.length, failed, missingKeyIds };
    }),
});

async function resealBatch(
  { db, sealer, holdRootKey }: Deps,
  { accountId, keyId }: { readonly accountId: Uuid; readonly keyId: string },
  batch: readonly SealedToken[],
): Promise<BatchResult> {
  const failed: string[] = [];
  const done = await db.transaction(async (tx) => {
    if ((await holdRootKey(tx, accountId)) !== keyId)
      throw new Error("Another rotation changed the root key of the account meanwhile. Start the rotation again.");
    let saved = 0;
    for (const token of batch) {
      const plain = tryOpen(sealer, token);
      if (plain === undefined) failed.push(token.name);
      else if (await saveSealedToken(tx, token, sealer.seal(plain, sealIdentity(token), keyId))) saved += 1;
    }
    return saved;
  });
  return { done, failed };
}

function tryOpen(sealer: Sealer, token: SealedToken): string | undefined {
  try {
    return sealer.open(token.tokenSealed, sealIdentity(token));
  } catch {
    return undefined;
  }
}

async function* processBatches(
  db: Db,
  { accountId, except }: Omit<SealedTokenFilter, "after">,
  work: (batch: readonly SealedToken[]) => Promise<BatchResult>,
): AsyncGenerator<BatchResult> {
  let after: Uuid | null = null;
  for (;;) {
    const batch: readonly SealedToken[] = await listSealedTokens(db, { accountId, except, after }, BATCH);
    const last = batch.at(-1);
    if (!last) return;
    yield await work(batch);
    after = last.id;
  }
}
