import type { Uuid } from "../../core/ids.ts";
import { keyIdIn, sealedPrefix } from "../../platform/crypto/seal.ts";
import { MAX_NAMES, type UnderKey } from "../../platform/crypto/sealed-store.ts";
import type { Store, Tx } from "../../platform/db/db.ts";

export type SecretOutputRow = {
  readonly id: Uuid;
  readonly executionId: Uuid;
  readonly name: string;
  /** Bytes of the value. */
  readonly size: number;
  readonly sealed: Buffer;
};

const ROW = `id, execution_id as "executionId", name, size, sealed`;

export async function insertSecretOutput(tx: Tx, accountId: Uuid, row: SecretOutputRow): Promise<void> {
  await tx.query(
    `insert into secret_outputs (account_id, id, execution_id, name, size, sealed) values ($1, $2, $3, $4, $5, $6)`,
    [accountId, row.id, row.executionId, row.name, row.size, row.sealed],
  );
}

export async function selectSecretOutput(db: Store, accountId: Uuid, id: Uuid): Promise<SecretOutputRow | undefined> {
  const rows = await db.query<SecretOutputRow>(`select ${ROW} from secret_outputs where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return rows[0];
}

/** Bytes of all secret outputs of an execution. */
export async function sumSecretOutputs(db: Store, accountId: Uuid, executionId: Uuid): Promise<number> {
  const rows = await db.query<{ bytes: number }>(
    `select coalesce(sum(size), 0)::int as bytes from secret_outputs where account_id = $1 and execution_id = $2`,
    [accountId, executionId],
  );
  return rows[0]?.bytes ?? 0;
}

/** Rows after `after`, in the order of their ids; without those that `exceptKeyId` has sealed. */
export const listSecretOutputs = (
  db: Store,
  accountId: Uuid,
  {
    exceptKeyId,
    after,
    limit,
  }: { readonly exceptKeyId: string | null; readonly after: Uuid | null; readonly limit: number },
): Promise<readonly SecretOutputRow[]> => {
  const prefix = exceptKeyId === null ? null : sealedPrefix(exceptKeyId);
  return db.query<SecretOutputRow>(
    `select ${ROW} from secret_outputs
      where account_id = $1 and ($2::uuid is null or id > $2)
        and ($3::bytea is null or substring(sealed from 1 for length($3)) <> $3)
      order by id limit $4`,
    [accountId, after, prefix, limit],
  );
};

/** Returns false for a row that was deleted or sealed again meanwhile. */
export async function updateSealedOutput(
  tx: Tx,
  accountId: Uuid,
  { id, before, sealed }: { readonly id: Uuid; readonly before: Buffer; readonly sealed: Buffer },
): Promise<boolean> {
  const rows = await tx.query(
    `update secret_outputs set sealed = $4 where account_id = $1 and id = $2 and sealed = $3 returning id`,
    [accountId, id, before, sealed],
  );
  return rows.length > 0;
}

/** Counts the outputs under root keys other than these. */
export const countOutputsUnderOthers = (
  db: Store,
  accountId: Uuid,
  keyIds: readonly string[],
): Promise<readonly UnderKey[]> =>
  db.query<UnderKey>(
    `with found as (select id, name, ${keyIdIn("sealed")} as key_id from secret_outputs where account_id = $1)
     select key_id as "keyId", count(*) as count, (array_agg(name order by id))[1:${MAX_NAMES}] as names
       from found where key_id <> all ($2::text[]) group by 1 order by 1`,
    [accountId, keyIds],
  );
