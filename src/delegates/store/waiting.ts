/** Reasons why tasks wait for a delegate. */
import type { Capability } from "../../../protocol/versions.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

export type WaitingTask = {
  readonly nodeId: Uuid;
  readonly attempt: number;
  readonly selectors: readonly string[];
  /** Kind and version of its work. */
  readonly capability: Capability;
  /** Whether a matching delegate that was heard from since can run it. */
  readonly isRunnable: boolean;
  /** Matching delegates that were heard from since and cannot run it: "d1 of version 0.1.0". */
  readonly incapable: readonly string[];
  /**
   * Matching delegates that were heard from since and take no tasks now: "Delegate d1 is short of disk space: …",
   * "Delegate d2 waits for approval".
   */
  readonly unavailable: readonly string[];
};

const MATCHING = `delegates d where d.account_id = t.account_id and d.seen_at >= $3
                     and t.selectors <@ array_append(d.tags, d.name)`;
const CAN_RUN = "t.capability = any(d.capabilities)";

/** A run, and of which of its nodes; all without `nodes`. */
export type NodesOfRun = {
  readonly accountId: Uuid;
  readonly runId: Uuid;
  readonly nodes?: readonly string[] | undefined;
};

/** The tasks that no delegate has taken, with what they need. Names at most three delegates for each. */
export async function waitingTasks(
  db: Store,
  { accountId, runId, nodes }: NodesOfRun,
  since: number,
): Promise<WaitingTask[]> {
  return db.query(
    `select t.node_id as "nodeId", t.attempt, t.selectors, t.capability,
            exists (select from ${MATCHING} and d.status = 'ENABLED' and ${CAN_RUN}) as "isRunnable",
            array(select d.name || ' of version ' || d.version
                    from ${MATCHING} and d.status = 'ENABLED' and not ${CAN_RUN}
                   order by d.name limit 3) as incapable,
            array(select 'Delegate ' || d.name || ' '
                           || case d.status when 'ENABLED' then d.unavailable else 'waits for approval' end
                    from ${MATCHING} and ${CAN_RUN}
                     and (d.status = 'WAITING_FOR_APPROVAL' or (d.status = 'ENABLED' and d.unavailable is not null))
                   order by d.name limit 3) as unavailable
       from tasks t where t.account_id = $1 and t.run_id = $2 and t.status = 'ready'${nodes ? " and t.node_id = any($4)" : ""}`,
    nodes ? [accountId, runId, since, nodes] : [accountId, runId, since],
  );
}
