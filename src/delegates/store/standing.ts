/**
 * Whether a token still lets delegates in, and whether a delegate is enabled: asked by whatever registers one, gives it a
 * task, or opens a secret for it.
 */
import type { Uuid } from "../../core/ids.ts";
import type { Delegate, DelegateStatus } from "../delegate.ts";
import type { Query } from "../../platform/db/db.ts";

type Store = { readonly query: Query };

export type TokenKey = { readonly accountId: Uuid; readonly tokenId: Uuid };

/** A delegate that is connected, and the token that it came by. */
export type Holder = { readonly delegateId: Uuid; readonly tokenId: Uuid };

/** In SQL: counts at this moment, whether or not somebody has seen yet that its time is up. A deleted one was revoked before. */
const counts = (at: string): string => `revoked_at is null and (revoke_after is null or revoke_after > ${at})`;

/** In SQL, by the names of parameters: the token of account $1, if it counts. */
export const countingToken = (id: string, at: string, columns = "id"): string =>
  `select ${columns} from delegate_tokens where account_id = $1 and id = ${id} and ${counts(at)}`;

/** In SQL, by the names of parameters: true when the delegate of account $1 is enabled and the token counts. */
export const mayHold = (delegateId: string, tokenId: string, at: string): string =>
  `(exists (${countingToken(tokenId, at)})
    and exists (select from delegates where account_id = $1 and id = ${delegateId} and status = 'ENABLED'))`;

/** Whether the server made the token for its own local delegate of this name. */
export async function isServersToken(db: Store, accountId: Uuid, tokenId: Uuid, name: string): Promise<boolean> {
  const rows = await db.query(
    `select 1 from delegate_tokens where account_id = $1 and id = $2 and created_by is null and name = $3`,
    [accountId, tokenId, name],
  );
  return rows.length > 0;
}

/**
 * How many delegates of the token wait for approval. Until its end, the transaction is the only one that has counted them:
 * of two hellos at one time, the second counts what the first has saved.
 */
export async function countWaiting(db: Store, accountId: Uuid, tokenId: Uuid): Promise<number> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('railhead.waiting-delegates ' || $1::text, 0))`, [
    tokenId,
  ]);
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from delegates
      where account_id = $1 and token_id = $2 and status = 'WAITING_FOR_APPROVAL'`,
    [accountId, tokenId],
  );
  return rows[0]?.total ?? 0;
}

/** Whether this delegate may hold tasks and get secrets by this token now. */
export async function isEntitled(
  db: Store,
  { accountId, delegateId, tokenId }: Holder & { readonly accountId: Uuid },
  now: number,
): Promise<boolean> {
  const rows = await db.query<{ may: boolean }>(`select ${mayHold("$2", "$3", "$4")} as may`, [
    accountId,
    delegateId,
    tokenId,
    now,
  ]);
  return rows[0]?.may ?? false;
}

export type DelegateState = Pick<Delegate, "id" | "tags"> & { readonly status: DelegateStatus };

/** Tags and status of these delegates now. */
export async function statesOf(
  db: Store,
  delegates: readonly Pick<Delegate, "accountId" | "id">[],
): Promise<DelegateState[]> {
  return db.query<DelegateState>(
    `select d.id, d.tags, d.status from unnest($1::uuid[], $2::uuid[]) as asked (account_id, id)
       join delegates d on d.account_id = asked.account_id and d.id = asked.id`,
    [delegates.map(({ accountId }) => accountId), delegates.map(({ id }) => id)],
  );
}

/** Those that count no more. */
export async function endedTokens(db: Store, tokens: readonly TokenKey[], now: number): Promise<ReadonlySet<Uuid>> {
  const rows = await db.query<{ id: Uuid }>(
    `select asked.id from unnest($1::uuid[], $2::uuid[]) as asked (account_id, id)
      where not exists (
        select from delegate_tokens t where t.account_id = asked.account_id and t.id = asked.id and ${counts("$3")})`,
    [tokens.map(({ accountId }) => accountId), tokens.map(({ tokenId }) => tokenId), now],
  );
  return new Set(rows.map(({ id }) => id));
}
