import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";

type Store = { readonly query: Query };

/** Where output belongs: to a node, and there to one of its tasks, which count from 1. */
export type OutputPlace = {
  readonly executionId: Uuid;
  readonly nodeId: Uuid;
  readonly task: number;
  readonly at: number;
};

/**
 * Appends output of a node at the end of two logs, its own and the whole
 * execution's. The upsert of the execution's row lets writers take turns, so
 * that positions have no gap and no overlap.
 */
export async function appendLog(
  db: Store,
  accountId: Uuid,
  { executionId, nodeId, task, at }: OutputPlace,
  data: Buffer,
): Promise<void> {
  await db.query(
    `with heads as (
       insert into log_streams (account_id, execution_id, stream_id, bytes) values ($1, $2, $2, $4), ($1, $2, $3, $4)
       on conflict (account_id, execution_id, stream_id) do update set bytes = log_streams.bytes + $4
       returning stream_id, bytes - $4 as begins)
     insert into log_chunks (account_id, execution_id, position, node_id, node_position, data, at, task)
     select $1, $2, whole.begins, $3, node.begins, $5, $6, $7
       from heads whole, heads node where whole.stream_id = $2 and node.stream_id = $3`,
    [accountId, executionId, nodeId, data.length, data, at, task],
  );
}

/** The last bytes that a task of a node has written. */
export async function readTail(
  db: Store,
  accountId: Uuid,
  { executionId, nodeId, task }: Omit<OutputPlace, "at">,
  bytes: number,
): Promise<Buffer> {
  const rows = await db.query<{ data: Buffer }>(
    `select substring(data from greatest(1, length(data) - $4::int + 1)) as data from log_chunks
      where account_id = $1 and execution_id = $2 and node_id = $3 and task = $5
      order by node_position desc limit 64`,
    [accountId, executionId, nodeId, bytes, task],
  );
  return Buffer.concat(rows.toReversed().map(({ data }) => data)).subarray(-bytes);
}

export type LogChunk = {
  readonly position: number;
  readonly nodeId: Uuid;
  readonly data: Buffer;
  /** When the server took it, in epoch milliseconds; null for what an older server took. */
  readonly at: number | null;
};

/** Chunks never hold more than this: the protocol's bound on one message. */
const LONGEST_CHUNK = 64 * 1024;
/** One read ends after this number of chunks or bytes: a download keeps them while it waits for its client. */
const READ_CHUNKS = 32;
const READ_BYTES = 256 * 1024;

/** The next chunks from a position on; the first one may begin before it. */
export async function readLog(db: Store, accountId: Uuid, executionId: Uuid, from: number): Promise<LogChunk[]> {
  return db.query<LogChunk>(
    `select position, node_id as "nodeId", data, at from log_chunks
      where account_id = $1 and execution_id = $2 and position > $3::bigint - ${LONGEST_CHUNK} and position + length(data) > $3
        and position < $3::bigint + ${READ_BYTES}
      order by position limit ${READ_CHUNKS}`,
    [accountId, executionId, from],
  );
}

/** The number of a task that no node has. */
export const LAST_TASK = 2_147_483_647;

/** A node, and which of its tasks. An attempt has one or several in a row. */
export type NodeTasks = { readonly nodeId: Uuid; readonly first: number; readonly last: number };

/** The same for the log of some tasks of a node; positions count in that log. */
export async function readNodeLog(
  db: Store,
  accountId: Uuid,
  executionId: Uuid,
  { nodeId, first, last }: NodeTasks,
  from: number,
): Promise<LogChunk[]> {
  const begins = await beginsAt(db, accountId, executionId, { nodeId, first });
  return db.query<LogChunk>(
    `select node_position - $5::bigint as position, node_id as "nodeId", data, at from log_chunks
      where account_id = $1 and execution_id = $2 and node_id = $3 and task <= $6
        and node_position >= $5::bigint
        and node_position > $4::bigint + $5::bigint - ${LONGEST_CHUNK} and node_position + length(data) > $4::bigint + $5::bigint
        and node_position < $4::bigint + $5::bigint + ${READ_BYTES}
      order by node_position limit ${READ_CHUNKS}`,
    [accountId, executionId, nodeId, from, begins, last],
  );
}

/** Where the log of a task begins in that of its node: tasks of a node come one after the other. */
async function beginsAt(
  db: Store,
  accountId: Uuid,
  executionId: Uuid,
  { nodeId, first }: Omit<NodeTasks, "last">,
): Promise<number> {
  if (first === 1) return 0;
  const rows = await db.query<{ begins: number | null }>(
    `select max(node_position + length(data)) as begins from log_chunks
      where account_id = $1 and execution_id = $2 and node_id = $3 and task < $4`,
    [accountId, executionId, nodeId, first],
  );
  return rows[0]?.begins ?? 0;
}
