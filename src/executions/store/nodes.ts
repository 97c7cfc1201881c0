import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";

/** Making a plan, which gives all its nodes their ids, takes less. */
const PLAN_MS = 5_000;

/** The least UUIDv7 of a moment. */
const idOf = (ms: number): string => {
  const hex = Math.max(0, ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
};

/**
 * The execution that a node is of. Nodes have no table of their own: the ids of a plan are made right after the
 * execution's, so that it is one of those of the seconds before whose last node is not before it. Only their plans are
 * looked into, which may be large: several only of replicas that started runs in the same millisecond, and of runs of an older server.
 */
export async function findExecutionOfNode(
  db: { readonly query: Query },
  accountId: Uuid,
  nodeId: Uuid,
): Promise<Uuid | undefined> {
  const at = Number.parseInt(nodeId.slice(0, 8) + nodeId.slice(9, 13), 16);
  const rows = await db.query<{ id: Uuid }>(
    `select id from executions where account_id = $1 and id >= $2 and id < $3
        and (last_node_id is null or last_node_id >= $5) and strpos(plan::text, $4) > 0
      order by id desc limit 1`,
    [accountId, idOf(at - PLAN_MS), idOf(at + 1), `"${nodeId}"`, nodeId],
  );
  return rows[0]?.id;
}
