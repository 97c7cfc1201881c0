import { columnsOf } from "../../access/index.ts";
import type { RemovedReference, DeletedScope } from "../../platform/removed-reference.ts";
import { deleteFromScope } from "../../platform/db/removed-rows.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { RequestedType, Secret, SecretFilter, SecretKey } from "../secret.ts";
import { SECRET_SCOPE } from "./scopes.ts";

const SECRET = `secret.id, secret.org_identifier as "orgIdentifier", secret.project_identifier as "projectIdentifier",
  secret.identifier, secret.name, secret.description, secret.tags, secret.type, secret.ssh,
  secret.manager_id as "managerId",
  secret.inherits_scope as "inheritsScope", secret.scoped_to_account as "scopedToAccount", secret.version,
  (select m.identifier from secret_managers m
    where m.account_id = secret.account_id and m.id = secret.manager_id) as "managerIdentifier",
  secret.created_at as "createdAt", secret.updated_at as "updatedAt", ${SECRET_SCOPE}`;

/** Returns false if identifier or name is taken. `insertSecretScope` inserts the scope. */
export async function insertSecret(tx: Tx, accountId: Uuid, secret: Secret): Promise<boolean> {
  const rows = await tx.query(
    `insert into secrets (account_id, id, org_identifier, project_identifier, identifier, name, description, tags, type,
                          manager_id, inherits_scope, scoped_to_account, version, created_at, updated_at, ssh)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $15)
     on conflict do nothing returning id`,
    [
      accountId,
      secret.id,
      secret.orgIdentifier,
      secret.projectIdentifier,
      secret.identifier,
      secret.name,
      secret.description,
      JSON.stringify(secret.tags),
      secret.type,
      secret.managerId,
      secret.inheritsScope,
      secret.scopedToAccount,
      secret.version,
      secret.createdAt,
      secret.ssh && JSON.stringify(secret.ssh),
    ],
  );
  return rows.length > 0;
}

export async function findSecretById(db: Store, accountId: Uuid, id: Uuid): Promise<Secret | undefined> {
  const rows = await db.query<Secret>(
    `select ${SECRET} from secrets secret where secret.account_id = $1 and secret.id = $2`,
    [accountId, id],
  );
  return rows[0];
}

export async function findSecret(db: Store, accountId: Uuid, key: SecretKey): Promise<Secret | undefined> {
  const rows = await db.query<Secret>(
    `select ${SECRET} from secrets secret
      where secret.account_id = $1 and secret.identifier = $2
        and secret.org_identifier is not distinct from $3 and secret.project_identifier is not distinct from $4`,
    [accountId, key.identifier, key.orgIdentifier, key.projectIdentifier],
  );
  return rows[0];
}

export type FoundSecret = SecretKey & Pick<Secret, "id" | "type" | "ssh">;

/** Returns the secret of each key, in the order of the keys; undefined if none exists. Runs at most one statement. */
export async function findSecretsByKeys(
  db: Store,
  accountId: Uuid,
  keys: readonly SecretKey[],
): Promise<readonly (FoundSecret | undefined)[]> {
  if (keys.length === 0) return [];
  const rows = await db.query<FoundSecret & { nth: number }>(
    `select k.nth, secret.id, secret.type, secret.ssh, secret.identifier, secret.org_identifier as "orgIdentifier",
            secret.project_identifier as "projectIdentifier"
       from unnest($2::text[], $3::text[], $4::text[]) with ordinality as k (org, project, identifier, nth)
       join secrets secret on secret.account_id = $1 and secret.identifier = k.identifier
        and secret.org_identifier is not distinct from k.org and secret.project_identifier is not distinct from k.project`,
    [accountId, ...columnsOf(keys)],
  );
  const found = new Map(rows.map(({ nth, ...secret }) => [nth - 1, secret]));
  return keys.map((_, nth) => found.get(nth));
}

/**
 * Finds a secret of the account scope, where a name is unique for each type. Without a type, a text precedes a file,
 * and a file precedes a credential.
 */
export async function findSecretByName(
  db: Store,
  accountId: Uuid,
  { name, type }: { readonly name: string; readonly type: RequestedType | null },
): Promise<Secret | undefined> {
  const rows = await db.query<Secret>(
    `select ${SECRET} from secrets secret
      where secret.account_id = $1 and secret.name = $2 and ($3::text is null or secret.type = $3)
        and secret.org_identifier is null
      order by array_position(array['ENCRYPTED_TEXT', 'ENCRYPTED_FILE', 'SSH_CREDENTIAL'], secret.type) limit 1`,
    [accountId, name, type],
  );
  return rows[0];
}

