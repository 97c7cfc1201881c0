import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

/** The pending deliveries of one trigger; `bytes` is the size of their bodies. */
export type PendingCount = { readonly triggerId: Uuid; readonly count: number; readonly bytes: number };

export const countPending = (db: Store, accountId: Uuid): Promise<readonly PendingCount[]> =>
  db.query<PendingCount>(
    `select trigger_id as "triggerId", count(*) as count, sum(octet_length(payload))::bigint as bytes
       from webhook_deliveries where account_id = $1 and processed_at is null group by trigger_id`,
    [accountId],
  );
