/** Statements that find places in the log of a node, and read parts of it (docs/decisions/0045-lines-are-counted-as-they-come.md). */
import type { Uuid } from "../../core/ids.ts";
import type { Db, Store } from "../../platform/db/db.ts";
import { integerOf, LONGEST_CHUNK } from "./logs.ts";

export type NodeKey = { readonly accountId: Uuid; readonly executionId: Uuid; readonly nodeId: Uuid };

export type LogHead = {
  readonly bytes: number;
  /** Line feeds in the first `counted` bytes. */
  readonly lines: number;
  readonly counted: number;
  /** Whether the log ends inside a line. */
  readonly openLine: boolean;
};

/** Undefined for a node that has written nothing. */
export async function selectHead(db: Store, { accountId, executionId, nodeId }: NodeKey): Promise<LogHead | undefined> {
  const rows = await db.query<LogHead>(
    `select bytes, lines, counted, open_line as "openLine" from log_streams
      where account_id = $1 and execution_id = $2 and stream_id = $3`,
    [accountId, executionId, nodeId],
  );
  return rows[0];
}

/** A place in the log of a node, and the line feeds before it. */
export type LogPlace = { readonly position: number; readonly lines: number };

const OF_NODE = "account_id = $1 and execution_id = $2 and node_id = $3";

/**
 * Finds the last chunk of a counted log with less than `below` line feeds before it, or with a task before `below`: a
 * binary search by position. Both grow with the position, so they need no index of their own, which each append would
 * pay for. Undefined if there is none.
 */
export async function selectLastBelow(
  db: Store,
  { accountId, executionId, nodeId }: NodeKey,
  column: "node_lines" | "task",
  below: number,
): Promise<(LogPlace & { readonly size: number }) | undefined> {
  const rows = await db.query<LogPlace & { size: number }>(
    `with recursive probe (low, high) as (
       select 0::bigint, bytes from log_streams where account_id = $1 and execution_id = $2 and stream_id = $3
       union all
       select case when next.is_below then next.position else probe.low end,
              case when next.is_below then probe.high else next.position end
         from probe
        cross join lateral (
          select probe.low + length(data) as after from log_chunks where ${OF_NODE} and node_position = probe.low) found
        cross join lateral (
          select node_position as position, ${column} < $4 as is_below from log_chunks
           where ${OF_NODE} and node_position <= greatest((probe.low + probe.high) / 2, found.after)
           order by node_position desc limit 1) next
        where found.after < probe.high and next.position > probe.low)
     select node_position as position, node_lines as lines, length(data) as size from log_chunks
      where ${OF_NODE} and node_position = (select max(low) from probe) and ${column} < $4`,
    [accountId, executionId, nodeId, below],
  );
  return rows[0];
}

/** The chunk that a position lies in. */
export async function selectChunkAt(
  db: Store,
  { accountId, executionId, nodeId }: NodeKey,
  position: number,
): Promise<(LogPlace & { readonly lastByte: number }) | undefined> {
  const rows = await db.query<LogPlace & { lastByte: number }>(
    `select node_position as position, node_lines as lines, get_byte(data, length(data) - 1) as "lastByte" from log_chunks
      where ${OF_NODE} and node_position <= $4 order by node_position desc limit 1`,
    [accountId, executionId, nodeId, position],
  );
  return rows[0];
}

/** `lines`: line feeds before the chunk; null if it was not counted. */
export type NodeChunk = {
  readonly position: number;
  readonly lines: number | null;
  /** Valid until the next chunk comes. */
  readonly data: Buffer;
  readonly at: number | null;
};

/** Chunks of one read; those of a step that writes little at a time are short. */
const MOST_CHUNKS = 4_096;
const NOTHING = Buffer.alloc(0);

/**
 * Reads the chunks that lie in a range, at most 4,096; the first one may begin before it. Returns the position behind the
 * last one; undefined without any.
 */
export async function readChunks(
  db: Pick<Db, "binary">,
  { accountId, executionId, nodeId }: NodeKey,
  { from, to }: { readonly from: number; readonly to: number },
  onChunk: (chunk: NodeChunk) => void,
): Promise<number | undefined> {
  let end: number | undefined;
  await db.binary(
    `select node_position, node_lines, data, at from log_chunks
      where ${OF_NODE} and node_position > $4 - ${LONGEST_CHUNK} and node_position < $5
        and node_position + length(data) > $4
      order by node_position limit ${MOST_CHUNKS}`,
    [accountId, executionId, nodeId, from, to],
    ([column, lines, bytes, at]) => {
      const [position, data] = [integerOf(column), bytes ?? NOTHING];
      end = position + data.length;
      onChunk({ position, data, lines: lines ? integerOf(lines) : null, at: at ? integerOf(at) : null });
    },
  );
  return end;
}

/** `from` is where the count has ended, `end` where it ends now. */
export type Counts = {
  readonly from: number;
  readonly places: readonly LogPlace[];
  readonly end: LogPlace & { readonly isInsideLine: boolean };
};

/** Saves how many line feeds there are before each of some chunks. Does nothing if they were counted meanwhile. */
export async function updateCounts(
  db: Store,
  { accountId, executionId, nodeId }: NodeKey,
  { from, places, end }: Counts,
): Promise<void> {
  await db.query(
    `with head as (
       update log_streams set counted = $5, lines = $6, open_line = case when bytes = $5 then $9 else open_line end
        where account_id = $1 and execution_id = $2 and stream_id = $3 and counted = $4 returning 1)
     update log_chunks c set node_lines = place.lines
       from head, unnest($7::bigint[], $8::bigint[]) as place (position, lines)
      where c.account_id = $1 and c.execution_id = $2 and c.node_id = $3 and c.node_position = place.position`,
    [
      ...[accountId, executionId, nodeId, from, end.position, end.lines],
      ...[places.map(({ position }) => position), places.map(({ lines }) => lines), end.isInsideLine],
    ],
  );
}
