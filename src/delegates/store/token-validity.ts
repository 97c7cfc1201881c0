/**
 * Validity of delegate tokens (not revoked, before `revokeAfter`) and entitlement of delegates (enabled, connected with
 * a valid token). Both are checked when a delegate registers, leases a task or gets a secret, and `state-refresher.ts`
 * checks connected delegates repeatedly.
 */
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { Delegate, DelegateKey, DelegateStatus } from "../delegate.ts";

export type TokenKey = { readonly accountId: Uuid; readonly tokenId: Uuid };

/** A connected delegate and the token of its connection. */
export type Holder = { readonly delegateId: Uuid; readonly tokenId: Uuid };

/**
 * SQL: the token is valid at this moment, whether or not its expiry has been processed. A deleted token was revoked
 * before.
 */
const isValid = (at: string): string => `revoked_at is null and (revoke_after is null or revoke_after > ${at})`;

/** SQL with parameter names: the token of account $1, if it is valid. */
export const validToken = (id: string, at: string, columns = "id"): string =>
  `select ${columns} from delegate_tokens where account_id = $1 and id = ${id} and ${isValid(at)}`;

/** SQL with parameter names: true when the delegate of account $1 is enabled and the token is valid. */
export const mayLease = (delegateId: string, tokenId: string, at: string): string =>
  `(exists (${validToken(tokenId, at)})
    and exists (select from delegates where account_id = $1 and id = ${delegateId} and status = 'ENABLED'))`;

/** Whether the server made the token for its own local delegate of this name. */
export async function isTokenOfServer(db: Store, { accountId, tokenId }: TokenKey, name: string): Promise<boolean> {
  const rows = await db.query(
    `select 1 from delegate_tokens where account_id = $1 and id = $2 and created_by is null and name = $3`,
    [accountId, tokenId, name],
  );
  return rows.length > 0;
}

/**
 * Counts the delegates that the token registered and that are not deleted: all, and those that wait for approval. Holds
 * a lock until the transaction ends: of two concurrent hellos, the second counts what the first has saved.
 */
export async function countDelegatesOfToken(
  db: Store,
  { accountId, tokenId }: TokenKey,
): Promise<{ readonly all: number; readonly waiting: number }> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('railhead.delegates-of-token ' || $1::text, 0))`, [
    tokenId,
  ]);
  const rows = await db.query<{ all: number; waiting: number }>(
    `select count(*) as "all", count(*) filter (where status = 'WAITING_FOR_APPROVAL') as waiting from delegates
      where account_id = $1 and token_id = $2 and status <> 'DELETED'`,
    [accountId, tokenId],
  );
  return rows[0] ?? { all: 0, waiting: 0 };
}

/** Whether this delegate may lease tasks and get secrets with this token now. */
export async function isEntitled(
  db: Store,
  { accountId, delegateId, tokenId }: Holder & { readonly accountId: Uuid },
  now: number,
): Promise<boolean> {
  const rows = await db.query<{ may: boolean }>(`select ${mayLease("$2", "$3", "$4")} as may`, [
    accountId,
    delegateId,
    tokenId,
    now,
  ]);
  return rows[0]?.may ?? false;
}

export type DelegateState = Pick<Delegate, "id" | "tags"> & { readonly status: DelegateStatus };

/** Current tags and status of these delegates. */
export async function statesOf(db: Store, delegates: readonly DelegateKey[]): Promise<DelegateState[]> {
  return db.query<DelegateState>(
    `select d.id, d.tags, d.status from unnest($1::uuid[], $2::uuid[]) as asked (account_id, id)
       join delegates d on d.account_id = asked.account_id and d.id = asked.id`,
    [delegates.map(({ accountId }) => accountId), delegates.map(({ id }) => id)],
  );
}

/** Filters the tokens that are no longer valid. */
export async function endedTokens(db: Store, tokens: readonly TokenKey[], now: number): Promise<ReadonlySet<Uuid>> {
  const rows = await db.query<{ id: Uuid }>(
    `select asked.id from unnest($1::uuid[], $2::uuid[]) as asked (account_id, id)
      where not exists (
        select from delegate_tokens t where t.account_id = asked.account_id and t.id = asked.id and ${isValid("$3")})`,
    [tokens.map(({ accountId }) => accountId), tokens.map(({ tokenId }) => tokenId), now],
  );
  return new Set(rows.map(({ id }) => id));
}
