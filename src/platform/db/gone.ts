import type { RemovedReference, Leaving } from "../removed-reference.ts";
import type { Query } from "./db.ts";

/** So many names of a type are told. */
const TOLD = 20;

/**
 * Runs a deletion (or, before one that cascades, a selection) whose rows have one column, `what`, and answers how many there
 * were and the first by name; nothing when there were none. However many they are, the server gets no more than that.
 */
export async function gone(
  db: { readonly query: Query },
  type: string,
  text: string,
  values: readonly unknown[],
): Promise<readonly RemovedReference[]> {
  const rows = await db.query<Omit<RemovedReference, "type">>(
    `with gone as (${text}) select count(*) as count, (array_agg(what::text order by what::text))[1:${TOLD}] as identifiers from gone`,
    [...values],
  );
  const { count = 0, identifiers = [] } = rows[0] ?? {};
  return count === 0 ? [] : [{ type, count, identifiers }];
}

/** Deletes the rows of a table that lie in the scope itself; `what` names each for the trail. */
export const goneAt = (
  db: { readonly query: Query },
  type: string,
  table: string,
  scope: Leaving,
  what = "identifier",
): Promise<readonly RemovedReference[]> =>
  gone(
    db,
    type,
    `delete from ${table} where account_id = $1 and org_identifier = $2 and project_identifier is not distinct from $3
     returning ${what} as what`,
    valuesAt(scope),
  );

/** For `$1`, `$2` and `$3` of a statement over what lies in the scope. */
export const valuesAt = ({ accountId, orgIdentifier, projectIdentifier }: Leaving): readonly unknown[] => [
  accountId,
  orgIdentifier,
  projectIdentifier,
];
