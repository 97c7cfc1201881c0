/** Usage scopes of secrets and of secret managers: a JSON column for reading, and rows in order. */
import type { Uuid } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { UsageScope } from "../scope/usage-scope.ts";

/** The usage scope of a row as a JSON column, null without entries. `bound` is the alias of the owning row. */
const scopeColumn = (table: string, bound: string): string =>
  `(select jsonb_agg(jsonb_build_object('applicationId', u.application_id, 'environmentId', u.environment_id,
                                        'environments', u.environments) order by u.nth)
      from ${table} u where u.account_id = ${bound}.account_id and u.${bound}_id = ${bound}.id) as "usageScope"`;

/** For `… from secrets secret`. */
export const SECRET_SCOPE = scopeColumn("secret_scopes", "secret");
/** For `… from secret_managers manager`. */
export const MANAGER_SCOPE = scopeColumn("secret_manager_scopes", "manager");

const columns = (scope: UsageScope): readonly unknown[] => [
  scope.map((entry) => entry.applicationId),
  scope.map((entry) => entry.environmentId),
  scope.map((entry) => entry.environments),
];

export async function insertSecretScope(
  tx: Tx,
  accountId: Uuid,
  { secretId, scope }: { readonly secretId: Uuid; readonly scope: UsageScope },
): Promise<void> {
  if (scope.length === 0) return;
  await tx.query(
    `insert into secret_scopes (account_id, secret_id, nth, application_id, environment_id, environments)
     select $1, $2, t.nth, t.application, t.environment, t.kind
       from unnest($3::uuid[], $4::uuid[], $5::text[]) with ordinality as t (application, environment, kind, nth)`,
    [accountId, secretId, ...columns(scope)],
  );
}

export async function deleteSecretScope(tx: Tx, accountId: Uuid, secretId: Uuid): Promise<void> {
  await tx.query(`delete from secret_scopes where account_id = $1 and secret_id = $2`, [accountId, secretId]);
}

export async function insertManagerScope(
  tx: Tx,
  accountId: Uuid,
  { managerId, scope }: { readonly managerId: Uuid; readonly scope: UsageScope },
): Promise<void> {
  await tx.query(
    `insert into secret_manager_scopes (account_id, manager_id, nth, application_id, environment_id, environments)
     select $1, $2, t.nth, t.application, t.environment, t.kind
       from unnest($3::uuid[], $4::uuid[], $5::text[]) with ordinality as t (application, environment, kind, nth)`,
    [accountId, managerId, ...columns(scope)],
  );
}

export async function deleteManagerScope(tx: Tx, accountId: Uuid, managerId: Uuid): Promise<void> {
  await tx.query(`delete from secret_manager_scopes where account_id = $1 and manager_id = $2`, [accountId, managerId]);
}
