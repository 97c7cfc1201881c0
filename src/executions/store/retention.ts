/** What the retention looks for and deletes, a bounded number of rows in each statement. */
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";

type Store = { readonly query: Query };

/** An execution that has ended; they are gone through in the order of `endedAt`, then `id`. */
export type Ended = { readonly id: Uuid; readonly endedAt: number };

/** Before every id. */
export const FIRST_ID = "00000000-0000-0000-0000-000000000000" as Uuid;

/** Chunks of up to 64 KiB that one statement deletes. */
const CHUNKS = 500;

export async function accountsWithExecutions(db: Store): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(`select distinct account_id as id from execution_sequences`);
  return rows.map(({ id }) => id);
}

export const endedBefore = (
  db: Store,
  accountId: Uuid,
  before: number,
  after: Ended | undefined,
  limit: number,
): Promise<readonly Ended[]> =>
  db.query<Ended>(
    `select id, ended_at as "endedAt" from executions
      where account_id = $1 and ended_at < $2 and ended_at >= $3 and (ended_at > $3 or id > $4)
      order by ended_at, id limit $5`,
    [accountId, before, after?.endedAt ?? 0, after?.id ?? FIRST_ID, limit],
  );

/** Those that have ended and are not among the newest `count` run numbers of their pipeline; without those of `except`. */
export async function beyondNewest(
  db: Store,
  accountId: Uuid,
  count: number,
  except: readonly Uuid[],
  limit: number,
): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `select e.id from execution_sequences s
      cross join lateral (
        select id from executions e
         where e.account_id = s.account_id and e.pipeline_id = s.pipeline_id and e.run_sequence <= s.last - $2::int
           and e.ended_at is not null and e.id <> all ($3::uuid[])
         order by e.run_sequence limit $4) e
      where s.account_id = $1 and s.last > $2::int limit $4`,
    [accountId, count, except, limit],
  );
  return rows.map(({ id }) => id);
}

export async function lockEnded(db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `select id from executions where account_id = $1 and id = any($2) and ended_at is not null
      order by id for update skip locked`,
    [accountId, ids],
  );
  return rows.map(({ id }) => id);
}

/** From now on reading one of these logs says that it was deleted. Answers how many were not deleted before. */
export async function markLogsDeleted(db: Store, accountId: Uuid, ids: readonly Uuid[], at: number): Promise<number> {
  const rows = await db.query(
    `update log_streams set deleted_at = $3
      where account_id = $1 and execution_id = any($2) and stream_id = execution_id and deleted_at is null
      returning 1`,
    [accountId, ids, at],
  );
  return rows.length;
}

/** How many chunks went, a bounded number at once. */
export async function deleteChunks(db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<number> {
  const rows = await db.query<{ n: number }>(
    `with gone as (
       delete from log_chunks where (account_id, execution_id, position) in (
         select account_id, execution_id, position from log_chunks
          where account_id = $1 and execution_id = any($2) limit ${CHUNKS})
       returning 1)
     select count(*) as n from gone`,
    [accountId, ids],
  );
  return rows[0]?.n ?? 0;
}

/** When the log of an execution was deleted; undefined while it is there. */
export async function logDeletedAt(db: Store, accountId: Uuid, id: Uuid): Promise<number | undefined> {
  const rows = await db.query<{ at: number | null }>(
    `select deleted_at as at from log_streams where account_id = $1 and execution_id = $2 and stream_id = $2`,
    [accountId, id],
  );
  return rows[0]?.at ?? undefined;
}

/** The logs of all executions that ended before are deleted, as far as the retention of logs has asked for it. */
export async function logsDeletedUntil(db: Store, accountId: Uuid): Promise<number> {
  const rows = await db.query<{ until: number }>(`select until from log_retentions where account_id = $1`, [accountId]);
  return rows[0]?.until ?? 0;
}

export async function noteLogsDeleted(db: Store, accountId: Uuid, until: number): Promise<void> {
  await db.query(
    `insert into log_retentions (account_id, until) values ($1, $2)
     on conflict (account_id) do update set until = greatest(log_retentions.until, $2)`,
    [accountId, until],
  );
}
