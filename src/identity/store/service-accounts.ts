import type { RemovedReference, DeletedScope } from "../../platform/removed-reference.ts";
import { summarizeRemoval, deleteFromScope, scopeValues } from "../../platform/db/removed-rows.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Place, Referred } from "../../core/reference.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { ListedServiceAccount, ServiceAccount } from "../service-accounts/service-account.ts";

const COLUMNS = `s.id, s.org_identifier as "orgIdentifier", s.project_identifier as "projectIdentifier", s.identifier, s.name,
  s.email, s.description, s.tags, s.created_at as "createdAt", s.updated_at as "updatedAt"`;

/** Serializes the creation of service accounts until the transaction ends, so that their count stays correct. */
export async function lockPlaces(db: Store, accountId: Uuid): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('railhead.service-accounts ' || $1::text, 0))`, [
    accountId,
  ]);
}

/** False if the identifier is taken in that scope. */
export async function insertServiceAccount(db: Store, accountId: Uuid, made: ServiceAccount): Promise<boolean> {
  const rows = await db.query(
    `insert into service_accounts (account_id, id, org_identifier, project_identifier, identifier, name, email,
                                   description, tags, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (account_id, org_identifier, project_identifier, identifier) do nothing returning id`,
    [
      accountId,
      made.id,
      made.orgIdentifier,
      made.projectIdentifier,
      made.identifier,
      made.name,
      made.email,
      made.description,
      JSON.stringify(made.tags),
      made.createdAt,
      made.updatedAt,
    ],
  );
  return rows.length > 0;
}

const AT = `s.account_id = $1 and s.identifier = $2
   and s.org_identifier is not distinct from $3 and s.project_identifier is not distinct from $4`;
const keyValues = (accountId: Uuid, key: Referred): unknown[] => [
  accountId,
  key.identifier,
  key.orgIdentifier,
  key.projectIdentifier,
];

/** Locks and returns the service account; undefined if it does not exist. */
export async function lockServiceAccount(
  db: Store,
  accountId: Uuid,
  key: Referred,
): Promise<ServiceAccount | undefined> {
  const rows = await db.query<ServiceAccount>(
    `select ${COLUMNS} from service_accounts s where ${AT} for update`,
    keyValues(accountId, key),
  );
  return rows[0];
}

export async function updateServiceAccount(db: Store, accountId: Uuid, account: ServiceAccount): Promise<void> {
  await db.query(
    `update service_accounts set name = $3, description = $4, tags = $5, updated_at = $6 where account_id = $1 and id = $2`,
    [accountId, account.id, account.name, account.description, JSON.stringify(account.tags), account.updatedAt],
  );
}

/** Deletes the service account with its keys and tokens. Returns the number of tokens. */
export async function deleteServiceAccount(db: Store, accountId: Uuid, id: Uuid): Promise<readonly RemovedReference[]> {
  const tokens = `select t.identifier as what from api_keys k
      join tokens t on t.account_id = k.account_id and t.api_key_id = k.id where k.account_id = $1 and k.service_account_id = $2`;
  const ended = await summarizeRemoval(db, { type: "TOKEN", text: tokens, values: [accountId, id] });
  await db.query(`delete from service_accounts where account_id = $1 and id = $2`, [accountId, id]);
  return ended;
}

/** The service account with its number of tokens; undefined if there is none. Checks no permission. */
export async function findServiceAccount(
  db: Store,
  accountId: Uuid,
  key: Referred,
): Promise<ListedServiceAccount | undefined> {
  const rows = await db.query<ListedServiceAccount>(
    `select ${COLUMNS}, ${TOKENS} from service_accounts s where ${AT}`,
    keyValues(accountId, key),
  );
  return rows[0];
}

/** The service accounts of all scopes with these ids, in any order. */
export const findServiceAccountsById = (db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<ServiceAccount[]> =>
  db.query<ServiceAccount>(
    `select ${COLUMNS} from service_accounts s where s.account_id = $1 and s.id = any ($2::uuid[])`,
    [accountId, ids],
  );

export type ServiceAccountFilter = Place & {
  readonly searchTerm?: string | undefined;
  readonly identifiers?: readonly string[] | undefined;
};

const TOKENS = `(select count(*) from tokens t join api_keys k on k.account_id = t.account_id and k.id = t.api_key_id
                  where k.account_id = s.account_id and k.service_account_id = s.id) as tokens`;
const MATCHING = `s.account_id = $1 and s.org_identifier is not distinct from $2 and s.project_identifier is not distinct from $3
   and ($4::text is null or strpos(lower(s.name), lower($4)) > 0 or strpos(lower(s.identifier), lower($4)) > 0)
   and ($5::text[] is null or s.identifier = any($5))`;
const filterValues = (accountId: Uuid, filter: ServiceAccountFilter): unknown[] => [
  accountId,
  filter.orgIdentifier,
  filter.projectIdentifier,
  filter.searchTerm ?? null,
  filter.identifiers ?? null,
];

export async function listServiceAccounts(
  db: Store,
  accountId: Uuid,
  { filter, window: { limit, offset, order } }: { readonly filter: ServiceAccountFilter; readonly window: Window },
): Promise<ListedServiceAccount[]> {
  return db.query<ListedServiceAccount>(
    `${statementPrefix(order)}select ${COLUMNS}, ${TOKENS} from service_accounts s where ${MATCHING}
      order by ${orderBy(order, "identifier")} limit $6 offset $7`,
    [...filterValues(accountId, filter), limit, offset],
  );
}

export async function countServiceAccounts(db: Store, accountId: Uuid, filter: ServiceAccountFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from service_accounts s where ${MATCHING}`,
    filterValues(accountId, filter),
  );
  return rows[0]?.total ?? 0;
}

/** Deletes the service accounts of a scope with their tokens. Returns what was deleted. */
export async function deleteServiceAccountsOf(db: Store, scope: DeletedScope): Promise<readonly RemovedReference[]> {
  const here = "s.account_id = $1 and s.org_identifier = $2 and s.project_identifier is not distinct from $3";
  const tokens = `select s.identifier || ': ' || t.identifier as what from service_accounts s
      join api_keys k on k.account_id = s.account_id and k.service_account_id = s.id
      join tokens t on t.account_id = k.account_id and t.api_key_id = k.id where ${here}`;
  const ended = await summarizeRemoval(db, { type: "TOKEN", text: tokens, values: scopeValues(scope) });
  return [...(await deleteFromScope(db, scope, { type: "SERVICE_ACCOUNT", table: "service_accounts" })), ...ended];
}
