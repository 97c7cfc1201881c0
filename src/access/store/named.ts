import type { Uuid } from "../../core/ids.ts";
import type { Referred } from "../../core/reference.ts";
import type { Query } from "../../platform/db/db.ts";

/** Tables of other slices whose rows references name: each has a place and an identifier there. */
export type Things = "connectors" | "environments" | "secrets" | "services";

/**
 * The ids of the things that the keys name, by their place in the list, counted from 0; by one statement, or by none. With `hold`
 * those that do stay until the transaction ends: others may name and change them meanwhile, only a deletion waits.
 */
export async function named(
  db: { readonly query: Query },
  things: Things,
  accountId: Uuid,
  keys: readonly Referred[],
  hold?: "hold",
): Promise<ReadonlyMap<number, Uuid>> {
  if (keys.length === 0) return new Map();
  const rows = await db.query<{ nth: number; id: Uuid }>(
    `select k.nth, thing.id from unnest($2::text[], $3::text[], $4::text[]) with ordinality as k (org, project, identifier, nth)
       join ${things} thing on thing.account_id = $1 and thing.identifier = k.identifier
        and thing.org_identifier is not distinct from k.org and thing.project_identifier is not distinct from k.project
      ${hold ? "for key share of thing" : ""}`,
    [accountId, ...columnsOf(keys)],
  );
  return new Map(rows.map(({ nth, id }) => [nth - 1, id]));
}

/** As `unnest` takes them: organizations, projects, identifiers. */
export const columnsOf = (keys: readonly Referred[]): readonly (readonly (string | null)[])[] => [
  keys.map((key) => key.orgIdentifier),
  keys.map((key) => key.projectIdentifier),
  keys.map((key) => key.identifier),
];
