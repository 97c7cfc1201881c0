/** Stores the log of a node of an execution that no delegate runs, as a server with lines of 64 bytes. */
import type { Client } from "pg";
import { toWire, type Uuid } from "../../src/core/ids.ts";

const CHUNK_BYTES = 64 * 1024;
const LINE_BYTES = 64;
const LINES_PER_CHUNK = CHUNK_BYTES / LINE_BYTES;
/** Chunks of one statement. */
const AT_ONCE = 64;

export type StoredLog = {
  readonly accountId: Uuid;
  readonly executionId: Uuid;
  readonly nodeId: Uuid;
  /** As the API names them. */
  readonly execution: string;
  readonly node: string;
};

/** A step of the last execution. */
export async function lastStep(client: Client): Promise<StoredLog> {
  const { rows } = await client.query<Record<"accountId" | "executionId" | "nodeId", Uuid>>(
    `select e.account_id as "accountId", e.id as "executionId", n.key::uuid as "nodeId"
       from executions e cross join lateral json_each(e.plan -> 'nodes') n
      where n.value ->> 'kind' = 'step' order by e.id desc limit 1`,
  );
  const [row] = rows;
  if (!row) throw new Error("there is no execution");
  return { ...row, execution: toWire(row.executionId), node: toWire(row.nodeId) };
}

/** Lines of a build; each has another number and another time. */
export function chunkOf(firstLine: number): Buffer {
  const lines = Array.from({ length: LINES_PER_CHUNK }, (_, nth) => {
    const number = firstLine + nth;
    const time = new Date(1_795_000_000_000 + number * 3).toISOString();
    const hash = ((number * 2_654_435_761) % 0x1_0000_0000).toString(16).padStart(8, "0");
    return `${time} [${hash}] compile src/module${number % 9_973}.ts`
      .padEnd(LINE_BYTES - 1, ".")
      .slice(0, LINE_BYTES - 1);
  });
  return Buffer.from(`${lines.join("\n")}\n`);
}

/** Returns the number of lines, which is a multiple of a chunk's. `signal` is looked at between statements. */
export async function storeLog(
  client: Client,
  { accountId, executionId, nodeId }: StoredLog,
  most: number,
  signal: AbortSignal,
): Promise<number> {
  const chunks = Math.ceil(most / LINES_PER_CHUNK);
  for (let stored = 0; stored < chunks; stored += AT_ONCE) {
    signal.throwIfAborted();
    const numbers = Array.from({ length: Math.min(AT_ONCE, chunks - stored) }, (_, nth) => stored + nth);
    await client.query(
      `insert into log_chunks (account_id, execution_id, node_id, position, node_position, node_lines, data, at, task)
       select $1, $2, $3, n * ${CHUNK_BYTES}, n * ${CHUNK_BYTES}, n * ${LINES_PER_CHUNK}, data, 0, 1
         from unnest($4::bigint[], $5::bytea[]) as c (n, data)`,
      [accountId, executionId, nodeId, numbers, numbers.map((n) => chunkOf(n * LINES_PER_CHUNK))],
    );
  }
  const [bytes, lines] = [chunks * CHUNK_BYTES, chunks * LINES_PER_CHUNK];
  await client.query(
    `insert into log_streams (account_id, execution_id, stream_id, bytes, lines, counted)
     values ($1, $2, $2, $4, 0, 0), ($1, $2, $3, $4, $5, $4)`,
    [accountId, executionId, nodeId, bytes, lines],
  );
  await client.query("vacuum analyze log_chunks, log_streams");
  return lines;
}

/** Removes the counts, as in a log that an older server has written. */
export async function forgetLines(client: Client, { accountId, executionId, nodeId }: StoredLog): Promise<void> {
  const values = [accountId, executionId, nodeId];
  await client.query(
    "update log_chunks set node_lines = null where account_id = $1 and execution_id = $2 and node_id = $3",
    values,
  );
  await client.query(
    "update log_streams set lines = 0, counted = 0 where account_id = $1 and execution_id = $2 and stream_id = $3",
    values,
  );
  await client.query("vacuum analyze log_chunks");
}
