/** The built-in kind: each manager's key is derived from the root key, which the server alone has. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { KeyWrapper, ManagerRef } from "./wrapper.ts";

/**
 * Layout of a wrapped key: 12 bytes nonce, 16 bytes tag, 32 bytes ciphertext. The key id is a fingerprint of
 * the root key, so that what an older root key wrapped can be told apart without a counter that someone keeps.
 */
export function makePlatformWrapper(rootKey: Buffer): KeyWrapper {
  const keyId = derived(rootKey, "railhead root key id").subarray(0, 8).toString("hex");
  const keyOf = ({ accountId, managerId }: ManagerRef): Buffer =>
    derived(rootKey, `railhead secret manager ${accountId} ${managerId}`);

  return {
    wrap: async (manager, dataKey, identity) => {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", keyOf(manager), nonce).setAAD(Buffer.from(identity));
      const body = Buffer.concat([cipher.update(dataKey), cipher.final()]);
      return { keyId, wrapped: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
    },
    unwrap: async (manager, key, identity) => {
      if (key.keyId !== keyId)
        throw new Error(`the data key was wrapped with the root key ${key.keyId}, this one is ${keyId}`);
      const { wrapped } = key;
      const decipher = createDecipheriv("aes-256-gcm", keyOf(manager), wrapped.subarray(0, 12), { authTagLength: 16 })
        .setAAD(Buffer.from(identity))
        .setAuthTag(wrapped.subarray(12, 28));
      return Buffer.concat([decipher.update(wrapped.subarray(28)), decipher.final()]);
    },
  };
}

const derived = (rootKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", rootKey, Buffer.alloc(0), purpose, 32));
