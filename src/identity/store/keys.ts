import type { RemovedReference } from "../../platform/removed-reference.ts";
import { summarizeRemoval } from "../../platform/db/removed-rows.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { ApiKey, ListedApiKey, Parent } from "../keys/api-key.ts";

const COLUMNS = `k.id, k.identifier, k.name, k.description, k.tags, k.default_expire_ms as "defaultTimeToExpireToken",
  k.created_at as "createdAt", k.updated_at as "updatedAt"`;
const TOKENS = `(select count(*) from tokens t where t.account_id = k.account_id and t.api_key_id = k.id) as tokens`;

/**
 * Locks the service account that owns the keys, until the transaction ends. False if it does not exist. True for a
 * user.
 */
export async function lockParent(db: Store, accountId: Uuid, { type, id }: Parent): Promise<boolean> {
  const rows = await db.query(
    type === "USER"
      ? `select 1 from users where account_id = $1 and id = $2 for update`
      : `select 1 from service_accounts where account_id = $1 and id = $2 for update`,
    [accountId, id],
  );
  return rows.length > 0;
}

/** False if the owner has a key with this identifier. */
export async function insertApiKey(
  db: Store,
  accountId: Uuid,
  { parent, key }: { readonly parent: ParentId; readonly key: ApiKey },
): Promise<boolean> {
  const rows = await db.query(
    `insert into api_keys (account_id, id, user_id, service_account_id, identifier, name, description, tags,
                           default_expire_ms, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (account_id, parent_id, identifier) do nothing returning id`,
    [
      accountId,
      key.id,
      parent.type === "USER" ? parent.id : null,
      parent.type === "USER" ? null : parent.id,
      key.identifier,
      key.name,
      key.description,
      JSON.stringify(key.tags),
      key.defaultTimeToExpireToken,
      key.createdAt,
      key.updatedAt,
    ],
  );
  return rows.length > 0;
}

export type ParentId = Pick<Parent, "type" | "id">;

export async function updateApiKey(db: Store, accountId: Uuid, key: ApiKey): Promise<void> {
  await db.query(
    `update api_keys set name = $3, description = $4, tags = $5, default_expire_ms = $6, updated_at = $7
      where account_id = $1 and id = $2`,
    [
      accountId,
      key.id,
      key.name,
      key.description,
      JSON.stringify(key.tags),
      key.defaultTimeToExpireToken,
      key.updatedAt,
    ],
  );
}

/** Deletes the key with its tokens. */
export async function deleteApiKey(db: Store, accountId: Uuid, id: Uuid): Promise<void> {
  await db.query(`delete from api_keys where account_id = $1 and id = $2`, [accountId, id]);
}

type KeyOfParent = { readonly parentId: Uuid; readonly identifier: string };

/** Locks and returns the key, so that adding and deleting its tokens are serialized. */
export async function lockApiKey(
  db: Store,
  accountId: Uuid,
  { parentId, identifier }: KeyOfParent,
): Promise<ApiKey | undefined> {
  const rows = await db.query<ApiKey>(
    `select ${COLUMNS} from api_keys k where k.account_id = $1 and k.parent_id = $2 and k.identifier = $3 for update`,
    [accountId, parentId, identifier],
  );
  return rows[0];
}

export async function findApiKey(
  db: Store,
  accountId: Uuid,
  { parentId, identifier }: KeyOfParent,
): Promise<ListedApiKey | undefined> {
  const rows = await db.query<ListedApiKey>(
    `select ${COLUMNS}, ${TOKENS} from api_keys k where k.account_id = $1 and k.parent_id = $2 and k.identifier = $3`,
    [accountId, parentId, identifier],
  );
  return rows[0];
}

export type ListFilter = {
  readonly searchTerm?: string | undefined;
  readonly identifiers?: readonly string[] | undefined;
};

const MATCHING = `k.account_id = $1 and k.parent_id = $2
   and ($3::text is null or strpos(lower(k.name), lower($3)) > 0 or strpos(lower(k.identifier), lower($3)) > 0)
   and ($4::text[] is null or k.identifier = any($4))`;
const filterValues = (accountId: Uuid, parentId: Uuid, filter: ListFilter): unknown[] => [
  accountId,
  parentId,
  filter.searchTerm ?? null,
  filter.identifiers ?? null,
];

type KeyQuery = { readonly parentId: Uuid; readonly filter: ListFilter };

export async function listApiKeys(
  db: Store,
  accountId: Uuid,
  { parentId, filter, window: { limit, offset, order } }: KeyQuery & { readonly window: Window },
): Promise<ListedApiKey[]> {
  return db.query<ListedApiKey>(
    `${statementPrefix(order)}select ${COLUMNS}, ${TOKENS} from api_keys k where ${MATCHING}
      order by ${orderBy(order, "identifier")} limit $5 offset $6`,
    [...filterValues(accountId, parentId, filter), limit, offset],
  );
}

export async function countApiKeys(db: Store, accountId: Uuid, { parentId, filter }: KeyQuery): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from api_keys k where ${MATCHING}`,
    filterValues(accountId, parentId, filter),
  );
  return rows[0]?.total ?? 0;
}

/** Deletes all keys of a user with their tokens. Returns what was deleted. */
export async function deleteKeysOf(db: Store, accountId: Uuid, userId: Uuid): Promise<readonly RemovedReference[]> {
  const tokens = `select t.identifier as what from api_keys k
      join tokens t on t.account_id = k.account_id and t.api_key_id = k.id where k.account_id = $1 and k.user_id = $2`;
  const ended = await summarizeRemoval(db, { type: "TOKEN", text: tokens, values: [accountId, userId] });
  const keys = "delete from api_keys where account_id = $1 and user_id = $2 returning identifier as what";
  return [...(await summarizeRemoval(db, { type: "API_KEY", text: keys, values: [accountId, userId] })), ...ended];
}
