/** Sealed contents of secrets and their chunks. rotation.ts has the statements over all contents of an account. */
import type { Uuid } from "../../core/ids.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import type { SealedContent, StoredContent } from "../content/vault.ts";

/** The content whose bytes were sealed again, and the rotation of data keys that did it. */
export type Resealed = { readonly originId: Uuid; readonly rotationId: Uuid };

type NewContent = {
  readonly content: SealedContent;
  readonly at: number;
  /** Only for a content that was sealed again. */
  readonly resealed?: Resealed;
};

/** Inserts the chunks one by one, so that a file is never in memory twice. Sealing is faster than sending. */
export async function insertContent(tx: Tx, accountId: Uuid, { content, at, resealed }: NewContent): Promise<void> {
  await tx.query(
    `insert into secret_contents (account_id, id, secret_id, manager_id, key_id, wrapped_key, size, created_at,
                                  origin_id, rotation_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      accountId,
      content.id,
      content.secretId,
      content.managerId,
      content.keyId,
      content.wrappedKey,
      content.size,
      at,
      resealed?.originId ?? null,
      resealed?.rotationId ?? null,
    ],
  );
  let nth = 0;
  for (const sealed of content.chunks()) {
    await tx.query(`insert into secret_chunks (account_id, content_id, nth, sealed) values ($1, $2, $3, $4)`, [
      accountId,
      content.id,
      nth,
      sealed,
    ]);
    nth += 1;
  }
}

export async function deleteContent(tx: Tx, accountId: Uuid, secretId: Uuid): Promise<void> {
  await tx.query(`delete from secret_contents where account_id = $1 and secret_id = $2`, [accountId, secretId]);
}

/** `originId` stays the same when only the data key is replaced. */
export type ContentRow = StoredContent & { readonly originId: Uuid };

/** For `… from secret_contents c join secret_managers m`. */
export const CONTENT = `c.id, c.secret_id as "secretId", c.manager_id as "managerId", c.key_id as "keyId",
  c.wrapped_key as "wrappedKey", c.size, m.kind, m.spec, coalesce(c.origin_id, c.id) as "originId"`;

export async function findContent(db: Store, accountId: Uuid, secretId: Uuid): Promise<ContentRow | undefined> {
  const rows = await db.query<ContentRow>(
    `select ${CONTENT}
       from secret_contents c join secret_managers m on m.account_id = c.account_id and m.id = c.manager_id
      where c.account_id = $1 and c.secret_id = $2`,
    [accountId, secretId],
  );
  return rows[0];
}

/** Returns undefined if the content was replaced or deleted meanwhile. */
export async function findChunk(
  db: Store,
  accountId: Uuid,
  { contentId, nth }: { readonly contentId: Uuid; readonly nth: number },
): Promise<Buffer | undefined> {
  const rows = await db.query<{ sealed: Buffer }>(
    `select sealed from secret_chunks where account_id = $1 and content_id = $2 and nth = $3`,
    [accountId, contentId, nth],
  );
  return rows[0]?.sealed;
}
