/** Rows of executions of which each retries the one before it. */
import type { Status } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

/** Notes the retry at the execution that it retries. False if that has another one already, or was deleted. */
export async function linkRetry(
  db: Store,
  accountId: Uuid,
  { parentId, id }: { readonly parentId: Uuid; readonly id: Uuid },
): Promise<boolean> {
  const rows = await db.query(
    `update executions set retried_by_id = $3, changed_xid = pg_current_xact_id()
      where account_id = $1 and id = $2 and retried_by_id is null returning id`,
    [accountId, parentId, id],
  );
  return rows.length > 0;
}

export type RetryRow = {
  readonly id: Uuid;
  readonly status: Status;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
};

/** More retries than people make. */
const MOST_RETRIES = 1_000;

/** The first execution of a row and its retries, newest first. */
export const listRetries = (db: Store, accountId: Uuid, rootId: Uuid): Promise<readonly RetryRow[]> =>
  db.query<RetryRow>(
    `select id, status, started_at as "startedAt", ended_at as "endedAt" from executions
      where account_id = $1 and (id = $2 or retry_root_id = $2) order by id desc limit ${MOST_RETRIES}`,
    [accountId, rootId],
  );
