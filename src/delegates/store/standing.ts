/** Whether a token still lets delegates in: asked by whatever registers one, gives it a task, or opens a secret for it. */
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";

type Store = { readonly query: Query };

export type TokenKey = { readonly accountId: Uuid; readonly tokenId: Uuid };

/** In SQL: counts at this moment, whether or not somebody has seen yet that its time is up. A deleted one was revoked before. */
const counts = (at: string): string => `revoked_at is null and (revoke_after is null or revoke_after > ${at})`;

/** In SQL, by the names of parameters: the token of account $1, if it counts. */
export const countingToken = (id: string, at: string): string =>
  `select id from delegate_tokens where account_id = $1 and id = ${id} and ${counts(at)}`;

export async function tokenCounts(db: Store, { accountId, tokenId }: TokenKey, now: number): Promise<boolean> {
  return (await db.query(countingToken("$2", "$3"), [accountId, tokenId, now])).length > 0;
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
