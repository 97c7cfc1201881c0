import type { Uuid } from "../../core/ids.ts";
import type { Author } from "../../identity/index.ts";
import type { Query } from "../../platform/db/db.ts";

type Store = { readonly query: Query };

/** False when `version` is not the newest one any more, or the pipeline was deleted. */
export async function setVersionAuthor(
  db: Store,
  accountId: Uuid,
  { pipelineId, version }: { readonly pipelineId: Uuid; readonly version: number },
  author: Author,
): Promise<boolean> {
  const rows = await db.query(
    `update pipeline_versions v set author_kind = $4, author_id = $5
       from pipelines p
      where v.account_id = $1 and v.pipeline_id = $2 and v.version = $3
        and p.account_id = v.account_id and p.id = v.pipeline_id and p.version = v.version and p.deleted_at is null
      returning v.version`,
    [accountId, pipelineId, version, author.kind, author.id],
  );
  return rows.length > 0;
}

/** False when the set is at another version, or was deleted. */
export async function setInputSetAuthor(
  db: Store,
  accountId: Uuid,
  { id, version }: { readonly id: Uuid; readonly version: number },
  author: Author,
): Promise<boolean> {
  const rows = await db.query(
    `update input_sets set author_kind = $4, author_id = $5 where account_id = $1 and id = $2 and version = $3 returning id`,
    [accountId, id, version, author.kind, author.id],
  );
  return rows.length > 0;
}
