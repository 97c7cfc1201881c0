import type { Gone } from "../gone.ts";
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
): Promise<readonly Gone[]> {
  const rows = await db.query<Omit<Gone, "type">>(
    `with gone as (${text}) select count(*) as count, (array_agg(what::text order by what::text))[1:${TOLD}] as identifiers from gone`,
    [...values],
  );
  const { count = 0, identifiers = [] } = rows[0] ?? {};
  return count === 0 ? [] : [{ type, count, identifiers }];
}
