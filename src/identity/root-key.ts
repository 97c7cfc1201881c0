/**
 * Which root key an account uses is a fact of the database, not of a server's configuration: servers are restarted one
 * after the other, and until the last one knows the new key none may seal with it. `railhead secrets rotate root-key`
 * changes it (docs/how-to/rotate-the-root-key.md).
 */
import type { Uuid } from "../core/ids.ts";
import type { KeyRing } from "../platform/crypto/key-ring.ts";
import { makeSealer } from "../platform/crypto/seal.ts";
import type { Query, Tx } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { findRootKey, lockRootKey, type KeyedAccount } from "./store/root-keys.ts";

const KEY_CHECK = "this is the root key of this database";
const PURPOSE = "root key check";

/** The id of the key to seal with. It may change at once: see HoldRootKey. */
export type RootKeyOf = (db: { readonly query: Query }, accountId: Uuid) => Promise<string>;

/** As RootKeyOf; the account stays with this key until the transaction ends. What is sealed is stored in the same one. */
export type HoldRootKey = (tx: Tx, accountId: Uuid) => Promise<string>;

export const makeRootKeyOf =
  (keys: KeyRing): RootKeyOf =>
  async (db, accountId) =>
    (await findRootKey(db, accountId)) || keys.preferred.id;

export const makeHoldRootKey =
  (keys: KeyRing): HoldRootKey =>
  async (tx, accountId) =>
    (await lockRootKey(tx, accountId)) || keys.preferred.id;

const recordOf = (accountId: Uuid): string => `account:${accountId}`;

/** What shows later that a key is the account's. */
export const keyCheckOf = (keys: KeyRing, accountId: Uuid, keyId: string): Buffer =>
  makeSealer(keys, PURPOSE).seal(KEY_CHECK, recordOf(accountId), keyId);

/** The id of the key that the account uses. Throws `identity.wrong_root_key` when it was not given. */
export function checkedRootKey(keys: KeyRing, { id, rootKeyId, keyCheck }: KeyedAccount): string {
  const given = keys.all.map((key) => key.id).join(" and ");
  const candidates = rootKeyId === "" ? keys.all : keys.all.filter((key) => key.id === rootKeyId);
  const found = candidates.find((root) => {
    const only = { preferred: root, all: [root], find: (wanted: string) => (wanted === root.id ? root : undefined) };
    try {
      return makeSealer(only, PURPOSE).open(keyCheck, recordOf(id)) === KEY_CHECK;
    } catch {
      return false; // a key that does not open it is another one
    }
  });
  if (found) return found.id;
  throw problem("identity.wrong_root_key", [rootKeyId === "" ? "another one" : `the key ${rootKeyId}`, given]);
}
