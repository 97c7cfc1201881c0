/**
 * Sealing with a root key: AES-256-GCM with a key derived per purpose and the record's identity as associated
 * data, so that a sealed value opens in its own row only.
 *
 * Layout of a sealed value: 1 byte version, 8 bytes id of the root key, 12 bytes nonce, 16 bytes tag, ciphertext.
 * Version 1 has no id: all known keys are tried.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveKey, KEY_ID_LENGTH, type KeyRing, type RootKey } from "./key-ring.ts";

const VERSION = 2;
const WITHOUT_ID = 1;
const ID_END = 1 + KEY_ID_LENGTH / 2;

/** Seals and opens the values of one purpose. Values of other purposes do not open. */
export type Sealer = {
  /**
   * `identity` names the record, as in `trigger:<accountId>:<id>`; `keyId` is the root key that the account uses
   * (`holdRootKey`, in the transaction that stores the value). Throws when that key was not given to this program.
   */
  readonly seal: (plain: string, identity: string, keyId: string) => Buffer;
  /** Throws when the key, the identity or a byte is another one. */
  readonly open: (sealed: Buffer, identity: string) => string;
};

/** Stored values open only under the same `purpose`, so its text never changes. */
export function createSealer(keys: KeyRing, purpose: string): Sealer {
  const derived = new Map(keys.all.map((root) => [root.id, deriveKey(root, `railhead ${purpose}`)]));
  const keyOf = (id: string): Buffer => {
    const key = derived.get(id);
    if (!key) throw new UnknownRootKey(id, keys);
    return key;
  };
  return {
    seal(plain, identity, keyId) {
      const key = keyOf(keyId);
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(identity));
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return Buffer.concat([sealedPrefix(keyId), nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, identity) {
      if (sealed[0] === VERSION)
        return openWith(keyOf(sealed.toString("hex", 1, ID_END)), sealed.subarray(ID_END), identity);
      if (sealed[0] !== WITHOUT_ID) throw new Error("the sealed value has an unknown version");
      return openWithAny([...derived.values()], sealed.subarray(1), identity);
    },
  };
}

/** The first bytes of every value sealed under this root key, for statements that search for other values. */
export const sealedPrefix = (keyId: string): Buffer =>
  Buffer.concat([Buffer.from([VERSION]), Buffer.from(keyId, "hex")]);

/**
 * The id of the root key in a column of sealed values, for statements that count them by it; null where the value says
 * none, as those of version 1.
 */
export const keyIdIn = (column: string): string =>
  `case when substring(${column} from 1 for 1) = '\\x0${VERSION}' then encode(substring(${column} from 2 for ${ID_END - 1}), 'hex') end`;

/** A value needs a root key that this program was not given. The message has ids of keys, not keys. */
export class UnknownRootKey extends Error {
  readonly keyId: string;

  constructor(keyId: string, keys: KeyRing) {
    super(`the root key ${keyId} is needed; this program was given ${describeKeys(keys)}`);
    this.keyId = keyId;
  }
}

/** The ids of the keys, as in `a and b`. `serverName` (src/platform/db/servers.ts) relies on this form. */
export const describeKeys = ({ all }: { readonly all: readonly RootKey[] }): string =>
  all.map(({ id }) => id).join(" and ");

function openWithAny(keys: readonly Buffer[], sealed: Buffer, identity: string): string {
  let failure: unknown;
  for (const key of keys) {
    try {
      return openWith(key, sealed, identity);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** @param sealed from the nonce on */
function openWith(key: Buffer, sealed: Buffer, identity: string): string {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12), { authTagLength: 16 })
    .setAAD(Buffer.from(identity))
    .setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString("utf8");
}
