/** Who names which secret. */
import type { UserOfThing } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { SecretKey, SecretUser } from "../secret.ts";

/** From now on the user names exactly these secrets. */
export async function replaceSecretUses(
  tx: Tx,
  accountId: Uuid,
  user: SecretUser,
  keys: readonly SecretKey[],
): Promise<void> {
  await tx.query(`delete from secret_uses where account_id = $1 and user_type = $2 and user_id = $3`, [
    accountId,
    user.type,
    user.id,
  ]);
  if (keys.length === 0) return;
  await tx.query(
    `insert into secret_uses (account_id, user_type, user_id, user_org_identifier, user_project_identifier,
                              user_identifier, org_identifier, project_identifier, identifier)
     select distinct $1::uuid, $2, $3::uuid, $4, $5, $6, org, project, identifier
       from unnest($7::text[], $8::text[], $9::text[]) as k (org, project, identifier)`,
    [
      accountId,
      user.type,
      user.id,
      user.orgIdentifier,
      user.projectIdentifier,
      user.identifier,
      keys.map((key) => key.orgIdentifier),
      keys.map((key) => key.projectIdentifier),
      keys.map((key) => key.identifier),
    ],
  );
}

/** Keeps a secret from going until the transaction ends. False when there is none. */
export async function holdSecret(tx: Tx, accountId: Uuid, key: SecretKey): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from secrets where account_id = $1 and identifier = $2 and org_identifier is not distinct from $3
        and project_identifier is not distinct from $4 for key share`,
    [accountId, key.identifier, key.orgIdentifier, key.projectIdentifier],
  );
  return rows.length > 0;
}

/** Who names the secret. */
export async function usersOfSecret(tx: Tx, accountId: Uuid, key: SecretKey): Promise<readonly UserOfThing[]> {
  return tx.query<UserOfThing>(
    `select user_type as type, user_org_identifier as "orgIdentifier", user_project_identifier as "projectIdentifier",
            user_identifier as identifier
       from secret_uses
      where account_id = $1 and identifier = $2 and org_identifier is not distinct from $3
        and project_identifier is not distinct from $4
      order by user_type, user_id`,
    [accountId, key.identifier, key.orgIdentifier, key.projectIdentifier],
  );
}

/** What is noted of users that lie in a project, or in an organization itself. */
export async function deleteSecretUsesOf(
  tx: Tx,
  accountId: Uuid,
  orgIdentifier: string,
  projectIdentifier: string | null,
): Promise<void> {
  await tx.query(
    `delete from secret_uses
      where account_id = $1 and user_org_identifier = $2 and user_project_identifier is not distinct from $3`,
    [accountId, orgIdentifier, projectIdentifier],
  );
}
