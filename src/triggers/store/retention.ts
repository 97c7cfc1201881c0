/** Statements of the retention, each for a bounded number of deliveries. */
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

/** Less than every id. */
export const FIRST_ID = "00000000-0000-0000-0000-000000000000" as Uuid;

export async function accountsWithTriggers(db: Store): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(`select distinct account_id as id from triggers`);
  return rows.map(({ id }) => id);
}

export const oldestDeliveries = (
  db: Store,
  { accountId, after }: { readonly accountId: Uuid; readonly after: Uuid },
  limit: number,
): Promise<readonly { readonly id: Uuid; readonly receivedAt: number }[]> =>
  db.query(
    `select id, received_at as "receivedAt" from webhook_deliveries where account_id = $1 and id > $2 order by id limit $3`,
    [accountId, after, limit],
  );

/** Deletes the processed ones of these deliveries and returns their number. */
export async function deleteProcessed(db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<number> {
  if (ids.length === 0) return 0;
  const rows = await db.query(
    `delete from webhook_deliveries where account_id = $1 and id = any($2) and processed_at is not null returning 1`,
    [accountId, ids],
  );
  return rows.length;
}

/** Returns triggers with more than `count` deliveries, each with the newest surplus delivery. */
export const triggersBeyond = (
  db: Store,
  accountId: Uuid,
  count: number,
): Promise<readonly { readonly id: Uuid; readonly last: Uuid }[]> =>
  db.query(
    `select t.id, d.id as last from triggers t
      cross join lateral (
        select id from webhook_deliveries d where d.account_id = t.account_id and d.trigger_id = t.id
         order by d.id desc offset $2 limit 1) d
      where t.account_id = $1`,
    [accountId, count],
  );

/** Deletes processed deliveries up to the id and returns their number. */
export async function deleteUpTo(
  db: Store,
  { accountId, triggerId, last }: { readonly accountId: Uuid; readonly triggerId: Uuid; readonly last: Uuid },
  limit: number,
): Promise<number> {
  const rows = await db.query<{ n: number }>(
    `with gone as (
       delete from webhook_deliveries where account_id = $1 and id in (
         select id from webhook_deliveries
          where account_id = $1 and trigger_id = $2 and id <= $3 and processed_at is not null
          order by id limit $4 for update skip locked)
       returning 1)
     select count(*) as n from gone`,
    [accountId, triggerId, last, limit],
  );
  return rows[0]?.n ?? 0;
}

/** Deletes the deliveries that started these executions, which are deleted in the same transaction. */
export async function deleteOfExecutions(db: Store, accountId: Uuid, executionIds: readonly Uuid[]): Promise<void> {
  await db.query(`delete from webhook_deliveries where account_id = $1 and execution_id = any($2)`, [
    accountId,
    executionIds,
  ]);
}
