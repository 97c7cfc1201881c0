import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";

type Store = { readonly query: Query };

export async function organizationExists(db: Store, accountId: Uuid, identifier: string): Promise<boolean> {
  const rows = await db.query(`select 1 from organizations where account_id = $1 and identifier = $2`, [
    accountId,
    identifier,
  ]);
  return rows.length > 0;
}

export async function insertOrganization(
  db: Store,
  accountId: Uuid,
  org: { id: Uuid; identifier: string; name: string; at: number },
): Promise<void> {
  await db.query(
    `insert into organizations (account_id, id, identifier, name, description, tags, version, created_at, updated_at)
     values ($1, $2, $3, $4, '', '{}', 1, $5, $5)`,
    [accountId, org.id, org.identifier, org.name, org.at],
  );
}