export async function lockSecret(tx: Tx, accountId: Uuid, id: Uuid): Promise<Secret | undefined> {
  const rows = await tx.query<Secret>(
    `select ${SECRET} from secrets secret where secret.account_id = $1 and secret.id = $2 for update of secret`,
    [accountId, id],
  );
  return rows[0];
}

/** Whether `updateSecretRow` failed because the account has another secret of that name and type. */
export const isNameConflict = (error: unknown): boolean =>
  error instanceof Error && "constraint" in error && error.constraint === "secrets_by_name";

/** Returns the new version; undefined if the secret is deleted or has another version than `expected`. */
export async function updateSecretRow(
  tx: Tx,
  accountId: Uuid,
  { secret, expected }: { readonly secret: Secret; readonly expected: number | undefined },
): Promise<number | undefined> {
  const rows = await tx.query<{ version: number }>(
    `update secrets set name = $3, description = $4, tags = $5, inherits_scope = $6, scoped_to_account = $7,
            version = version + 1, updated_at = $8, ssh = $10
      where account_id = $1 and id = $2 and ($9::int is null or version = $9) returning version`,
    [
      accountId,
      secret.id,
      secret.name,
      secret.description,
      JSON.stringify(secret.tags),
      secret.inheritsScope,
      secret.scopedToAccount,
      secret.updatedAt,
      expected ?? null,
      secret.ssh && JSON.stringify(secret.ssh),
    ],
  );
  return rows[0]?.version;
}

/** Deletes secret, content and scope. Returns false if it is deleted already or has another version than `expected`. */
export async function deleteSecretRow(
  tx: Tx,
  accountId: Uuid,
  { id, expected }: { readonly id: Uuid; readonly expected: number | undefined },
): Promise<boolean> {
  const rows = await tx.query(
    `delete from secrets where account_id = $1 and id = $2 and ($3::int is null or version = $3) returning id`,
    [accountId, id, expected ?? null],
  );
  return rows.length > 0;
}

/** Whether another secret of the account scope has this name and type. */
export async function isNameTaken(
  tx: Tx,
  accountId: Uuid,
  { id, name, type }: Pick<Secret, "id" | "name" | "type">,
): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from secrets where account_id = $1 and name = $2 and type = $3 and org_identifier is null and id <> $4`,
    [accountId, name, type, id],
  );
  return rows.length > 0;
}

const FILTERED = `secret.account_id = $1 and secret.org_identifier is not distinct from $2
  and secret.project_identifier is not distinct from $3 and ($4::text[] is null or secret.type = any ($4))
  and ($5 = '' or secret.name ilike $5 or secret.identifier ilike $5)
  and ($6::text[] is null or secret.identifier = any ($6))
  and ($7::text is null or secret.name = $7)
  and ($8::text[] is null or exists (select 1 from secret_managers m
        where m.account_id = secret.account_id and m.id = secret.manager_id and m.identifier = any ($8)))
  and ($9::text is null or secret.description ilike $9)
  and ($10::jsonb is null or secret.tags @> $10)`;

const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;

const filterValues = (accountId: Uuid, filter: SecretFilter): readonly unknown[] => [
  accountId,
  filter.orgIdentifier,
  filter.projectIdentifier,
  filter.types,
  filter.search === "" ? "" : containing(filter.search),
  filter.identifiers,
  filter.name,
  filter.managers,
  filter.description === null ? null : containing(filter.description),
  filter.tags && JSON.stringify(filter.tags),
];

export async function selectSecrets(
  db: Store,
  accountId: Uuid,
  { filter, window: { limit, offset, order } }: { readonly filter: SecretFilter; readonly window: Window },
): Promise<Secret[]> {
  return db.query<Secret>(
    `${statementPrefix(order)}select ${SECRET} from secrets secret where ${FILTERED}
      order by ${orderBy(order, "identifier")} limit $11 offset $12`,
    [...filterValues(accountId, filter), limit, offset],
  );
}

export async function countSecrets(db: Store, accountId: Uuid, filter: SecretFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from secrets secret where ${FILTERED}`,
    filterValues(accountId, filter),
  );
  return rows[0]?.total ?? 0;
}

/** Deletes the secrets of a deleted scope, with contents and usage scopes. */
export const deleteSecretsOf = (db: Store, scope: DeletedScope): Promise<readonly RemovedReference[]> =>
  deleteFromScope(db, scope, { type: "SECRET", table: "secrets" });
