/** The built-in kind: each manager's key is derived from the account's root key, which the server alone has. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { HoldRootKey, RootKeyOf } from "../../identity/index.ts";
import { deriveKey, type KeyRing } from "../../platform/crypto/key-ring.ts";
import { UnknownRootKey } from "../../platform/crypto/seal.ts";
import type { Db } from "../../platform/db/db.ts";
import type { KeyWrapper, ManagerRef } from "./wrapper.ts";

export type PlatformWrapperDeps = {
  readonly db: Pick<Db, "query">;
  readonly keys: KeyRing;
  readonly rootKeyOf: RootKeyOf;
  readonly holdRootKey: HoldRootKey;
};

/** Layout of a wrapped key: 12 bytes nonce, 16 bytes tag, 32 bytes ciphertext. The key id is that of the root key. */
export function makePlatformWrapper({ db, keys, rootKeyOf, holdRootKey }: PlatformWrapperDeps): KeyWrapper {
  const keyOf = (keyId: string, { accountId, managerId }: ManagerRef): Buffer => {
    const root = keys.find(keyId);
    if (!root) throw new UnknownRootKey(keyId, keys);
    return deriveKey(root, `railhead secret manager ${accountId} ${managerId}`);
  };
  return {
    wrap: async (manager, dataKey, identity) => {
      const keyId = await rootKeyOf(db, manager.accountId);
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", keyOf(keyId, manager), nonce).setAAD(Buffer.from(identity));
      const body = Buffer.concat([cipher.update(dataKey), cipher.final()]);
      return { keyId, wrapped: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
    },
    unwrap: async (manager, { keyId, wrapped }, identity) => {
      const key = keyOf(keyId, manager);
      const decipher = createDecipheriv("aes-256-gcm", key, wrapped.subarray(0, 12), { authTagLength: 16 })
        .setAAD(Buffer.from(identity))
        .setAuthTag(wrapped.subarray(12, 28));
      return Buffer.concat([decipher.update(wrapped.subarray(28)), decipher.final()]);
    },
    hold: async (tx, { accountId }, keyId) => (await holdRootKey(tx, accountId)) === keyId,
  };
}
