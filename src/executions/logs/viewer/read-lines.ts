/** Reads lines of a log by their numbers. The cost does not depend on where they are. */
import type { Actor } from "../../../core/actor.ts";
import type { MaybeInProject } from "../../../pipelines/index.ts";
import type { Db } from "../../../platform/db/db.ts";
import { LONGEST_CHUNK } from "../../store/logs.ts";
import { readChunks, selectChunkAt, selectLastBelow, type NodeChunk } from "../../store/node-logs.ts";
import { createLineCollector, RANGE_BYTES, type LineCollector, type LogLine } from "./collect-lines.ts";
import { openNodeLog, sizeOf, type LogSize, type NodeLog, type NodeLogName, type ViewerDeps } from "./node-log.ts";

export const MOST_LINES = 5_000;
/** Bytes of one read. */
const PART_BYTES = 4 * LONGEST_CHUNK;

/** Lines from a number on, or the last ones. */
export type LineRange = NodeLogName & ({ readonly from: number; readonly limit: number } | { readonly last: number });

export type LinesOfLog = LogSize & { readonly lines: readonly LogLine[] };

/** May answer fewer lines than asked for, if they are long. Throws as `openNodeLog`. */
export const readLines =
  (deps: ViewerDeps) =>
  async (actor: Actor, id: string, scope: MaybeInProject, range: LineRange): Promise<LinesOfLog> => {
    const log = await openNodeLog(deps, actor, id, scope, range);
    const [from, limit] = "last" in range ? await lastLines(deps.db, log, range.last) : [range.from, range.limit];
    const lines = from > log.totalLines || limit === 0 ? [] : await collectLines(deps.db, log, { from, limit });
    return { lines, ...sizeOf(log) };
  };

export type ReadLines = ReturnType<typeof readLines>;

/** The number of lines is bounded by their bytes, too, from the end: the last line is always among them. */
async function lastLines(
  db: Db,
  { key, begin, end, totalLines }: NodeLog,
  count: number,
): Promise<readonly [from: number, limit: number]> {
  const first = Math.max(1, totalLines - count + 1);
  const position = end.position - RANGE_BYTES + LONGEST_CHUNK;
  const chunk = position > begin.position ? await selectChunkAt(db, key, position) : undefined;
  // The line that this chunk begins in may be long; the next one begins in it or behind it.
  const inReach = chunk ? Math.min(totalLines, (chunk.lines ?? 0) - begin.lines + 2) : 1;
  return [Math.max(first, inReach), count];
}

async function collectLines(
  db: Db,
  log: NodeLog,
  { from: first, limit }: Readonly<Record<"from" | "limit", number>>,
): Promise<readonly LogLine[]> {
  const { key, begin, end } = log;
  // The line begins after this line feed of the node's log.
  const feed = begin.lines + first - 1;
  const chunk = first === 1 ? undefined : await selectLastBelow(db, key, "node_lines", feed);
  const start = chunk ?? begin;
  const collector = createLineCollector({ first, limit, skip: feed - start.lines });
  for (let at = start.position; at < end.position && !collector.isFull();) {
    const [from, to] = [at, Math.min(at + PART_BYTES, end.position)];
    const behind = await readChunks(db, key, { from, to }, (chunk) => collector.add(within(log, chunk, from)));
    // The retention has deleted them meanwhile.
    if (behind === undefined) break;
    at = await afterLongLine(db, log, collector, behind);
  }
  collector.finish(end.position - begin.position);
  return collector.lines();
}

/** A chunk without what is before a position or behind the end; its offset counts in the log that is read. */
function within({ begin, end }: NodeLog, { position, data, at }: NodeChunk, from: number) {
  const cut = Math.max(0, from - position);
  return { at, offset: position + cut - begin.position, data: data.subarray(cut, end.position - position) };
}

/** Skips the chunks inside a line of which nothing more is kept: it may be as long as the log. */
async function afterLongLine(db: Db, { key, begin }: NodeLog, collector: LineCollector, at: number): Promise<number> {
  const number = collector.openLongLine();
  if (number === undefined) return at;
  const last = await selectLastBelow(db, key, "node_lines", begin.lines + number);
  return Math.max(at, last?.position ?? 0);
}
