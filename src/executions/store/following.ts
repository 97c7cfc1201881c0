/** What the event streams of executions read. */
import type { InstanceId } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { ListedExecution } from "../execution.ts";
import type { Revision } from "../recent-changes.ts";
import type { StoredExecution } from "../stored.ts";
import type { RunKey } from "./advance.ts";
import { LISTED, NAMES } from "./lists.ts";
import { NODES_AS_JSON } from "./node-rows.ts";

/** An execution without its plan and nodes. */
export type FollowedHead = ListedExecution &
  Revision &
  Pick<StoredExecution, "format" | "header"> & {
    /** Bytes of its log. */
    readonly logBytes: number;
  };

/** All of an execution. */
export type FollowedWhole = FollowedHead & Pick<StoredExecution, "plan" | "nodes">;

const HEAD = `${LISTED}, e.format, e.revision, e.recent, e.header,
  coalesce((select l.bytes from log_streams l
             where l.account_id = e.account_id and l.execution_id = e.id and l.stream_id = e.id), 0) as "logBytes"`;

export async function findHead(db: Store, { accountId, id }: RunKey): Promise<FollowedHead | undefined> {
  const rows = await db.query<FollowedHead>(
    `select ${HEAD} from executions e ${NAMES} where e.account_id = $1 and e.id = $2`,
    [accountId, id],
  );
  return rows[0];
}

/** All of one moment. */
export async function findWhole(db: Store, { accountId, id }: RunKey): Promise<FollowedWhole | undefined> {
  const rows = await db.query<FollowedWhole>(
    `select ${HEAD}, e.plan, ${NODES_AS_JSON} as nodes from executions e ${NAMES} where e.account_id = $1 and e.id = $2`,
    [accountId, id],
  );
  return rows[0];
}

/** The nodes that changed after a revision. */
export async function findChangedIds(
  db: Store,
  { accountId, id }: RunKey,
  after: number,
): Promise<readonly InstanceId[]> {
  const rows = await db.query<{ id: InstanceId }>(
    `select n.id from execution_nodes n where n.account_id = $1 and n.execution_id = $2 and n.revision > $3`,
    [accountId, id, after],
  );
  return rows.map((row) => row.id);
}

/** How long the log of a node is. `lines` counts an open last line; null if an older server has appended to the log. */
export type LogLength = { readonly bytes: number; readonly lines: number | null };

/** The lengths of the logs of nodes, of all without `nodes`. */
export async function findLogLengths(
  db: Store,
  { accountId, id }: RunKey,
  nodes?: readonly InstanceId[],
): Promise<readonly (LogLength & { readonly node: InstanceId })[]> {
  return db.query(
    `select stream_id as node, bytes, case when counted = bytes then lines + open_line::int end as lines from log_streams
      where account_id = $1 and execution_id = $2 and ${nodes ? "stream_id = any($3::uuid[])" : "stream_id <> $2"}`,
    nodes ? [accountId, id, nodes] : [accountId, id],
  );
}

/** Where executions stand, of several accounts. What does not exist is missing. */
export async function findPositions(
  db: Store,
  runs: readonly RunKey[],
): Promise<readonly { readonly id: Uuid; readonly revision: number; readonly logBytes: number }[]> {
  return db.query(
    `select e.id, e.revision, coalesce(l.bytes, 0) as "logBytes"
       from unnest($1::uuid[], $2::uuid[]) as asked (account_id, id)
       join executions e on e.account_id = asked.account_id and e.id = asked.id
       left join log_streams l on l.account_id = e.account_id and l.execution_id = e.id and l.stream_id = e.id`,
    [runs.map(({ accountId }) => accountId), runs.map(({ id }) => id)],
  );
}
