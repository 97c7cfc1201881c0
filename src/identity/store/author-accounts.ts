import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

export type AccountRow = {
  readonly kind: "user" | "service_account";
  readonly id: Uuid;
  readonly name: string;
  readonly email: string;
  /** Null for a user. */
  readonly identifier: string | null;
  readonly state: "active" | "deactivated" | "deleted";
};

/** The users and service accounts with these ids. A deleted service account has no row. */
export const findAuthorAccounts = (db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<AccountRow[]> =>
  db.query<AccountRow>(
    `select 'user' as kind, u.id, u.name, u.email, null as identifier,
            case when u.deleted_at is not null then 'deleted' when u.active then 'active' else 'deactivated' end as state
       from users u where u.account_id = $1 and u.id = any ($2::uuid[])
      union all
     select 'service_account', s.id, s.name, s.email, s.identifier, 'active'
       from service_accounts s where s.account_id = $1 and s.id = any ($2::uuid[])`,
    [accountId, ids],
  );
