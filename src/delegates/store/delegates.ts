/** Delegates and their tokens as a connection needs them. registry.ts has the statements for operators. */
import type { Capability } from "../../../protocol/versions.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { DelegateKey, DelegateStatus } from "../delegate.ts";
import { validToken, type TokenKey } from "./token-validity.ts";

export type DelegateRow = {
  readonly id: Uuid;
  readonly identityHash: Buffer;
  readonly bootId: string;
  readonly seenAt: number;
  readonly tags: readonly string[];
  /** The token of its last connection. */
  readonly tokenId: Uuid;
  readonly status: DelegateStatus;
};

/** Returns and locks the delegate of this name that is not deleted: two programs with one name take turns. */
export async function lockDelegate(db: Store, accountId: Uuid, name: string): Promise<DelegateRow | undefined> {
  const rows = await db.query<DelegateRow>(
    `select id, identity_hash as "identityHash", boot_id as "bootId", seen_at as "seenAt", tags,
            token_id as "tokenId", status
       from delegates where account_id = $1 and name = $2 and status <> 'DELETED' for no key update`,
    [accountId, name],
  );
  return rows[0];
}

/** Whether a delegate with this work folder was deleted, under any name. */
export async function isDeletedIdentity(db: Store, accountId: Uuid, identityHash: Buffer): Promise<boolean> {
  const rows = await db.query(
    `select 1 from delegates where account_id = $1 and identity_hash = $2 and status = 'DELETED' limit 1`,
    [accountId, identityHash],
  );
  return rows.length > 0;
}

/** Whether an enabled delegate with all the selectors was heard from since. */
export async function existsConnected(
  db: Store,
  accountId: Uuid,
  { selectors, since }: { readonly selectors: readonly string[]; readonly since: number },
): Promise<boolean> {
  const rows = await db.query(
    `select 1 from delegates
      where account_id = $1 and status = 'ENABLED' and seen_at >= $2 and $3::text[] <@ array_append(tags, name) limit 1`,
    [accountId, since, selectors],
  );
  return rows.length > 0;
}

export type DelegateDeclaration = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly tokenId: Uuid;
  readonly name: string;
  readonly identityHash: Buffer;
  readonly tags: readonly string[];
  readonly host: string;
  readonly version: string;
  readonly bootId: string;
  readonly slots: number;
  /** The reason why it takes no tasks now, as the rest of a sentence that begins with its name. */
  readonly unavailable: string | null;
  readonly capabilities: readonly Capability[];
  readonly at: number;
  /** Whether new delegates wait for approval. */
  readonly needsApproval: boolean;
};

/** The stored state of a delegate after its hello. */
export type SavedDelegate = { readonly tags: readonly string[]; readonly status: DelegateStatus };

/**
 * Inserts the delegate or updates its row; the row keeps its id. Returns the current tags: the declared ones, unless
 * they were edited and the declaration has not changed. A new delegate waits for approval if the setting requires it,
 * except the server's own, whose token the server made for that name.
 * Returns undefined and saves nothing if the token is no longer valid. It locks the token against a concurrent
 * revocation, so that no delegate is admitted after its commit. `for share` would let a stream of hellos delay the
 * revocation. The token is the last row to be locked, so no transaction waits while holding it.
 */
export async function saveDelegate(db: Store, d: DelegateDeclaration): Promise<SavedDelegate | undefined> {
  const {
    accountId,
    id,
    tokenId,
    name,
    identityHash,
    tags,
    host,
    version,
    bootId,
    slots,
    at,
    needsApproval,
    unavailable,
    capabilities,
  } = d;
  const rows = await db.query<SavedDelegate>(
    `with token as (${validToken("$3", "$11", `id, created_by is null and name = $4 as "isServers"`)} for no key update)
     insert into delegates as known (account_id, id, token_id, name, identity_hash, tags, declared_tags, host, version,
                                     boot_id, slots, seen_at, created_at, status, unavailable, capabilities)
     select $1, $2, token.id, $4, $5, $6, $6, $7, $8, $9, $10, $11, $11,
            case when $12 and not "isServers" then 'WAITING_FOR_APPROVAL' else 'ENABLED' end, $13, $14 from token
     on conflict (account_id, id) do update set token_id = $3, identity_hash = $5,
       tags = case when known.declared_tags = $6 then known.tags else $6 end, declared_tags = $6,
       host = $7, version = $8, boot_id = $9, slots = $10, seen_at = $11, unavailable = $13, capabilities = $14,
       status = case when known.identity_hash = $5 then known.status else excluded.status end
     returning tags, status`,
    [
      ...[accountId, id, tokenId, name, identityHash, tags, host, version, bootId, slots, at, needsApproval],
      ...[unavailable, capabilities],
    ],
  );
  return rows[0];
}

