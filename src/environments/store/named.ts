import type { Uuid } from "../../core/ids.ts";
import type { Referred } from "../../core/reference.ts";
import type { QueryTuples } from "../../platform/db/db.ts";
import type { Environment, Kind, Service } from "../entity.ts";

type Row = [
  nth: number,
  id: Uuid,
  identifier: string,
  name: string,
  description: string,
  tags: Service["tags"],
  type: Environment["type"] | null,
];

type NamedKeys = { readonly kind: Kind; readonly keys: readonly Referred[] };

/**
 * The referenced rows with their index in the list of keys, from 0. Runs at most one statement. Searches of one turn of
 * the event loop share a connection.
 */
export async function findNamedEntities(
  db: { readonly tuples: QueryTuples },
  accountId: Uuid,
  { kind, keys }: NamedKeys,
) {
  if (keys.length === 0) return [];
  const rows = await db.tuples<Row>(
    `select k.nth, e.id, e.identifier, e.name, e.description, e.tags, ${kind.own.includes("type") ? "e.type" : "null"}
       from unnest($2::text[], $3::text[], $4::text[]) with ordinality as k (org, project, identifier, nth)
       join ${kind.table} e on e.account_id = $1 and e.identifier = k.identifier
        and e.org_identifier is not distinct from k.org and e.project_identifier is not distinct from k.project`,
    [
      accountId,
      keys.map((key) => key.orgIdentifier),
      keys.map((key) => key.projectIdentifier),
      keys.map((key) => key.identifier),
    ],
  );
  return rows.map(([nth, id, identifier, name, description, tags, type]) => ({
    nth: nth - 1,
    id,
    target: { identifier, name, description, tags, ...(type !== null && { type }) },
  }));
}
