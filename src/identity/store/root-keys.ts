import type { Uuid } from "../../core/ids.ts";
import type { Store, Tx } from "../../platform/db/db.ts";

/** Empty until a server that knows key ids has started on the database. */
export async function findRootKey(db: Store, accountId: Uuid): Promise<string | undefined> {
  const rows = await db.query<{ id: string }>(`select root_key_id as id from accounts where id = $1`, [accountId]);
  return rows[0]?.id;
}

/** As findRootKey, and keeps the account's key until the transaction ends. */
export async function lockRootKey(tx: Tx, accountId: Uuid): Promise<string | undefined> {
  const rows = await tx.query<{ id: string }>(`select root_key_id as id from accounts where id = $1 for share`, [
    accountId,
  ]);
  return rows[0]?.id;
}

export type KeyedAccount = { readonly id: Uuid; readonly rootKeyId: string; readonly keyCheck: Buffer };

/** Sets the key id of accounts that an older server has created without one. */
export async function nameRootKey(db: Store, rootKeyId: string): Promise<void> {
  await db.query(`update accounts set root_key_id = $1 where root_key_id = ''`, [rootKeyId]);
}
/** Waits for transactions that hold the root key, and blocks others until this one ends. */
export async function lockAccountKey(tx: Tx, accountId: Uuid): Promise<KeyedAccount> {
  const [account] = await tx.query<KeyedAccount>(
    `select id, root_key_id as "rootKeyId", key_check as "keyCheck" from accounts where id = $1 for no key update`,
    [accountId],
  );
  if (!account) throw new Error(`there is no account ${accountId}`);
  return account;
}

export async function saveRootKey(
  db: Store,
  accountId: Uuid,
  { rootKeyId, keyCheck }: Omit<KeyedAccount, "id">,
): Promise<void> {
  await db.query(`update accounts set root_key_id = $2, key_check = $3 where id = $1`, [
    accountId,
    rootKeyId,
    keyCheck,
  ]);
}
