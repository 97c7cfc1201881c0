import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { PersonKey } from "../people.ts";
import type { Session } from "../session/session.ts";

const SESSION = `id, user_id as "userId", method, remote_address as "remoteAddress", user_agent as "userAgent",
  created_at as "createdAt", last_seen_at as "lastSeenAt", expires_at as "expiresAt"`;

export type NewSession = Omit<Session, "lastSeenAt"> & { readonly accountId: Uuid; readonly secretHash: Buffer };

export async function insertSession(db: Store, session: NewSession): Promise<void> {
  await db.query(
    `insert into sessions (account_id, id, user_id, secret_hash, method, remote_address, user_agent, created_at,
                           last_seen_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)`,
    [
      session.accountId,
      session.id,
      session.userId,
      session.secretHash,
      session.method,
      session.remoteAddress,
      session.userAgent,
      session.createdAt,
      session.expiresAt,
    ],
  );
}

export async function selectSession(
  db: Store,
  accountId: Uuid,
  id: Uuid,
): Promise<(Session & { readonly secretHash: Buffer }) | undefined> {
  const rows = await db.query<Session & { secretHash: Buffer }>(
    `select ${SESSION}, secret_hash as "secretHash" from sessions where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return rows[0];
}

/** The sessions that have not ended, newest first. */
export async function selectSessions(
  db: Store,
  { accountId, userId }: PersonKey,
  { now, seenAfter }: { readonly now: number; readonly seenAfter: number },
): Promise<Session[]> {
  return db.query<Session>(
    `select ${SESSION} from sessions
      where account_id = $1 and user_id = $2 and expires_at > $3 and last_seen_at > $4
      order by created_at desc, id desc limit 200`,
    [accountId, userId, now, seenAfter],
  );
}

/** Sets the time of the last request. It never decreases, whichever replica writes first. */
export async function updateLastSeen(
  db: Store,
  { accountId, id }: { readonly accountId: Uuid; readonly id: Uuid },
  at: number,
): Promise<void> {
  await db.query(`update sessions set last_seen_at = $3 where account_id = $1 and id = $2 and last_seen_at < $3`, [
    accountId,
    id,
    at,
  ]);
}

/** Returns whether the session existed. */
export async function deleteSession(
  db: Store,
  { accountId, userId, id }: PersonKey & { readonly id: Uuid },
): Promise<boolean> {
  const rows = await db.query(
    `delete from sessions where account_id = $1 and user_id = $2 and id = $3 returning account_id`,
    [accountId, userId, id],
  );
  return rows.length > 0;
}

/** Deletes all sessions of a person except `but`. Returns their number. */
export async function deleteSessionsOf(db: Store, { accountId, userId }: PersonKey, but?: Uuid): Promise<number> {
  const rows = await db.query(
    `delete from sessions where account_id = $1 and user_id = $2 and id is distinct from $3 returning account_id`,
    [accountId, userId, but ?? null],
  );
  return rows.length;
}

export async function deleteExpiredSessions(
  db: Store,
  { now, seenBefore }: { readonly now: number; readonly seenBefore: number },
): Promise<void> {
  // invariant 7: the sweep of all accounts.
  await db.query(`delete from sessions where account_id is not null and (expires_at <= $1 or last_seen_at <= $2)`, [
    now,
    seenBefore,
  ]);
}

/** Those of the sessions that are valid at `now`. */
export async function selectValidSessions(
  db: Store,
  sessions: readonly { readonly accountId: Uuid; readonly id: Uuid }[],
  { now, seenAfter }: { readonly now: number; readonly seenAfter: number },
): Promise<Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `select s.id from unnest($1::uuid[], $2::uuid[]) as w (account_id, id)
       join sessions s on s.account_id = w.account_id and s.id = w.id
      where s.expires_at > $3 and s.last_seen_at > $4`,
    [sessions.map(({ accountId }) => accountId), sessions.map(({ id }) => id), now, seenAfter],
  );
  return rows.map(({ id }) => id);
}
