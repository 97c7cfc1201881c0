import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";

type Store = { readonly query: Query };

/** `name` is how people call the trigger. */
export type SealedToken = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly name: string;
  readonly tokenSealed: Buffer;
};

/** After `after`, by id; without those that begin as `except` does. */
export async function listSealedTokens(
  db: Store,
  accountId: Uuid,
  except: Buffer | null,
  after: Uuid | null,
  limit: number,
): Promise<SealedToken[]> {
  return db.query<SealedToken>(
    `select t.account_id as "accountId", t.id, t.token_sealed as "tokenSealed",
            concat_ws('/', a.org_identifier, a.identifier, p.identifier, t.identifier) as name
       from triggers t
       join projects a on a.account_id = t.account_id and a.id = t.project_id
       join pipelines p on p.account_id = t.account_id and p.id = t.pipeline_id
      where t.account_id = $1 and ($2::bytea is null or substring(t.token_sealed from 1 for length($2)) <> $2)
        and ($3::uuid is null or t.id > $3)
      order by t.id limit $4`,
    [accountId, except, after, limit],
  );
}

/** False when it was changed meanwhile. */
export async function saveSealedToken(db: Store, token: SealedToken, sealed: Buffer): Promise<boolean> {
  const rows = await db.query(
    `update triggers set token_sealed = $4 where account_id = $1 and id = $2 and token_sealed = $3 returning id`,
    [token.accountId, token.id, token.tokenSealed, sealed],
  );
  return rows.length > 0;
}
