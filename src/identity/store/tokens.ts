import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { Token } from "../keys/token.ts";
import type { ListFilter } from "./keys.ts";

const COLUMNS = `t.id, t.identifier, t.name, t.description, t.tags, t.family_id as "familyId",
  t.replaced_by as "replacedBy", t.valid_from_at as "validFrom", t.valid_to_at as "validTo", t.scheduled_end_at as "scheduledEnd", t.created_at as "createdAt", t.updated_at as "updatedAt"`;

export type NewToken = Token & { readonly accountId: Uuid; readonly apiKeyId: Uuid; readonly secretHash: Buffer };

/** False if the key has a token with this identifier. */
export async function insertToken(db: Store, token: NewToken): Promise<boolean> {
  const rows = await db.query(
    `insert into tokens (account_id, id, api_key_id, identifier, name, description, tags, secret_hash, valid_from_at,
                         valid_to_at, scheduled_end_at, family_id, replaced_by, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
     on conflict (account_id, api_key_id, identifier) do nothing returning id`,
    [
      token.accountId,
      token.id,
      token.apiKeyId,
      token.identifier,
      token.name,
      token.description,
      JSON.stringify(token.tags),
      token.secretHash,
      token.validFrom,
      token.validTo,
      token.scheduledEnd,
      token.familyId,
      token.replacedBy,
      token.createdAt,
      token.updatedAt,
    ],
  );
  return rows.length > 0;
}

/** Updates all columns except the secret. */
export async function updateToken(db: Store, accountId: Uuid, token: Token): Promise<void> {
  await db.query(
    `update tokens set identifier = $3, name = $4, description = $5, tags = $6, valid_from_at = $7, valid_to_at = $8,
                       scheduled_end_at = $9, replaced_by = $10, updated_at = $11
      where account_id = $1 and id = $2`,
    [
      accountId,
      token.id,
      token.identifier,
      token.name,
      token.description,
      JSON.stringify(token.tags),
      token.validFrom,
      token.validTo,
      token.scheduledEnd,
      token.replacedBy,
      token.updatedAt,
    ],
  );
}

export async function findKeyToken(
  db: Store,
  accountId: Uuid,
  { apiKeyId, identifier }: { readonly apiKeyId: Uuid; readonly identifier: string },
): Promise<Token | undefined> {
  const rows = await db.query<Token>(
    `select ${COLUMNS} from tokens t where t.account_id = $1 and t.api_key_id = $2 and t.identifier = $3`,
    [accountId, apiKeyId, identifier],
  );
  return rows[0];
}

/** The current token of a family, which is a token and those that it has replaced. */
export async function findCurrentOfFamily(db: Store, accountId: Uuid, familyId: Uuid): Promise<Token | undefined> {
  const rows = await db.query<Token>(
    `select ${COLUMNS} from tokens t where t.account_id = $1 and t.family_id = $2 and t.replaced_by is null`,
    [accountId, familyId],
  );
  return rows[0];
}

export async function deleteToken(db: Store, accountId: Uuid, id: Uuid): Promise<void> {
  await db.query(`delete from tokens where account_id = $1 and id = $2`, [accountId, id]);
}

/** Deletes a token and all those that it has replaced. */
export async function deleteFamily(db: Store, accountId: Uuid, familyId: Uuid): Promise<void> {
  await db.query(`delete from tokens where account_id = $1 and family_id = $2`, [accountId, familyId]);
}

/** Deletes replaced tokens that ended before `until`. */
export async function deleteEndedTokens(
  db: Store,
  accountId: Uuid,
  { familyId, until }: { readonly familyId: Uuid; readonly until: number },
): Promise<void> {
  await db.query(
    `delete from tokens where account_id = $1 and family_id = $2 and replaced_by is not null and scheduled_end_at < $3`,
    [accountId, familyId, until],
  );
}

const MATCHING = `t.account_id = $1 and t.api_key_id = $2
   and ($3::text is null or strpos(lower(t.name), lower($3)) > 0 or strpos(lower(t.identifier), lower($3)) > 0)
   and ($4::text[] is null or t.identifier = any($4))`;
const filterValues = (accountId: Uuid, apiKeyId: Uuid, filter: ListFilter): unknown[] => [
  accountId,
  apiKeyId,
  filter.searchTerm ?? null,
  filter.identifiers ?? null,
];

type TokenQuery = { readonly apiKeyId: Uuid; readonly filter: ListFilter };

export async function listTokens(
  db: Store,
  accountId: Uuid,
  { apiKeyId, filter, window: { limit, offset, order } }: TokenQuery & { readonly window: Window },
): Promise<Token[]> {
  return db.query<Token>(
    `${statementPrefix(order)}select ${COLUMNS} from tokens t where ${MATCHING}
      order by ${orderBy(order, "identifier")} limit $5 offset $6`,
    [...filterValues(accountId, apiKeyId, filter), limit, offset],
  );
}

export async function countTokens(db: Store, accountId: Uuid, { apiKeyId, filter }: TokenQuery): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from tokens t where ${MATCHING}`,
    filterValues(accountId, apiKeyId, filter),
  );
  return rows[0]?.total ?? 0;
}
