import type { RemovedReference, Leaving } from "../removed-reference.ts";
import type { Store } from "./db.ts";

/** Most names that the result lists for each type. */
const TOLD = 20;

/**
 * Runs a deletion (or a selection before a cascading one) whose rows have one column, `what`. Returns the number of
 * rows and the first names; an empty list without rows. The database limits the names, so the server never reads all
 * of them.
 */
export async function gone(
  db: Store,
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

/** Deletes the rows of a table that are directly in the scope; `what` names each for the audit trail. */
export const goneAt = (
  db: Store,
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

/** Parameters `$1`, `$2` and `$3` of a statement over a scope. */
export const valuesAt = ({ accountId, orgIdentifier, projectIdentifier }: Leaving): readonly unknown[] => [
  accountId,
  orgIdentifier,
  projectIdentifier,
];
