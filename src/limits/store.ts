import type { Uuid } from "../core/ids.ts";
import type { Query } from "../platform/db/db.ts";

type Store = { readonly query: Query };

export type Used = { readonly period: number; readonly used: number };

/** Until the transaction ends: replicas that take portions of one subject take turns. */
export async function lockAccount(db: Store, accountId: Uuid, subject: string): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended($1::text || ' ' || $2, 0)) as account_id`, [
    accountId,
    subject,
  ]);
}

/** What was taken after this period. */
export async function usedSince(db: Store, accountId: Uuid, subject: string, period: number): Promise<Used[]> {
  return db.query<Used>(
    `select period, used from request_counts where account_id = $1 and subject = $2 and period > $3`,
    [accountId, subject, period],
  );
}

/** Adds to a period, and forgets up to `forgetTo` what does not count any more. */
export async function addUsed(
  db: Store,
  accountId: Uuid,
  subject: string,
  { period, used, forgetTo }: Used & { readonly forgetTo: number },
): Promise<void> {
  await db.query(
    `with gone as (delete from request_counts where account_id = $1 and subject = $2 and period <= $5)
     insert into request_counts as known (account_id, subject, period, used) values ($1, $2, $3, $4)
     on conflict (account_id, subject, period) do update set used = known.used + $4`,
    [accountId, subject, period, used, forgetTo],
  );
}

/** Of subjects that went silent nothing else would be removed. Answers how many rows went. */
export async function forgetAll(db: Store, period: number): Promise<void> {
  // invariant 7: the sweep of all accounts.
  await db.query(`delete from request_counts where account_id is not null and period <= $1`, [period]);
}
