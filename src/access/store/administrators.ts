import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import { ACCOUNT_ADMIN, ALL_BELOW } from "../builtin.ts";

/**
 * Locks until the transaction ends: of two administrators who remove each other at once, the second one waits and then
 * sees the change of the first one.
 */
export async function lockAdministrators(db: Store, accountId: Uuid): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('railhead.administrators ' || $1::text, 0))`, [
    accountId,
  ]);
}

/** The users who may do everything in the account; "everybody" if a built-in group may. */
export async function findAdministrators(db: Store, accountId: Uuid): Promise<"everybody" | readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid | null }>(
    `select distinct case when a.principal_type = 'USER' then a.principal_id else m.user_id end as id,
            a.principal_id is null as everybody
       from role_assignments a
       left join user_group_members m on m.account_id = a.account_id and m.group_id = a.principal_id
        and a.principal_type = 'USER_GROUP'
      where a.account_id = $1 and not a.disabled and a.org_identifier is null and a.principal_type in ('USER', 'USER_GROUP')
        and a.role_identifier = $2 and a.role_id is null
        and a.resource_group_identifier = $3 and a.resource_group_id is null
        and (a.principal_type = 'USER' or a.principal_id is null or m.user_id is not null)`,
    [accountId, ACCOUNT_ADMIN, ALL_BELOW],
  );
  return rows.some(({ id }) => id === null) ? "everybody" : rows.flatMap(({ id }) => id ?? []);
}
