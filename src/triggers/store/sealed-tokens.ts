import type { Uuid } from "../../core/ids.ts";
import { keyIdIn } from "../../platform/crypto/seal.ts";
import { MAX_NAMES, type UnderKey } from "../../platform/crypto/sealed-store.ts";
import type { Store } from "../../platform/db/db.ts";
import { FROM } from "./triggers.ts";

/** `name` is the path of the trigger, for messages to operators. */
export type SealedToken = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly name: string;
  readonly tokenSealed: Buffer;
};

const NAME = `concat_ws('/', a.org_identifier, a.identifier, p.identifier, t.identifier) as name`;

/**
 * Counts the tokens under other root keys, by key. Tokens that an old version sealed without a key id are not counted.
 */
export const countTokensUnderOthers = (
  db: Store,
  accountId: Uuid,
  keyIds: readonly string[],
): Promise<readonly UnderKey[]> =>
  db.query<UnderKey>(
    `with sealed as (select t.id, ${keyIdIn("t.token_sealed")} as key_id, ${NAME} ${FROM}
                     where t.account_id = $1 and t.deleted_at is null)
     select key_id as "keyId", count(*) as count, (array_agg(name order by id))[1:${MAX_NAMES}] as names
       from sealed where key_id <> all ($2::text[]) group by 1 order by 1`,
    [accountId, keyIds],
  );

/** Tokens after `after`, without those that begin with `except`. */
export type SealedTokenFilter = {
  readonly accountId: Uuid;
  readonly except: Buffer | null;
  readonly after: Uuid | null;
};

/** Lists tokens in the order of their ids. */
export async function listSealedTokens(
  db: Store,
  { accountId, except, after }: SealedTokenFilter,
  limit: number,
): Promise<SealedToken[]> {
  return db.query<SealedToken>(
    `select t.account_id as "accountId", t.id, t.token_sealed as "tokenSealed",
            ${NAME}
       ${FROM}
      where t.account_id = $1 and t.deleted_at is null
        and ($2::bytea is null or substring(t.token_sealed from 1 for length($2)) <> $2)
        and ($3::uuid is null or t.id > $3)
      order by t.id limit $4`,
    [accountId, except, after, limit],
  );
}

/** Returns false if the token was changed meanwhile. */
export async function saveSealedToken(db: Store, token: SealedToken, sealed: Buffer): Promise<boolean> {
  const rows = await db.query(
    `update triggers set token_sealed = $4 where account_id = $1 and id = $2 and token_sealed = $3 returning id`,
    [token.accountId, token.id, token.tokenSealed, sealed],
  );
  return rows.length > 0;
}
