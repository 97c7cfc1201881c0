import type { Uuid } from "../core/ids.ts";
import type { Query } from "../platform/db/db.ts";

/** Ids of all accounts, the oldest first. */
export async function accountIds(db: { readonly query: Query }): Promise<Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(`select id from accounts order by created_at, id`);
  return rows.map(({ id }) => id);
}

/** Rejects unless the database answers. */
export const ping = (db: { readonly query: Query }): Promise<unknown> => db.query(`select 1`);
