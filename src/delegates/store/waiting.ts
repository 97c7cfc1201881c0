/** Reasons why tasks wait for a delegate. */
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

export type WaitingTask = {
  readonly nodeId: Uuid;
  readonly attempt: number;
  readonly selectors: readonly string[];
  /**
   * Matching delegates that were heard from since and take no tasks now: "Delegate d1 is short of disk space: …",
   * "Delegate d2 waits for approval".
   */
  readonly unavailable: readonly string[];
};

/** The tasks of a run that no delegate has taken, with their selectors. Names at most three delegates for each. */
export async function waitingTasks(
  db: Store,
  { accountId, runId }: { readonly accountId: Uuid; readonly runId: Uuid },
  since: number,
): Promise<WaitingTask[]> {
  return db.query(
    `select t.node_id as "nodeId", t.attempt, t.selectors,
            array(select 'Delegate ' || d.name || ' '
                           || case d.status when 'ENABLED' then d.unavailable else 'waits for approval' end
                    from delegates d
                   where d.account_id = t.account_id and d.seen_at >= $3
                     and (d.status = 'WAITING_FOR_APPROVAL' or (d.status = 'ENABLED' and d.unavailable is not null))
                     and t.selectors <@ array_append(d.tags, d.name)
                   order by d.name limit 3) as unavailable
       from tasks t where t.account_id = $1 and t.run_id = $2 and t.status = 'ready'`,
    [accountId, runId, since],
  );
}
