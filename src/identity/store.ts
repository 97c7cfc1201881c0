import type { Uuid } from "../core/ids.ts";
import type { Store } from "../platform/db/db.ts";
import type { KeyedAccount } from "./store/root-keys.ts";
import type { User } from "./user.ts";

/** The columns of a row's creator, for a statement that has `left join users u`. */
export const CREATOR = `coalesce(u.id, made_by.id) as "creatorId", coalesce(u.name, made_by.name) as "creatorName",
  coalesce(u.email, made_by.email) as "creatorEmail"`;

/** The joins of `CREATOR` for a row with `created_by`: a user or a service account. */
export const creatorJoins = (row: string): string =>
  `left join users u on u.account_id = ${row}.account_id and u.id = ${row}.created_by
   left join service_accounts made_by on made_by.account_id = ${row}.account_id and made_by.id = ${row}.created_by`;

/** The columns of `CREATOR`, to be read by `creatorOf`: without a creator all of them are null. */
export type CreatorRow = {
  readonly creatorId: Uuid | null;
  readonly creatorName: string;
  readonly creatorEmail: string;
};

/** The creator in the columns of `CREATOR`. Null without a creator, or if it is a deleted service account. */
export const creatorOf = (row: CreatorRow): User | null =>
  row.creatorId && {
    id: row.creatorId,
    name: row.creatorName,
    email: row.creatorEmail,
  };

/** Whether one of these users exists and is active. */
export async function anyActive(db: Store, accountId: Uuid, ids: "everybody" | readonly Uuid[]): Promise<boolean> {
  const rows = await db.query(
    `select 1 from users where account_id = $1 and active and ($2::uuid[] is null or id = any ($2::uuid[])) limit 1`,
    [accountId, ids === "everybody" ? null : ids],
  );
  return rows.length > 0;
}

/** The oldest account; undefined in an empty database. */
export async function findFirstAccount(db: Store): Promise<KeyedAccount | undefined> {
  const rows = await db.query<KeyedAccount>(
    `select id, root_key_id as "rootKeyId", key_check as "keyCheck" from accounts order by created_at, id limit 1`,
  );
  return rows[0];
}

/** Locks until the transaction ends: of two servers that start on an empty database, one creates the account. */
export async function lockFirstStart(db: Store): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtext('railhead.first-start'))`);
}

export async function insertAccount(
  db: Store,
  account: KeyedAccount & { readonly name: string; readonly at: number },
): Promise<void> {
  await db.query(`insert into accounts (id, name, root_key_id, key_check, created_at) values ($1, $2, $3, $4, $5)`, [
    account.id,
    account.name,
    account.rootKeyId,
    account.keyCheck,
    account.at,
  ]);
}

export type NewUser = User & {
  readonly accountId: Uuid;
  readonly passwordHash: string;
  readonly at: number;
};

export async function insertUser(db: Store, user: NewUser): Promise<void> {
  await db.query(
    `insert into users (account_id, id, name, email, password_hash, must_change_password, created_at)
     values ($1, $2, $3, $4, $5, true, $6)`,
    [user.accountId, user.id, user.name, user.email, user.passwordHash, user.at],
  );
}
