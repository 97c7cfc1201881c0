/** Users. A deleted user (`deleted_at`) stays as the creator of rows; only `findFormer` finds it. */
import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import { nameOf, type Profile, type StoredUser, type UserDetail } from "../user.ts";
import { folded } from "../users/fold.ts";

/** The columns of a `UserDetail`, for a statement over `users u`. */
const DETAIL = `u.id, u.name, u.email, u.must_change_password as "mustChangePassword", u.given_name as "givenName",
  u.family_name as "familyName", u.display_name as "displayName", u.user_name as "userName", u.external_id as "externalId",
  u.email_verified as "emailVerified", u.managed_externally as "managedExternally", u.active, u.version,
  u.created_at as "createdAt", greatest(u.created_at, u.updated_at) as "updatedAt"`;

/** The columns of a `StoredUser`, for a statement over `users u`. */
export const PERSON = `${DETAIL}, u.directory`;

const one = async (db: Store, condition: string, values: readonly unknown[]): Promise<StoredUser | undefined> =>
  (await db.query<StoredUser>(`select ${PERSON} from users u where u.account_id = $1 and ${condition}`, values))[0];

export const findUser = (db: Store, accountId: Uuid, id: Uuid): Promise<StoredUser | undefined> =>
  one(db, "u.id = $2 and u.deleted_at is null", [accountId, id]);

/** The users with these ids, deleted ones included, in any order. */
export const findFormer = (db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<UserDetail[]> =>
  db.query<UserDetail>(`select ${DETAIL} from users u where u.account_id = $1 and u.id = any ($2::uuid[])`, [
    accountId,
    ids,
  ]);

/** Locks and returns the user until the transaction ends. */
export const lockUser = (db: Store, accountId: Uuid, id: Uuid): Promise<StoredUser | undefined> =>
  one(db, "u.id = $2 and u.deleted_at is null for no key update", [accountId, id]);

export const findUserByName = (db: Store, accountId: Uuid, name: string): Promise<StoredUser | undefined> =>
  one(db, "u.name = $2 and u.deleted_at is null order by u.id limit 1", [accountId, name]);

/** `email` is folded. */
export const findUserByEmail = (db: Store, accountId: Uuid, email: string): Promise<StoredUser | undefined> =>
  one(db, "u.email = $2 and u.deleted_at is null", [accountId, email]);

/** The users who have one of these as e-mail address or as userName; `keys` are folded. */
export const findUsersByKeys = (db: Store, accountId: Uuid, keys: readonly string[]): Promise<StoredUser[]> =>
  db.query<StoredUser>(
    // One scan of each index in every plan. A single condition with `or` has caused a scan of all users.
    `with found as materialized (
       select id from users where account_id = $1 and deleted_at is null and email = any($2)
       union select id from users where account_id = $1 and deleted_at is null and coalesce(user_key, email) = any($2)
     )
     select ${PERSON} from found f join users u on u.account_id = $1 and u.id = f.id order by u.id limit 2`,
    [accountId, keys],
  );

/** `searchTerm` is a part of the name or the address, in any case; `ids` and `emails` name users. */
export type UserFilter = {
  readonly searchTerm?: string | undefined;
  readonly ids?: readonly Uuid[] | undefined;
  readonly emails?: readonly string[] | undefined;
};

const MATCHES = `u.account_id = $1 and u.deleted_at is null and ($2 = '' or position($2 in lower(u.name)) > 0 or position($2 in u.email) > 0)
   and ($3::uuid[] is null or u.id = any($3)) and ($4::text[] is null or u.email = any($4))`;

const values = (accountId: Uuid, { searchTerm = "", ids, emails }: UserFilter): unknown[] => [
  accountId,
  searchTerm.toLowerCase(),
  ids ?? null,
  emails ?? null,
];

/** Lists users by name, or by the given order. */
export const listUsers = (
  db: Store,
  accountId: Uuid,
  { filter, window: { limit, offset, order } }: { readonly filter: UserFilter; readonly window: Window },
): Promise<UserDetail[]> =>
  db.query<UserDetail>(
    `${statementPrefix(order)}select ${DETAIL} from users u where ${MATCHES}
      order by ${orderBy(order, "name", CHANGED)} limit $5 offset $6`,
    [...values(accountId, filter), limit, offset],
  );

/** The sort column of `DETAIL`. */
const CHANGED = { lastModifiedAt: '"updatedAt"' };

export async function countUsers(db: Store, accountId: Uuid, filter: UserFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from users u where ${MATCHES}`,
    values(accountId, filter),
  );
  return rows[0]?.total ?? 0;
}

const columns = (profile: Profile): unknown[] => [
  nameOf(profile),
  profile.email,
  profile.givenName,
  profile.familyName,
  profile.displayName,
  profile.userName,
  profile.userName === null ? null : folded(profile.userName),
  profile.externalId,
  profile.emailVerified,
  profile.managedExternally,
  JSON.stringify(profile.directory),
  profile.active,
];

/**
 * Inserts a user without a password, who signs in through the identity provider or after an administrator has set a
 * password. False if the address or the userName is taken.
 */
export async function insertUserRow(
  db: Store,
  accountId: Uuid,
  { id, at, ...profile }: Profile & { readonly id: Uuid; readonly at: number },
): Promise<boolean> {
  const rows = await db.query(
    `insert into users (account_id, id, created_at, updated_at, password_hash, must_change_password,
                        name, email, given_name, family_name, display_name, user_name, user_key, external_id, email_verified,
                        managed_externally, directory, active)
     values ($1, $2, $3, $3, '', false, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
     on conflict do nothing returning id`,
    [accountId, id, at, ...columns(profile)],
  );
  return rows.length > 0;
}

/** Updates the user, whose row the caller has locked. A taken address or userName is a unique violation. */
export async function updateUserRow(
  db: Store,
  accountId: Uuid,
  { id, at, ...profile }: Profile & { readonly id: Uuid; readonly at: number },
): Promise<StoredUser> {
  const rows = await db.query<StoredUser>(
    `update users u set updated_at = $3, version = version + 1, name = $4, email = $5, given_name = $6, family_name = $7,
            display_name = $8, user_name = $9, user_key = $10, external_id = $11, email_verified = $12,
            managed_externally = $13, directory = $14, active = $15
      where account_id = $1 and id = $2 and deleted_at is null returning ${PERSON}`,
    [accountId, id, at, ...columns(profile)],
  );
  return rows[0] as StoredUser;
}

/** Marks the user as deleted. Identifying fields stay; the password and the directory's data are removed. */
export async function markUserDeleted(
  db: Store,
  accountId: Uuid,
  { id, at }: { readonly id: Uuid; readonly at: number },
): Promise<void> {
  await db.query(
    `update users set deleted_at = $3, updated_at = $3, active = false, password_hash = '', given_name = '', family_name = '',
            display_name = null, user_name = null, user_key = null, external_id = null, directory = '{}', version = version + 1
      where account_id = $1 and id = $2`,
    [accountId, id, at],
  );
}
