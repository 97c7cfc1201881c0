import type { Uuid } from "../core/ids.ts";
import type { Store } from "../platform/db/db.ts";

/** Ids of all accounts, the oldest first. */
export async function accountIds(db: Store): Promise<Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(`select id from accounts order by created_at, id`);
  return rows.map(({ id }) => id);
}

/** Rejects unless the database answers. */
export const ping = (db: Store): Promise<unknown> => db.query(`select 1`);
