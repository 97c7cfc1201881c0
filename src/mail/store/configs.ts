import type { Uuid } from "../../core/ids.ts";
import { keyIdIn } from "../../platform/crypto/seal.ts";
import type { UnderKey } from "../../platform/crypto/sealed-store.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import type { StoredSmtpConfig } from "../config/smtp-config.ts";

const CONFIG = `name, host, port, from_address as "fromAddress", security, username,
  password_sealed as "passwordSealed", version, created_at as "createdAt", updated_at as "updatedAt"`;

export async function findConfig(db: Store, accountId: Uuid): Promise<StoredSmtpConfig | undefined> {
  const rows = await db.query<StoredSmtpConfig>(`select ${CONFIG} from smtp_configs where account_id = $1`, [
    accountId,
  ]);
  return rows[0];
}

/** As findConfig, and locks the row until the transaction ends. */
export async function lockConfig(tx: Tx, accountId: Uuid): Promise<StoredSmtpConfig | undefined> {
  const rows = await tx.query<StoredSmtpConfig>(`select ${CONFIG} from smtp_configs where account_id = $1 for update`, [
    accountId,
  ]);
  return rows[0];
}

/** Returns false if the account already has a configuration. */
export async function insertConfig(tx: Tx, accountId: Uuid, config: StoredSmtpConfig): Promise<boolean> {
  const rows = await tx.query(
    `insert into smtp_configs (account_id, name, host, port, from_address, security, username, password_sealed,
                               version, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing returning account_id`,
    [accountId, ...columnsOf(config), config.version, config.createdAt, config.updatedAt],
  );
  return rows.length > 0;
}

/** The row is locked. */
export async function updateConfigRow(tx: Tx, accountId: Uuid, config: StoredSmtpConfig): Promise<void> {
  await tx.query(
    `update smtp_configs set name = $2, host = $3, port = $4, from_address = $5, security = $6, username = $7,
            password_sealed = $8, version = $9, updated_at = $10
      where account_id = $1`,
    [accountId, ...columnsOf(config), config.version, config.updatedAt],
  );
}

const columnsOf = (config: StoredSmtpConfig): readonly unknown[] => [
  config.name,
  config.host,
  config.port,
  config.fromAddress,
  config.security,
  config.username,
  config.passwordSealed,
];

export async function deleteConfigRow(tx: Tx, accountId: Uuid): Promise<void> {
  await tx.query(`delete from smtp_configs where account_id = $1`, [accountId]);
}

/** Counts the passwords under root keys other than these. */
export const countPasswordsUnderOthers = (
  db: Store,
  accountId: Uuid,
  keyIds: readonly string[],
): Promise<readonly UnderKey[]> =>
  db.query<UnderKey>(
    `with sealed as (select name, ${keyIdIn("password_sealed")} as key_id from smtp_configs
                      where account_id = $1 and password_sealed is not null)
     select key_id as "keyId", count(*) as count, array_agg(name) as names
       from sealed where key_id <> all ($2::text[]) group by 1`,
    [accountId, keyIds],
  );

/** Saves the password under another key. The row is locked. */
export async function savePassword(tx: Tx, accountId: Uuid, sealed: Buffer): Promise<void> {
  await tx.query(`update smtp_configs set password_sealed = $2 where account_id = $1`, [accountId, sealed]);
}
