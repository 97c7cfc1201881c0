import type { Uuid } from "../core/ids.ts";
import type { Store } from "../platform/db/db.ts";

/** The subject of a count: an account as a whole, or one of its tokens. */
export type Subject = { readonly accountId: Uuid; readonly name: string };

export type UsedRequests = { readonly period: number; readonly used: number };

/** Locks a subject until the end of the transaction, so that replicas reserve its portions one after the other. */
export async function lockSubject(db: Store, { accountId, name }: Subject): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended($1::text || ' ' || $2, 0)) as account_id`, [
    accountId,
    name,
  ]);
}

/** Returns the requests reserved after this period. */
export async function findUsedSince(db: Store, { accountId, name }: Subject, period: number): Promise<UsedRequests[]> {
  return db.query<UsedRequests>(
    `select period, used from request_counts where account_id = $1 and subject = $2 and period > $3`,
    [accountId, name, period],
  );
}

/** Adds requests to a period, and deletes the periods up to `expiredUntil`. */
export async function addUsedRequests(
  db: Store,
  { accountId, name }: Subject,
  { period, used, expiredUntil }: UsedRequests & { readonly expiredUntil: number },
): Promise<void> {
  await db.query(
    `with gone as (delete from request_counts where account_id = $1 and subject = $2 and period <= $5)
     insert into request_counts as known (account_id, subject, period, used) values ($1, $2, $3, $4)
     on conflict (account_id, subject, period) do update set used = known.used + $4`,
    [accountId, name, period, used, expiredUntil],
  );
}

/** Deletes the expired counts of all subjects. */
export async function deleteExpiredCounts(db: Store, period: number): Promise<void> {
  // invariant 7: the sweep of all accounts.
  await db.query(`delete from request_counts where account_id is not null and period <= $1`, [period]);
}
