/** Delegates and their tokens for operators. */
import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import type { DelegateKey, DelegateStatus, RegisteredDelegate, TaggedDelegate } from "../delegate.ts";
import type { TokenKey } from "./token-validity.ts";

export type DelegateIdOrName = { readonly id: Uuid | undefined } | { readonly name: string };

const TAGGED = `id, account_id as "accountId", name, tags`;
const where = (key: DelegateIdOrName): string => ("name" in key ? "name = $2" : "id = $2");
const valueOf = (key: DelegateIdOrName): string | null => ("name" in key ? key.name : (key.id ?? null));

export async function findTagged(
  db: Store,
  accountId: Uuid,
  key: DelegateIdOrName,
): Promise<TaggedDelegate | undefined> {
  const rows = await db.query<TaggedDelegate>(
    `select ${TAGGED} from delegates where account_id = $1 and ${where(key)} and status <> 'DELETED'`,
    [accountId, valueOf(key)],
  );
  return rows[0];
}

/** Locks the row: concurrent changes of tags take turns, so that neither loses the other's tags. */
export async function lockTagged(
  db: Store,
  accountId: Uuid,
  key: DelegateIdOrName,
): Promise<TaggedDelegate | undefined> {
  const rows = await db.query<TaggedDelegate>(
    `select ${TAGGED} from delegates where account_id = $1 and ${where(key)} and status <> 'DELETED' for no key update`,
    [accountId, valueOf(key)],
  );
  return rows[0];
}

export type DelegateStanding = {
  readonly id: Uuid;
  readonly name: string;
  readonly status: DelegateStatus;
  readonly tags: readonly string[];
};

/** Locks the row; undefined also for a deleted delegate. */
export async function lockStatus(db: Store, accountId: Uuid, id: Uuid): Promise<DelegateStanding | undefined> {
  const rows = await db.query<DelegateStanding>(
    `select id, name, status, tags from delegates
      where account_id = $1 and id = $2 and status <> 'DELETED' for no key update`,
    [accountId, id],
  );
  return rows[0];
}

export async function saveStatus(db: Store, { accountId, id }: DelegateKey, status: DelegateStatus): Promise<void> {
  await db.query(`update delegates set status = $3 where account_id = $1 and id = $2`, [accountId, id, status]);
}

export async function saveTags(db: Store, { accountId, id }: DelegateKey, tags: readonly string[]): Promise<void> {
  await db.query(`update delegates set tags = $3 where account_id = $1 and id = $2`, [accountId, id, tags]);
}

export type DelegateFilter = {
  readonly ids?: readonly Uuid[] | undefined;
  readonly name?: string | undefined;
  /** The delegate has all of them. */
  readonly tags?: readonly string[] | undefined;
  readonly host?: string | undefined;
  readonly tokenName?: string | undefined;
  /** The delegate has one of them. */
  readonly statuses?: readonly DelegateStatus[] | undefined;
  /** Heard from at this moment or later; with `gone`, before it. */
  readonly seenSince?: number | undefined;
  readonly gone?: boolean | undefined;
};

const STATUS = `case when t.revoked_at is null then d.status else 'DELETED' end`;

const TOKEN_OF_DELEGATE = "delegate_tokens t on t.account_id = d.account_id and t.id = d.token_id";

const COLUMNS = `d.id, d.account_id as "accountId", d.name, d.tags, d.host, d.version, d.seen_at as "seenAt",
  d.created_at as "createdAt", t.name as "tokenName", ${STATUS} as status, d.unavailable, d.slots,
  (select count(*) from tasks task where task.account_id = d.account_id and task.delegate_id = d.id
      and task.status = 'leased') as "slotsInUse"`;

const FROM = `from delegates d join ${TOKEN_OF_DELEGATE}
  where d.account_id = $1 and ($2::text is null or d.name = $2) and d.tags @> $3
    and ($4::text is null or d.host = $4) and ($5::text is null or t.name = $5)
    and ($6::text[] is null or ${STATUS} = any($6))
    and ($7::bigint is null or (d.seen_at >= $7) <> $8)
    and ($9::uuid[] is null or d.id = any($9))`;

