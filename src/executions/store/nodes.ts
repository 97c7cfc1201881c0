import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

/** Making a plan, which gives all its nodes their ids, takes less. */
const PLAN_MS = 5_000;

/** Plans that one request looks into. */
const MOST_PLANS = 1_000;

/** The least UUIDv7 of a moment. */
const idOf = (ms: number): string => {
  const hex = Math.max(0, ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
};

/** The execution of a node that was reached. */
export async function findExecutionOfNode(db: Store, accountId: Uuid, nodeId: Uuid): Promise<Uuid | undefined> {
  const rows = await db.query<{ id: Uuid }>(
    `select execution_id as id from execution_nodes where account_id = $1 and id = $2`,
    [accountId, nodeId],
  );
  return rows[0]?.id;
}

/**
 * Executions whose plans may have a node that has no row: one that was not reached, or of an execution of format 1. The
 * ids of a plan are made right after the execution's, so that it is one of those of the seconds before whose last node is
 * not before it: several only of replicas that started runs in the same millisecond, and of runs of an older server.
 */
export async function findExecutionsAround(db: Store, accountId: Uuid, nodeId: Uuid): Promise<readonly Uuid[]> {
  const at = Number.parseInt(nodeId.slice(0, 8) + nodeId.slice(9, 13), 16);
  const rows = await db.query<{ id: Uuid }>(
    `select id from executions where account_id = $1 and id >= $2 and id < $3 and (last_node_id is null or last_node_id >= $4)
      order by id desc limit ${MOST_PLANS}`,
    [accountId, idOf(at - PLAN_MS), idOf(at + 1), nodeId],
  );
  return rows.map(({ id }) => id);
}
