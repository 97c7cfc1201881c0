import type { UserOfThing } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { ConnectorKey, ConnectorUser } from "../connector.ts";
import type { Store } from "./connectors.ts";

/** From now on the user names exactly these connectors. */
export async function replaceUses(
  db: Store,
  accountId: Uuid,
  user: ConnectorUser,
  keys: readonly ConnectorKey[],
): Promise<void> {
  await db.query(`delete from connector_uses where account_id = $1 and user_type = $2 and user_id = $3`, [
    accountId,
    user.type,
    user.id,
  ]);
  if (keys.length === 0) return;
  await db.query(
    `insert into connector_uses (account_id, user_type, user_id, user_org_identifier, user_project_identifier,
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

/** Who names the connector. */
export async function usersOf(db: Store, accountId: Uuid, key: ConnectorKey): Promise<readonly UserOfThing[]> {
  return db.query<UserOfThing>(
    `select user_type as type, user_org_identifier as "orgIdentifier", user_project_identifier as "projectIdentifier",
            user_identifier as identifier
       from connector_uses
      where account_id = $1 and identifier = $2 and org_identifier is not distinct from $3
        and project_identifier is not distinct from $4
      order by user_type, user_id`,
    [accountId, key.identifier, key.orgIdentifier, key.projectIdentifier],
  );
}