export async function markSeen(
  db: Store,
  { accountId, id }: DelegateKey,
  { at, unavailable }: { readonly at: number; readonly unavailable: string | null },
): Promise<void> {
  await db.query(`update delegates set seen_at = $3, unavailable = $4 where account_id = $1 and id = $2`, [
    accountId,
    id,
    at,
    unavailable,
  ]);
}

/** The value that `markSeen` stored last; undefined without such a delegate. */
export async function findSeenAt(db: Store, accountId: Uuid, id: Uuid): Promise<number | undefined> {
  const rows = await db.query<{ seenAt: number }>(
    `select seen_at as "seenAt" from delegates where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return rows[0]?.seenAt;
}

/** Stores the boot from which on the delegate's journal covers all its leases. */
export async function saveBoot(db: Store, { accountId, id }: DelegateKey, bootId: string): Promise<void> {
  await db.query(`update delegates set boot_id = $3 where account_id = $1 and id = $2`, [accountId, id, bootId]);
}

export type DelegateToken = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly name: string;
  readonly secretHash: Buffer;
  readonly createdBy: Uuid | null;
  readonly at: number;
  /** Time of its automatic revocation. */
  readonly revokeAfter?: number | null;
};

/** False when the name is taken. */
export async function insertDelegateToken(db: Store, token: DelegateToken): Promise<boolean> {
  const rows = await db.query(
    `insert into delegate_tokens (account_id, id, name, secret_hash, created_by, created_at, revoke_after)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (account_id, name) where deleted_at is null do nothing returning id`,
    [token.accountId, token.id, token.name, token.secretHash, token.createdBy, token.at, token.revokeAfter ?? null],
  );
  return rows.length > 0;
}

/**
 * Inserts a token whose name is not used by another token or by delegates of a token other than `former`. False when
 * it is used; of two concurrent claims, the second waits for the first's commit.
 */
export async function claimDelegateToken(db: Store, token: DelegateToken, former: Uuid | undefined): Promise<boolean> {
  const rows = await db.query(
    `insert into delegate_tokens (account_id, id, name, secret_hash, created_by, created_at)
     select $1, $2, $3, $4, $5, $6
      where not exists (select from delegates where account_id = $1 and name = $3 and status <> 'DELETED'
                          and token_id is distinct from $7)
     on conflict (account_id, name) where deleted_at is null do nothing returning id`,
    [token.accountId, token.id, token.name, token.secretHash, token.createdBy, token.at, former ?? null],
  );
  return rows.length > 0;
}

/** Gives the token a new secret unless it is revoked; undefined when it does not exist or was deleted. */
export async function renewDelegateToken(
  db: Store,
  { accountId, tokenId }: TokenKey,
  secretHash: Buffer,
): Promise<{ readonly revoked: boolean } | undefined> {
  const rows = await db.query<{ revoked: boolean }>(
    `update delegate_tokens set secret_hash = case when revoked_at is null then $3 else secret_hash end
      where account_id = $1 and id = $2 and deleted_at is null returning revoked_at is not null as revoked`,
    [accountId, tokenId, secretHash],
  );
  return rows[0];
}

/** Finds a token that is valid now. */
export async function findDelegateToken(
  db: Store,
  { accountId, tokenId }: TokenKey,
  now: number,
): Promise<{ secretHash: Buffer } | undefined> {
  const rows = await db.query<{ secretHash: Buffer }>(
    `select secret_hash as "secretHash" from delegate_tokens where account_id = $1 and id in (${validToken("$2", "$3")})`,
    [accountId, tokenId, now],
  );
  return rows[0];
}
