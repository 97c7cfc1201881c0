import type { DeletedScope, RemovedReference } from "../removed-reference.ts";
import type { Store } from "./db.ts";

/** Most names that the result lists for each type. */
const MAX_NAMES = 20;

type Removal = {
  /** The type of the removed resources in the audit trail. */
  readonly type: string;
  /** A deletion, or a selection before a cascading one; its rows have one column, `what`. */
  readonly text: string;
  readonly values: readonly unknown[];
};

/**
 * Runs the statement of a removal. Returns the number of its rows and the first names; an empty list without rows. The
 * database limits the names, so the server never reads all of them.
 */
export async function summarizeRemoval(
  db: Store,
  { type, text, values }: Removal,
): Promise<readonly RemovedReference[]> {
  const rows = await db.query<Omit<RemovedReference, "type">>(
    `with gone as (${text}) select count(*) as count, (array_agg(what::text order by what::text))[1:${MAX_NAMES}] as identifiers from gone`,
    [...values],
  );
  const { count = 0, identifiers = [] } = rows[0] ?? {};
  return count === 0 ? [] : [{ type, count, identifiers }];
}

type RowsOfScope = {
  readonly type: string;
  readonly table: string;
  /** The expression that names a row in the audit trail; its identifier by default. */
  readonly name?: string;
};

/** Deletes the rows of a table that are directly in the scope. */
export const deleteFromScope = (
  db: Store,
  scope: DeletedScope,
  { type, table, name = "identifier" }: RowsOfScope,
): Promise<readonly RemovedReference[]> =>
  summarizeRemoval(db, {
    type,
    text: `delete from ${table} where account_id = $1 and org_identifier = $2 and project_identifier is not distinct from $3
     returning ${name} as what`,
    values: scopeValues(scope),
  });

/** Parameters `$1`, `$2` and `$3` of a statement over a scope. */
export const scopeValues = ({ accountId, orgIdentifier, projectIdentifier }: DeletedScope): readonly unknown[] => [
  accountId,
  orgIdentifier,
  projectIdentifier,
];
