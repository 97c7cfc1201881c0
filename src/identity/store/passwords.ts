import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

export type LoginRow = {
  readonly id: Uuid;
  readonly name: string;
  readonly email: string;
  readonly accountName: string;
  readonly mustChangePassword: boolean;
  /** Null for a user without a password. */
  readonly passwordHash: string | null;
};

const LOGIN = `id, name, email, must_change_password as "mustChangePassword", nullif(password_hash, '') as "passwordHash",
  (select a.name from accounts a where a.id = account_id) as "accountName"`;

export async function findLogin(db: Store, accountId: Uuid, id: Uuid): Promise<LoginRow | undefined> {
  const rows = await db.query<LoginRow>(`select ${LOGIN} from users where account_id = $1 and id = $2 and active`, [
    accountId,
    id,
  ]);
  return rows[0];
}

/** Ignores case: addresses are stored in lower case. */
export async function findLoginByEmail(db: Store, accountId: Uuid, email: string): Promise<LoginRow | undefined> {
  const rows = await db.query<LoginRow>(
    `select ${LOGIN} from users where account_id = $1 and email = lower($2) and deleted_at is null and active`,
    [accountId, email],
  );
  return rows[0];
}

/** The administrator of the first start; undefined if they are not active any more. */
export async function findFirstLogin(db: Store, accountId: Uuid): Promise<LoginRow | undefined> {
  const rows = await db.query<LoginRow & { active: boolean }>(
    `select ${LOGIN}, active from users where account_id = $1 order by created_at, id limit 1`,
    [accountId],
  );
  return rows[0]?.active ? rows[0] : undefined;
}

/** Locks the user until the transaction ends, so that neither the password nor the state changes meanwhile. */
export async function lockLogin(db: Store, accountId: Uuid, id: Uuid): Promise<LoginRow | undefined> {
  const rows = await db.query<LoginRow>(
    `select ${LOGIN} from users where account_id = $1 and id = $2 and active for share`,
    [accountId, id],
  );
  return rows[0];
}

type SavedPassword = {
  readonly id: Uuid;
  readonly hash: string;
  readonly mustChange: boolean;
  readonly was?: string;
};

/**
 * Saves a password hash. False if the user is not active, or the stored hash is not `was`. Without `was` the hash is
 * replaced in any case.
 */
export async function savePassword(
  db: Store,
  accountId: Uuid,
  { id, hash, mustChange, was }: SavedPassword,
): Promise<boolean> {
  const rows = await db.query(
    `update users set password_hash = $3, must_change_password = $4
      where account_id = $1 and id = $2 and active and password_hash = coalesce($5, password_hash) returning id`,
    [accountId, id, hash, mustChange, was ?? null],
  );
  return rows.length > 0;
}
