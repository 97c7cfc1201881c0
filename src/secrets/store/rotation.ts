/** Contents of an account in batches, for the rotation of root keys and of data keys. */
import type { Uuid } from "../../core/ids.ts";
import { MAX_NAMES, type UnderKey } from "../../platform/crypto/sealed-store.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import type { WrappedKey } from "../managers/kinds/kind.ts";
import { CONTENT, type ContentRow } from "./contents.ts";

/** A content with the path of its secret, for messages to operators. */
export type NamedContent = ContentRow & { readonly name: string };

const NAME = `concat_ws('/', s.org_identifier, s.project_identifier, s.identifier) as name`;
const NAMED = `${CONTENT}, ${NAME}`;

const FROM = `from secret_contents c
  join secret_managers m on m.account_id = c.account_id and m.id = c.manager_id
  join secrets s on s.account_id = c.account_id and s.id = c.secret_id`;

/** At most `limit` contents after `after`; null for the first ones. */
type Batch = { readonly after: Uuid | null; readonly limit: number };

/** Contents after `after`, ordered by id, whose data key is wrapped by another root key than `keyId`. */
export async function listUnderOtherKeys(
  db: Store,
  accountId: Uuid,
  { keyId, after, limit }: Batch & { readonly keyId: string },
): Promise<NamedContent[]> {
  return db.query<NamedContent>(
    `select ${NAMED} ${FROM}
      where c.account_id = $1 and m.kind = 'platform' and c.key_id <> $2 and ($3::uuid is null or c.id > $3)
      order by c.id limit $4`,
    [accountId, keyId, after, limit],
  );
}

/** Counts the contents that other root keys wrap, by root key. */
export const countUnderOtherKeys = (
  db: Store,
  accountId: Uuid,
  keyIds: readonly string[],
): Promise<readonly UnderKey[]> =>
  db.query<UnderKey>(
    `with other as (select c.id, c.key_id, ${NAME} ${FROM}
       where c.account_id = $1 and m.kind = 'platform' and c.key_id <> all ($2::text[]))
     select key_id as "keyId", count(*) as count, (array_agg(name order by id))[1:${MAX_NAMES}] as names
       from other group by 1 order by 1`,
    [accountId, keyIds],
  );

export type Rewrapped = { readonly id: Uuid; readonly oldKeyId: string; readonly wrapped: WrappedKey };

/** Saves wrapped keys and returns their number. Contents that were replaced or rewrapped meanwhile stay unchanged. */
export async function saveWrappedKeys(tx: Tx, accountId: Uuid, keys: readonly Rewrapped[]): Promise<number> {
  const rows = await tx.query(
    `update secret_contents c set key_id = n.key_id, wrapped_key = n.wrapped
       from unnest($2::uuid[], $3::text[], $4::text[], $5::bytea[]) as n (id, was, key_id, wrapped)
      where c.account_id = $1 and c.id = n.id and c.key_id = n.was returning c.id`,
    [
      accountId,
      keys.map(({ id }) => id),
      keys.map(({ oldKeyId }) => oldKeyId),
      keys.map(({ wrapped }) => wrapped.keyId),
      keys.map(({ wrapped }) => wrapped.wrapped),
    ],
  );
  return rows.length;
}

/** Contents after `after`, ordered by id. With `rotationId`, without those that this rotation has sealed. */
export async function listContents(
  db: Store,
  accountId: Uuid,
  { rotationId, after, limit }: Batch & { readonly rotationId: Uuid | null },
): Promise<NamedContent[]> {
  return db.query<NamedContent>(
    `select ${NAMED} ${FROM}
      where c.account_id = $1 and ($2::uuid is null or c.rotation_id is distinct from $2)
        and ($3::uuid is null or c.id > $3)
      order by c.id limit $4`,
    [accountId, rotationId, after, limit],
  );
}

/** Secrets whose content is missing. The server never creates such rows. */
export async function listEmptySecrets(db: Store, accountId: Uuid, limit: number): Promise<{ name: string }[]> {
  return db.query<{ name: string }>(
    `select concat_ws('/', s.org_identifier, s.project_identifier, s.identifier) as name from secrets s
      where s.account_id = $1 and s.type <> 'SSH_CREDENTIAL'
        and not exists (select from secret_contents c where c.account_id = s.account_id and c.secret_id = s.id)
      order by s.id limit $2`,
    [accountId, limit],
  );
}

/** Returns false if the content was replaced or deleted meanwhile. */
export async function deleteContentById(tx: Tx, accountId: Uuid, id: Uuid): Promise<boolean> {
  const rows = await tx.query(`delete from secret_contents where account_id = $1 and id = $2 returning id`, [
    accountId,
    id,
  ]);
  return rows.length > 0;
}

/** Returns the unfinished rotation of the account, or inserts a new one. */
export async function startOrResumeRotation(
  db: Store,
  accountId: Uuid,
  rotation: { readonly id: Uuid; readonly at: number },
): Promise<{ id: Uuid; startedAt: number }> {
  const insert = `insert into key_rotations (account_id, id, kind, started_at) values ($1, $2, 'data-keys', $3)
    on conflict (account_id, kind) where finished_at is null do update set started_at = key_rotations.started_at
    returning id, started_at as "startedAt"`;
  const rows = await db.query<{ id: Uuid; startedAt: number }>(insert, [accountId, rotation.id, rotation.at]);
  return rows[0] ?? { id: rotation.id, startedAt: rotation.at };
}

export async function finishRotation(
  tx: Tx,
  accountId: Uuid,
  { id, at }: { readonly id: Uuid; readonly at: number },
): Promise<boolean> {
  const rows = await tx.query(
    `update key_rotations set finished_at = $3 where account_id = $1 and id = $2 and finished_at is null returning id`,
    [accountId, id, at],
  );
  return rows.length > 0;
}
