import type { Uuid } from "../core/ids.ts";
import type { Query } from "../platform/db/db.ts";
import type { Connector } from "./connector.ts";

type Store = { readonly query: Query };

/** False when the identifier is taken in that scope. */
export async function insertConnector(db: Store, accountId: Uuid, connector: Connector): Promise<boolean> {
  const rows = await db.query(
    `insert into connectors (account_id, id, org_identifier, project_identifier, identifier, name, description, tags,
                             type, spec, version, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     on conflict (account_id, org_identifier, project_identifier, identifier) do nothing
     returning id`,
    [
      accountId,
      connector.id,
      connector.orgIdentifier,
      connector.projectIdentifier,
      connector.identifier,
      connector.name,
      connector.description,
      JSON.stringify(connector.tags),
      connector.type,
      JSON.stringify(connector.spec),
      connector.version,
      connector.createdAt,
      connector.updatedAt,
    ],
  );
  return rows.length > 0;
}

export type ConnectorKey = {
  readonly orgIdentifier: string | null;
  readonly projectIdentifier: string | null;
  readonly identifier: string;
};

export async function findConnector(db: Store, accountId: Uuid, key: ConnectorKey): Promise<Connector | undefined> {
  const rows = await db.query<Connector>(
    `select id, org_identifier as "orgIdentifier", project_identifier as "projectIdentifier", identifier, name, description,
            tags, type, spec, version, created_at as "createdAt", updated_at as "updatedAt"
       from connectors
      where account_id = $1 and identifier = $2
        and org_identifier is not distinct from $3 and project_identifier is not distinct from $4`,
    [accountId, key.identifier, key.orgIdentifier, key.projectIdentifier],
  );
  return rows[0];
}

/** Which of the keys name a connector, by their place in the list, counted from 1. */
export async function existing(db: Store, accountId: Uuid, keys: readonly ConnectorKey[]): Promise<number[]> {
  const rows = await db.query<{ nth: number }>(
    `select k.nth from unnest($2::text[], $3::text[], $4::text[]) with ordinality as k (org, project, identifier, nth)
      where exists (select 1 from connectors c
                     where c.account_id = $1 and c.identifier = k.identifier
                       and c.org_identifier is not distinct from k.org
                       and c.project_identifier is not distinct from k.project)`,
    [
      accountId,
      keys.map((key) => key.orgIdentifier),
      keys.map((key) => key.projectIdentifier),
      keys.map((key) => key.identifier),
    ],
  );
  return rows.map(({ nth }) => nth);
}
