/**
 * The database decides which root key an account uses, not the configuration of a server: servers restart one after the
 * other, and until the last one knows the new key none may seal with it. `railhead secrets rotate root-key` changes it
 * (docs/how-to/rotate-the-root-key.md).
 */
import type { Uuid } from "../core/ids.ts";
import type { KeyRing } from "../platform/crypto/key-ring.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import type { Store, Tx } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { findRootKey, lockRootKey, type KeyedAccount } from "./store/root-keys.ts";

const KEY_CHECK = "this is the root key of this database";
const PURPOSE = "root key check";

/** Returns the id of the key to seal with. It may change at once: see HoldRootKey. */
export const createRootKeyOf =
  (keys: KeyRing) =>
  async (db: Store, accountId: Uuid): Promise<string> =>
    (await findRootKey(db, accountId)) || keys.preferred.id;

/** For keys that are wrapped before the transaction. The transaction that stores one compares it by `HoldRootKey`. */
export type RootKeyOf = ReturnType<typeof createRootKeyOf>;

/**
 * As RootKeyOf, and keeps the account's key until the transaction ends. The sealed value is stored in the same
 * transaction.
 */
export const holdRootKey =
  (keys: KeyRing) =>
  async (tx: Tx, accountId: Uuid): Promise<string> =>
    (await lockRootKey(tx, accountId)) || keys.preferred.id;

/** Returns the id of the key, which a rotation cannot change until the transaction ends. */
export type HoldRootKey = ReturnType<typeof holdRootKey>;

const recordOf = (accountId: Uuid): string => `account:${accountId}`;

/** A value that proves later that a key is the account's. */
export const keyCheckOf = (keys: KeyRing, accountId: Uuid, keyId: string): Buffer =>
  createSealer(keys, PURPOSE).seal(KEY_CHECK, recordOf(accountId), keyId);

/** Returns the id of the account's key. Throws `identity.wrong_root_key` if the server has no such key. */
export function checkedRootKey(keys: KeyRing, { id, rootKeyId, keyCheck }: KeyedAccount): string {
  const given = keys.all.map((key) => key.id).join(" and ");
  const candidates = rootKeyId === "" ? keys.all : keys.all.filter((key) => key.id === rootKeyId);
  const found = candidates.find((root) => {
    const only = { preferred: root, all: [root], find: (wanted: string) => (wanted === root.id ? root : undefined) };
    try {
      return createSealer(only, PURPOSE).open(keyCheck, recordOf(id)) === KEY_CHECK;
    } catch {
      return false; // a key that does not open it is another one
    }
  });
  if (found) return found.id;
  throw problem("identity.wrong_root_key", [rootKeyId === "" ? "another one" : `the key ${rootKeyId}`, given]);
}
