/** The built-in kind. Each manager's key is derived from the account's root key, which only the server has. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { z } from "zod";
import { deriveKey } from "../../../platform/crypto/key-ring.ts";
import { UnknownRootKey } from "../../../platform/crypto/seal.ts";
import type { KeyWrapper, KindDeps, ManagerKind, ManagerRef, WrappedKey } from "./kind.ts";

export const platform = {
  type: "Platform",
  spec: z.strictObject({}),
  wrapper: (deps: KindDeps): PlatformWrapper => createPlatformWrapper(deps),
} satisfies ManagerKind;

type PlatformRef = Omit<ManagerRef, "spec">;

/** `keyId`: the root key of the result. */
type Rewrapping = { readonly key: WrappedKey; readonly identity: string; readonly keyId: string };
type KeyToWrap = { readonly keyId: string; readonly dataKey: Buffer; readonly identity: string };

export type PlatformWrapper = KeyWrapper & {
  /** Wraps the same data key under another root key. */
  readonly rewrap: (manager: PlatformRef, rewrapping: Rewrapping) => Promise<WrappedKey>;
};

/** Layout of a wrapped key: 12 bytes nonce, 16 bytes tag, 32 bytes ciphertext. The key id is that of the root key. */
export function createPlatformWrapper({
  db,
  keys,
  rootKeyOf,
  holdRootKey,
}: Omit<KindDeps, "commands" | "elapsed">): PlatformWrapper {
  const keyOf = (keyId: string, { accountId, managerId }: PlatformRef): Buffer => {
    const root = keys.find(keyId);
    if (!root) throw new UnknownRootKey(keyId, keys);
    return deriveKey(root, `railhead secret manager ${accountId} ${managerId}`);
  };
  const wrapWith = (manager: PlatformRef, { keyId, dataKey, identity }: KeyToWrap): WrappedKey => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", keyOf(keyId, manager), nonce).setAAD(Buffer.from(identity));
    const body = Buffer.concat([cipher.update(dataKey), cipher.final()]);
    return { keyId, wrapped: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
  };
  const unwrap = async (manager: PlatformRef, { keyId, wrapped }: WrappedKey, identity: string): Promise<Buffer> => {
    const key = keyOf(keyId, manager);
    const decipher = createDecipheriv("aes-256-gcm", key, wrapped.subarray(0, 12), { authTagLength: 16 })
      .setAAD(Buffer.from(identity))
      .setAuthTag(wrapped.subarray(12, 28));
    return Buffer.concat([decipher.update(wrapped.subarray(28)), decipher.final()]);
  };
  return {
    wrap: async (manager, dataKey, identity) =>
      wrapWith(manager, { keyId: await rootKeyOf(db, manager.accountId), dataKey, identity }),
    unwrap,
    lockKey: async (tx, { accountId }, keyId) => (await holdRootKey(tx, accountId)) === keyId,
    rewrap: async (manager, { key, identity, keyId }) => {
      const dataKey = await unwrap(manager, key, identity);
      try {
        return wrapWith(manager, { keyId, dataKey, identity });
      } finally {
        dataKey.fill(0);
      }
    },
  };
}
