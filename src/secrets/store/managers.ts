import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { SecretManager } from "../managers/manager.ts";
import { MANAGER_SCOPE } from "./scopes.ts";

const MANAGER = `manager.id, manager.identifier, manager.name, manager.description, manager.tags, manager.kind,
  manager.spec, manager.version, manager.created_at as "createdAt", manager.updated_at as "updatedAt", ${MANAGER_SCOPE}`;

/** Returns false if identifier or name is taken. `insertManagerScope` inserts the scope. */
export async function insertManager(
  tx: Tx,
  accountId: Uuid,
  manager: Omit<SecretManager, "usageScope">,
): Promise<boolean> {
  const rows = await tx.query(
    `insert into secret_managers (account_id, id, identifier, name, description, tags, kind, spec, version, created_at,
                                  updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) on conflict do nothing returning id`,
    [
      accountId,
      manager.id,
      manager.identifier,
      manager.name,
      manager.description,
      JSON.stringify(manager.tags),
      manager.kind,
      JSON.stringify(manager.spec),
      manager.version,
      manager.createdAt,
    ],
  );
  return rows.length > 0;
}

export async function lockManager(tx: Tx, accountId: Uuid, id: Uuid): Promise<SecretManager | undefined> {
  const rows = await tx.query<SecretManager>(
    `select ${MANAGER} from secret_managers manager where manager.account_id = $1 and manager.id = $2
        for update of manager`,
    [accountId, id],
  );
  return rows[0];
}

/** Throws the database's own error when the name is taken (`isManagerNameConflict`). */
export async function updateManagerRow(tx: Tx, accountId: Uuid, manager: SecretManager): Promise<void> {
  await tx.query(
    `update secret_managers set name = $3, description = $4, tags = $5, version = $6, updated_at = $7
      where account_id = $1 and id = $2`,
    [
      accountId,
      manager.id,
      manager.name,
      manager.description,
      JSON.stringify(manager.tags),
      manager.version,
      manager.updatedAt,
    ],
  );
}

export const isManagerNameConflict = (error: unknown): boolean =>
  error instanceof Error && "constraint" in error && error.constraint === "secret_managers_account_id_name_key";

export async function countSecretsOfManager(db: Store, accountId: Uuid, id: Uuid): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from secrets where account_id = $1 and manager_id = $2`,
    [accountId, id],
  );
  return rows[0]?.total ?? 0;
}

/** Deletes the manager and its scope. A concurrent insert of a secret waits for the row lock and then fails. */
export async function deleteManagerRow(tx: Tx, accountId: Uuid, id: Uuid): Promise<void> {
  await tx.query(`delete from secret_managers where account_id = $1 and id = $2`, [accountId, id]);
}

export async function findManager(db: Store, accountId: Uuid, id: Uuid): Promise<SecretManager | undefined> {
  const rows = await db.query<SecretManager>(
    `select ${MANAGER} from secret_managers manager where manager.account_id = $1 and manager.id = $2`,
    [accountId, id],
  );
  return rows[0];
}

export async function findManagerByIdentifier(
  db: Store,
  accountId: Uuid,
  identifier: string,
): Promise<SecretManager | undefined> {
  const rows = await db.query<SecretManager>(
    `select ${MANAGER} from secret_managers manager where manager.account_id = $1 and manager.identifier = $2`,
    [accountId, identifier],
  );
  return rows[0];
}

export async function findManagerByName(db: Store, accountId: Uuid, name: string): Promise<SecretManager | undefined> {
  const rows = await db.query<SecretManager>(
    `select ${MANAGER} from secret_managers manager where manager.account_id = $1 and manager.name = $2`,
    [accountId, name],
  );
  return rows[0];
}

export async function selectManagers(
  db: Store,
  accountId: Uuid,
  { limit, offset, order }: Window,
): Promise<SecretManager[]> {
  return db.query<SecretManager>(
    `${statementPrefix(order)}select ${MANAGER} from secret_managers manager where manager.account_id = $1
      order by ${orderBy(order, "name")} limit $2 offset $3`,
    [accountId, limit, offset],
  );
}

export async function countManagers(db: Store, accountId: Uuid): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from secret_managers where account_id = $1`,
    [accountId],
  );
  return rows[0]?.total ?? 0;
}
