/** Queries of authentication: one token per request, and all tokens with open streams. */
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { Period } from "../keys/token-period.ts";

export type CredentialRow = Period & {
  readonly secretHash: Buffer;
  readonly userId: Uuid | null;
  readonly serviceAccountId: Uuid | null;
  readonly identifier: string | null;
  readonly name: string;
  readonly email: string;
};

/**
 * The token of this id and this hash. The hash is part of the condition, so that an existing and an unknown id take the
 * same time: with a wrong secret neither reaches the joins nor returns a row (bench/benchmarks/credentials.ts).
 */
export async function findCredential(
  db: Store,
  accountId: Uuid,
  tokenId: Uuid,
  secretHash: Buffer,
): Promise<CredentialRow | undefined> {
  const rows = await db.query<CredentialRow>(
    `select t.secret_hash as "secretHash", t.valid_from_at as "validFrom", t.valid_to_at as "validTo",
            t.scheduled_end_at as "scheduledEnd", u.id as "userId", s.id as "serviceAccountId", s.identifier,
            coalesce(u.name, s.name) as name, coalesce(u.email, s.email) as email
       from tokens t
       join api_keys k on k.account_id = t.account_id and k.id = t.api_key_id
       left join users u on u.account_id = k.account_id and u.id = k.user_id
       left join service_accounts s on s.account_id = k.account_id and s.id = k.service_account_id
      where t.account_id = $1 and t.id = $2 and t.secret_hash = $3 and (k.user_id is null or u.active)`,
    [accountId, tokenId, secretHash],
  );
  return rows[0];
}

/** Those of the tokens that are valid at `now`. */
export async function selectValidTokens(
  db: Store,
  tokens: readonly { readonly accountId: Uuid; readonly id: Uuid }[],
  now: number,
): Promise<Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `select t.id from unnest($1::uuid[], $2::uuid[]) as w (account_id, id)
       join tokens t on t.account_id = w.account_id and t.id = w.id
       join api_keys k on k.account_id = t.account_id and k.id = t.api_key_id
       left join users u on u.account_id = k.account_id and u.id = k.user_id
      where (k.user_id is null or u.active) and t.valid_from_at <= $3 and (t.valid_to_at is null or t.valid_to_at >= $3)
        and (t.scheduled_end_at is null or t.scheduled_end_at >= $3)`,
    [tokens.map(({ accountId }) => accountId), tokens.map(({ id }) => id), now],
  );
  return rows.map(({ id }) => id);
}
