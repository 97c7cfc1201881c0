import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { Tally } from "../password/back-off.ts";

/**
 * Locks the tallies of the subjects until the transaction ends, and inserts missing ones with zero failures. Locks are
 * taken in the order of the keys, so that attempts with common subjects do not deadlock.
 */
export async function lockTallies(db: Store, accountId: Uuid, keys: readonly string[]): Promise<Map<string, Tally>> {
  await db.query(
    `insert into sign_in_failures (account_id, subject, failures, blocked_until, last_at)
     select $1, subject, 0, 0, 0 from unnest($2::text[]) as s (subject) order by subject
     on conflict do nothing`,
    [accountId, keys],
  );
  const rows = await db.query<Tally & { subject: string }>(
    `select subject, failures, blocked_until as "blockedUntil", last_at as "lastAt" from sign_in_failures
      where account_id = $1 and subject = any($2) order by subject for update`,
    [accountId, keys],
  );
  return new Map(rows.map(({ subject, ...tally }) => [subject, tally]));
}

/** Those of the subjects whose pause lasts at `now`. */
export async function selectPausedSubjects(
  db: Store,
  { accountId, keys }: { readonly accountId: Uuid; readonly keys: readonly string[] },
  now: number,
): Promise<readonly string[]> {
  const rows = await db.query<{ subject: string }>(
    `select subject from sign_in_failures where account_id = $1 and subject = any($2) and blocked_until > $3`,
    [accountId, keys, now],
  );
  return rows.map(({ subject }) => subject);
}

export async function saveTally(
  db: Store,
  { accountId, key }: { readonly accountId: Uuid; readonly key: string },
  tally: Tally,
): Promise<void> {
  await db.query(
    `update sign_in_failures set failures = $3, blocked_until = $4, last_at = $5 where account_id = $1 and subject = $2`,
    [accountId, key, tally.failures, tally.blockedUntil, tally.lastAt],
  );
}

/** Subtracts one attempt and ends the pause. */
export async function subtractAttempt(db: Store, accountId: Uuid, keys: readonly string[]): Promise<void> {
  await db.query(
    `update sign_in_failures set failures = greatest(0, failures - 1), blocked_until = 0
      where account_id = $1 and subject = any($2)`,
    [accountId, keys],
  );
}

export async function deleteTallies(db: Store, accountId: Uuid, keys: readonly string[]): Promise<void> {
  await db.query(`delete from sign_in_failures where account_id = $1 and subject = any($2)`, [accountId, keys]);
}

export async function deleteOldFailures(db: Store, lastBefore: number): Promise<void> {
  // invariant 7: the sweep of all accounts.
  await db.query(`delete from sign_in_failures where account_id is not null and last_at <= $1`, [lastBefore]);
}
