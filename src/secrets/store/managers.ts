import type { Uuid } from "../../core/ids.ts";
import type { Query, Tx } from "../../platform/db/db.ts";
import type { SecretManager } from "../manager.ts";
import { MANAGER_SCOPE } from "./scopes.ts";

type Store = { readonly query: Query };

const MANAGER = `manager.id, manager.identifier, manager.name, manager.kind, ${MANAGER_SCOPE}`;

export async function insertManager(
  tx: Tx,
  accountId: Uuid,
  manager: Omit<SecretManager, "usageScope">,
  at: number,
): Promise<void> {
  await tx.query(
    `insert into secret_managers (account_id, id, identifier, name, kind, version, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 1, $6, $6)`,
    [accountId, manager.id, manager.identifier, manager.name, manager.kind, at],
  );
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

export async function listManagers(
  db: Store,
  accountId: Uuid,
  limit: number,
  offset: number,
): Promise<SecretManager[]> {
  return db.query<SecretManager>(
    `select ${MANAGER} from secret_managers manager where manager.account_id = $1
      order by manager.name, manager.id limit $2 offset $3`,
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
