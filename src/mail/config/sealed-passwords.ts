/** The passwords of mail servers as a sealed store: sealed again under a new root key, and verified. */
import type { HoldRootKey } from "../../identity/index.ts";
import { sealedPrefix, UnknownRootKey, type Sealer } from "../../platform/crypto/seal.ts";
import type { BatchResult, SealedStore } from "../../platform/crypto/sealed-store.ts";
import type { Db } from "../../platform/db/db.ts";
import { countPasswordsUnderOthers, findConfig, lockConfig, savePassword } from "../store/configs.ts";
import { sealIdentity } from "./smtp-config.ts";

type Deps = { readonly db: Db; readonly sealer: Sealer; readonly holdRootKey: HoldRootKey };

/** An account has at most one password, so each call yields one batch. */
export const createSealedPasswords = ({ db, sealer, holdRootKey }: Deps): SealedStore => ({
  what: "passwords of mail servers",
  countUnderOtherKeys: countPasswordsUnderOthers,
  async *reseal(accountId, keyId) {
    yield await db.transaction(async (tx): Promise<BatchResult> => {
      if ((await holdRootKey(tx, accountId)) !== keyId)
        throw new Error("Another rotation changed the root key of the account meanwhile. Start the rotation again.");
      const config = await lockConfig(tx, accountId);
      const prefix = sealedPrefix(keyId);
      if (!config?.passwordSealed || config.passwordSealed.subarray(0, prefix.length).equals(prefix))
        return { done: 0, failed: [] };
      const identity = sealIdentity(accountId);
      let plain: string;
      try {
        plain = sealer.open(config.passwordSealed, identity);
      } catch {
        return { done: 0, failed: [config.name] };
      }
      await savePassword(tx, accountId, sealer.seal(plain, identity, keyId));
      return { done: 1, failed: [] };
    });
  },
  async *verify(accountId) {
    const config = await findConfig(db, accountId);
    if (!config?.passwordSealed) return;
    try {
      sealer.open(config.passwordSealed, sealIdentity(accountId));
      yield { done: 1, failed: [] };
    } catch (error) {
      if (error instanceof UnknownRootKey) yield { done: 0, failed: [], missingKeyIds: [error.keyId] };
      else yield { done: 0, failed: [config.name] };
    }
  },
});
