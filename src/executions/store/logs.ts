import type { Uuid } from "../../core/ids.ts";
import type { Db, Store } from "../../platform/db/db.ts";
import { countLineFeeds, LINE_FEED } from "../logs/line-feeds.ts";

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
 * that positions have no gap and no overlap. Lines are counted in the log of
 * the node alone, and not behind what an older server has appended.
 */
export async function appendLog(
  db: Store,
  accountId: Uuid,
  { executionId, nodeId, task, at }: OutputPlace,
  data: Buffer,
): Promise<void> {
  await db.query(
    `with heads as (
       insert into log_streams as s (account_id, execution_id, stream_id, bytes, lines, counted, open_line)
       values ($1, $2, $2, $4, 0, 0, false), ($1, $2, $3, $4, $8, $4, $9)
       on conflict (account_id, execution_id, stream_id) do update set
         bytes = s.bytes + $4,
         lines = case when s.counted = s.bytes then s.lines + $8 else s.lines end,
         counted = case when s.counted = s.bytes then s.counted + $4 else s.counted end,
         open_line = $9
       returning stream_id, bytes - $4 as begins, case when counted = bytes then lines - $8 end as lines)
     insert into log_chunks (account_id, execution_id, position, node_id, node_position, data, at, task, node_lines)
     select $1, $2, whole.begins, $3, node.begins, $5, $6, $7, node.lines
       from heads whole, heads node where whole.stream_id = $2 and node.stream_id = $3`,
    [accountId, executionId, nodeId, data.length, data, at, task, countLineFeeds(data), data.at(-1) !== LINE_FEED],
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
  /** Line feeds before it in the log of its node; null if they were not counted. */
  readonly lines: number | null;
};

/** Chunks never hold more than this: the protocol's bound on one message. */
export const LONGEST_CHUNK = 64 * 1024;
/** One read ends after this number of chunks or bytes: a download keeps them while it waits for its client. */
const READ_CHUNKS = 32;
const READ_BYTES = 256 * 1024;

type Values = readonly (string | number)[];
/** Runs a statement that selects chunks: position, node, data, time and line feeds before. */
export type ReadChunks = (text: string, values: Values) => Promise<LogChunk[]>;

/** For short reads: the statement is prepared. */
export const readPrepared =
  (db: Store): ReadChunks =>
  (text, values) =>
    db.query<LogChunk>(text, values);

/** For whole logs. */
export const readBinary =
  (db: Pick<Db, "binary">): ReadChunks =>
  async (text, values) => {
    const chunks: LogChunk[] = [];
    await db.binary(text, values, ([position, nodeId, data, at, lines]) => {
      chunks.push({
        position: integerOf(position),
        nodeId: uuidOf(nodeId),
        data: Buffer.from(data ?? NOTHING),
        at: at ? integerOf(at) : null,
        lines: lines ? integerOf(lines) : null,
      });
    });
    return chunks;
  };

const NOTHING = Buffer.alloc(0);

/** Of a column of the type bigint that is not null. */
export const integerOf = (column: Buffer | null | undefined): number => Number(column?.readBigInt64BE() ?? 0n);

const uuidOf = (column: Buffer | null | undefined): Uuid =>
  (column?.toString("hex") ?? "").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-") as Uuid;

/** The next chunks from a position on; the first one may begin before it. */
export const readLog = (read: ReadChunks, accountId: Uuid, executionId: Uuid, from: number): Promise<LogChunk[]> =>
  read(
    `select position, node_id as "nodeId", data, at, node_lines as lines from log_chunks
      where account_id = $1 and execution_id = $2 and position > $3::bigint - ${LONGEST_CHUNK} and position + length(data) > $3
        and position < $3::bigint + ${READ_BYTES}
      order by position limit ${READ_CHUNKS}`,
    [accountId, executionId, from],
  );

/** A part of the log of a node: of all its tasks, or of those of an attempt. */
export type NodePart = { readonly nodeId: Uuid; readonly begin: number; readonly lastTask: number };

/** The same for a part of the log of a node; positions count in that part. */
export const readNodeLog = (
  read: ReadChunks,
  accountId: Uuid,
  executionId: Uuid,
  { nodeId, begin, lastTask }: NodePart,
  from: number,
): Promise<LogChunk[]> =>
  read(
    `select node_position - $5::bigint as position, node_id as "nodeId", data, at, node_lines as lines from log_chunks
      where account_id = $1 and execution_id = $2 and node_id = $3 and task <= $6
        and node_position >= $5::bigint
        and node_position > $4::bigint + $5::bigint - ${LONGEST_CHUNK} and node_position + length(data) > $4::bigint + $5::bigint
        and node_position < $4::bigint + $5::bigint + ${READ_BYTES}
      order by node_position limit ${READ_CHUNKS}`,
    [accountId, executionId, nodeId, from, begin, lastTask],
  );
