import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";

export async function existingApplications(
  db: { readonly query: Query },
  accountId: Uuid,
  ids: readonly Uuid[],
): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(`select id from projects where account_id = $1 and id = any ($2::uuid[])`, [
    accountId,
    ids,
  ]);
  return rows.map(({ id }) => id);
}
