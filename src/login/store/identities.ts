import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { PersonKey } from "../people.ts";

export type Identity = {
  readonly id: Uuid;
  readonly userId: Uuid;
  readonly issuer: string;
  readonly subject: string;
  readonly linkedAt: number;
  readonly lastUsedAt: number | null;
};

/** An identity of a known person. */
export type IdentityKey = PersonKey & { readonly id: Uuid };

const IDENTITY = `id, user_id as "userId", issuer, subject, linked_at as "linkedAt", last_used_at as "lastUsedAt"`;

export async function findIdentity(
  db: Store,
  accountId: Uuid,
  { issuer, subject }: Pick<Identity, "issuer" | "subject">,
): Promise<Identity | undefined> {
  const rows = await db.query<Identity>(
    `select ${IDENTITY} from user_identities where account_id = $1 and issuer = $2 and subject = $3`,
    [accountId, issuer, subject],
  );
  return rows[0];
}

export async function listIdentities(db: Store, accountId: Uuid, userId: Uuid): Promise<Identity[]> {
  return db.query<Identity>(
    `select ${IDENTITY} from user_identities where account_id = $1 and user_id = $2 order by linked_at, id`,
    [accountId, userId],
  );
}

/** False if the issuer's subject is linked already, to any person. */
export async function insertIdentity(
  db: Store,
  accountId: Uuid,
  identity: Omit<Identity, "lastUsedAt">,
): Promise<boolean> {
  const rows = await db.query(
    `insert into user_identities (account_id, id, user_id, issuer, subject, linked_at) values ($1, $2, $3, $4, $5, $6)
     on conflict do nothing returning id`,
    [accountId, identity.id, identity.userId, identity.issuer, identity.subject, identity.linkedAt],
  );
  return rows.length > 0;
}

/** False if the identity is not linked any more. */
export async function updateLastUsed(
  db: Store,
  { accountId, id }: { readonly accountId: Uuid; readonly id: Uuid },
  at: number,
): Promise<boolean> {
  const rows = await db.query(
    `update user_identities set last_used_at = $3 where account_id = $1 and id = $2 returning id`,
    [accountId, id, at],
  );
  return rows.length > 0;
}

export async function deleteIdentity(db: Store, { accountId, userId, id }: IdentityKey): Promise<Identity | undefined> {
  const rows = await db.query<Identity>(
    `delete from user_identities where account_id = $1 and user_id = $2 and id = $3 returning ${IDENTITY}`,
    [accountId, userId, id],
  );
  return rows[0];
}

/** A later permission replaces an earlier one. */
export async function allowLink(db: Store, { accountId, userId }: PersonKey, until: number): Promise<void> {
  await db.query(
    `insert into identity_links_allowed (account_id, user_id, until) values ($1, $2, $3)
     on conflict (account_id, user_id) do update set until = $3`,
    [accountId, userId, until],
  );
}

/** Removes the permission to link by e-mail, for example because the person's address has changed. */
export async function disallowLink(db: Store, accountId: Uuid, userId: Uuid): Promise<void> {
  await db.query(`delete from identity_links_allowed where account_id = $1 and user_id = $2`, [accountId, userId]);
}

/** Uses the permission to link by e-mail. Returns whether there was one. */
export async function useLinkPermission(db: Store, { accountId, userId }: PersonKey, now: number): Promise<boolean> {
  const rows = await db.query(
    `delete from identity_links_allowed where account_id = $1 and user_id = $2 and until > $3 returning user_id`,
    [accountId, userId, now],
  );
  return rows.length > 0;
}

/** Whether this answer of the provider is used for the first time. */
export async function markStateUsed(
  db: Store,
  accountId: Uuid,
  { stateHash, until }: { readonly stateHash: Buffer; readonly until: number },
): Promise<boolean> {
  const rows = await db.query(
    `insert into sign_ins_taken (account_id, state_hash, until) values ($1, $2, $3)
     on conflict do nothing returning account_id`,
    [accountId, stateHash, until],
  );
  return rows.length > 0;
}

export async function deleteUsedStates(db: Store, now: number): Promise<void> {
  // invariant 7: the sweep of all accounts.
  await db.query(`delete from sign_ins_taken where account_id is not null and until <= $1`, [now]);
}
