/** Delegates that lease tasks, and the tasks of silent ones. */
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

/** A delegate that leases tasks. `seenAt` changes whenever a server hears from it. */
export type TaskHolder = { readonly accountId: Uuid; readonly delegateId: Uuid; readonly seenAt: number };

/** Across accounts, for the sweep. */
export const findTaskHolders = (db: Store): Promise<TaskHolder[]> =>
  db.query<TaskHolder>(
    `select d.account_id as "accountId", d.id as "delegateId", d.seen_at as "seenAt" from delegates d
      where exists (select from tasks t where t.account_id = d.account_id and t.delegate_id = d.id and t.status = 'leased')`,
  );

export type SilentTask = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly runId: Uuid;
  readonly epoch: number;
  readonly delegateId: Uuid;
  readonly delegate: string;
  readonly seenAt: number;
};

/** Tasks of delegates that were not heard from since. */
export const findTasksOfSilent = (db: Store, silent: readonly TaskHolder[]): Promise<SilentTask[]> =>
  db.query<SilentTask>(
    `select t.account_id as "accountId", t.id, t.run_id as "runId", t.epoch, d.id as "delegateId", d.name as delegate,
            d.seen_at as "seenAt"
       from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as s (account_id, delegate_id, seen_at)
       join delegates d on d.account_id = s.account_id and d.id = s.delegate_id and d.seen_at = s.seen_at
       join tasks t on t.account_id = d.account_id and t.delegate_id = d.id and t.status = 'leased'
      order by t.id limit 100`,
    [
      silent.map(({ accountId }) => accountId),
      silent.map(({ delegateId }) => delegateId),
      silent.map(({ seenAt }) => seenAt),
    ],
  );