const valuesOf = (accountId: Uuid, filter: DelegateFilter): unknown[] => [
  accountId,
  filter.name ?? null,
  filter.tags ?? [],
  filter.host ?? null,
  filter.tokenName ?? null,
  filter.statuses ?? null,
  filter.seenSince ?? null,
  filter.gone ?? false,
  filter.ids ?? null,
];

export async function selectDelegates(
  db: Store,
  accountId: Uuid,
  filter: DelegateFilter,
  { limit, offset }: Window,
): Promise<RegisteredDelegate[]> {
  return db.query<RegisteredDelegate>(`select ${COLUMNS} ${FROM} order by d.name, d.id limit $10 offset $11`, [
    ...valuesOf(accountId, filter),
    limit,
    offset,
  ]);
}

/** The delegates that are not deleted, by name. A revoked token deletes a delegate without changing its row. */
export const selectRemaining = (db: Store, accountId: Uuid, limit: number): Promise<RegisteredDelegate[]> =>
  db.query<RegisteredDelegate>(
    `select ${COLUMNS} from delegates d join ${TOKEN_OF_DELEGATE}
      where d.account_id = $1 and d.status <> 'DELETED' order by d.name limit $2`,
    [accountId, limit],
  );

export async function countDelegates(db: Store, accountId: Uuid, filter: DelegateFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(`select count(*) as total ${FROM}`, valuesOf(accountId, filter));
  return rows[0]?.total ?? 0;
}

export type TokenView = {
  readonly id: Uuid;
  readonly name: string;
  readonly createdBy: Uuid | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** Time of its automatic revocation; null without one. */
  readonly revokeAfter: number | null;
};

const TOKEN = `id, name, created_by as "createdBy", created_at as "createdAt", revoked_at as "revokedAt",
  revoke_after as "revokeAfter"`;

/** Ordered by name, with a limit: delegate tokens are created by hand. */
export async function listTokens(
  db: Store,
  accountId: Uuid,
  {
    name,
    revoked,
    limit,
  }: { readonly name: string | undefined; readonly revoked: boolean | undefined; readonly limit: number },
): Promise<TokenView[]> {
  return db.query<TokenView>(
    `select ${TOKEN} from delegate_tokens
      where account_id = $1 and deleted_at is null and ($2::text is null or name = $2)
        and ($3::boolean is null or (revoked_at is not null) = $3)
      order by name limit $4`,
    [accountId, name ?? null, revoked ?? null, limit],
  );
}

export type NamedToken = { readonly accountId: Uuid; readonly name: string };

/** Undefined without such a token; a second revocation changes nothing. */
export async function revokeToken(
  db: Store,
  { accountId, name }: NamedToken,
  at: number,
): Promise<TokenView | undefined> {
  const rows = await db.query<TokenView>(
    `update delegate_tokens set revoked_at = coalesce(revoked_at, $3)
      where account_id = $1 and name = $2 and deleted_at is null returning ${TOKEN}`,
    [accountId, name, at],
  );
  return rows[0];
}

/** Expired tokens of all accounts, for the background job. */
export const listDue = (db: Store, now: number): Promise<TokenKey[]> =>
  db.query(
    `select account_id as "accountId", id as "tokenId" from delegate_tokens
      where revoke_after <= $1 and revoked_at is null and deleted_at is null order by revoke_after limit 100`,
    [now],
  );

/** Undefined when another server was first. */
export async function revokeDueToken(
  db: Store,
  { accountId, tokenId }: TokenKey,
  now: number,
): Promise<TokenView | undefined> {
  const rows = await db.query<TokenView>(
    `update delegate_tokens set revoked_at = revoke_after
      where account_id = $1 and id = $2 and revoke_after <= $3 and revoked_at is null and deleted_at is null returning ${TOKEN}`,
    [accountId, tokenId, now],
  );
  return rows[0];
}

/** `live` when it was not revoked before: then nothing is deleted. */
export async function deleteToken(
  db: Store,
  { accountId, name }: NamedToken,
  at: number,
): Promise<"deleted" | "live" | "missing"> {
  const rows = await db.query<{ deleted: boolean }>(
    `update delegate_tokens set deleted_at = case when revoked_at is null then null else $3::bigint end
      where account_id = $1 and name = $2 and deleted_at is null returning deleted_at is not null as deleted`,
    [accountId, name, at],
  );
  const [row] = rows;
  return row === undefined ? "missing" : row.deleted ? "deleted" : "live";
}
