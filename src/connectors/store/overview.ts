import type { Uuid } from "../../core/ids.ts";
import type { Connector, ConnectorKey } from "../connector.ts";
import type { Store } from "../../platform/db/db.ts";
import { CONNECTOR, type ShownPlace } from "./connectors.ts";

export type ConnectorCounts = {
  readonly typeStats: readonly { readonly type: string; readonly count: number }[];
  readonly statusStats: readonly { readonly status: string; readonly count: number }[];
};

/** Counts the connectors of one scope. One statement makes both totals equal. */
export async function countByTypeAndStatus(
  db: Store,
  accountId: Uuid,
  { orgIdentifier, projectIdentifier, shown }: ShownPlace,
): Promise<ConnectorCounts> {
  const rows = await db.query<{ type: string | null; status: string | null; count: number }>(
    `select type, coalesce(status ->> 'status', 'UNKNOWN') as status, count(*) as count from connectors
      where account_id = $1 and org_identifier is not distinct from $2 and project_identifier is not distinct from $3
        and ($4::text[] is null or identifier = any($4))
      group by grouping sets ((type), (coalesce(status ->> 'status', 'UNKNOWN')))
      order by 1, 2`,
    [accountId, orgIdentifier, projectIdentifier, shown],
  );
  return {
    typeStats: rows.flatMap(({ type, count }) => (type === null ? [] : [{ type, count }])),
    statusStats: rows.flatMap(({ type, status, count }) =>
      type === null && status !== null ? [{ status, count }] : [],
    ),
  };
}

/** Returns the existing connectors in the order of the keys. */
export async function findConnectors(
  db: Store,
  accountId: Uuid,
  keys: readonly ConnectorKey[],
): Promise<readonly Connector[]> {
  return db.query<Connector>(
    `select ${CONNECTOR} from connectors
       join unnest($2::text[], $3::text[], $4::text[]) with ordinality as k (in_org, in_project, named, nth)
         on identifier = k.named and org_identifier is not distinct from k.in_org
        and project_identifier is not distinct from k.in_project
      where account_id = $1 order by k.nth`,
    [
      accountId,
      keys.map(({ orgIdentifier }) => orgIdentifier),
      keys.map(({ projectIdentifier }) => projectIdentifier),
      keys.map(({ identifier }) => identifier),
    ],
  );
}
