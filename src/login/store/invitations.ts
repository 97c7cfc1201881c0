import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import type { Invitation, ListedInvitation } from "../invitation/invitation.ts";
import type { PersonKey } from "../people.ts";

const INVITATION = `i.user_id as "userId", jsonb_build_object('kind', i.created_by_kind, 'id', i.created_by) as author,
  i.created_at as "createdAt", i.expires_at as "expiresAt"`;

type NewInvitation = Invitation & { readonly secretHash: Buffer };

/** Replaces an earlier invitation of the user. */
export async function saveInvitation(db: Store, accountId: Uuid, made: NewInvitation): Promise<void> {
  await db.query(
    `insert into invitations (account_id, user_id, secret_hash, created_by, created_by_kind, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (account_id, user_id) do update set secret_hash = $3, created_by = $4, created_by_kind = $5,
       created_at = $6, expires_at = $7`,
    [accountId, made.userId, made.secretHash, made.author.id, made.author.kind, made.createdAt, made.expiresAt],
  );
}

/** The invitation with this hash, if it is valid at `now`. */
export async function findInvitation(
  db: Store,
  accountId: Uuid,
  { secretHash, now }: { readonly secretHash: Buffer; readonly now: number },
): Promise<Invitation | undefined> {
  const rows = await db.query<Invitation>(
    `select ${INVITATION} from invitations i where i.account_id = $1 and i.secret_hash = $2 and i.expires_at > $3`,
    [accountId, secretHash, now],
  );
  return rows[0];
}

/** Deletes the user's invitation, whether it has expired or not. Returns it. */
export async function deleteInvitation(
  db: Store,
  { accountId, userId }: PersonKey,
): Promise<{ readonly expiresAt: number } | undefined> {
  const rows = await db.query<{ expiresAt: number }>(
    `delete from invitations where account_id = $1 and user_id = $2 returning expires_at as "expiresAt"`,
    [accountId, userId],
  );
  return rows[0];
}

/** Uses the invitation up. Of several requests at once, one gets true. */
export async function useInvitation(
  db: Store,
  accountId: Uuid,
  { secretHash, now }: { readonly secretHash: Buffer; readonly now: number },
): Promise<boolean> {
  const rows = await db.query(
    `delete from invitations where account_id = $1 and secret_hash = $2 and expires_at > $3 returning user_id`,
    [accountId, secretHash, now],
  );
  return rows.length > 0;
}

const VALID = `from invitations i join users u on u.account_id = i.account_id and u.id = i.user_id
  where i.account_id = $1 and i.expires_at > $2`;

/** Those that are valid at `now`, newest first. */
export const selectInvitations = (
  db: Store,
  accountId: Uuid,
  { now, window: { limit, offset } }: { readonly now: number; readonly window: Window },
): Promise<ListedInvitation[]> =>
  db.query<ListedInvitation>(
    `select ${INVITATION}, u.name, u.email ${VALID} order by i.created_at desc, i.user_id limit $3 offset $4`,
    [accountId, now, limit, offset],
  );

export async function countInvitations(db: Store, accountId: Uuid, now: number): Promise<number> {
  const rows = await db.query<{ total: number }>(`select count(*) as total ${VALID}`, [accountId, now]);
  return rows[0]?.total ?? 0;
}

export async function deleteExpiredInvitations(db: Store, now: number): Promise<void> {
  // invariant 7: the sweep of all accounts.
  await db.query(`delete from invitations where account_id is not null and expires_at <= $1`, [now]);
}
