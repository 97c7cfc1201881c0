/**
 * Sealing with the root key: AES-256-GCM with a key derived per purpose (HKDF-SHA-256,
 * RFC 5869) and the record's identity as associated data, so that a sealed value
 * opens in its own row only.
 *
 * Layout of a sealed value: 1 byte version, 12 bytes nonce, 16 bytes tag, ciphertext.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const VERSION = 1;

export type Sealer = {
  /** `identity` names the record, as in `trigger:<accountId>:<id>`. */
  readonly seal: (plain: string, identity: string) => Buffer;
  /** Throws when the key, the identity or a byte is another one. */
  readonly open: (sealed: Buffer, identity: string) => string;
};

export function makeSealer(rootKey: Buffer, purpose: string): Sealer {
  const key = Buffer.from(hkdfSync("sha256", rootKey, Buffer.alloc(0), `railhead ${purpose}`, 32));
  return {
    seal(plain, identity) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(identity));
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, identity) {
      if (sealed[0] !== VERSION) throw new Error("the sealed value has an unknown version");
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 13), { authTagLength: 16 })
        .setAAD(Buffer.from(identity))
        .setAuthTag(sealed.subarray(13, 29));
      return Buffer.concat([decipher.update(sealed.subarray(29)), decipher.final()]).toString("utf8");
    },
  };
}
