/**
 * Counts the lines of a log that an older server has written, once. The counts are saved after each part, so that a
 * request that is cut off leaves less to the next one.
 */
import type { Db } from "../../../platform/db/db.ts";
import {
  readChunks,
  selectHead,
  updateCounts,
  type LogHead,
  type LogPlace,
  type NodeKey,
} from "../../store/node-logs.ts";
import { countLineFeeds, LINE_FEED } from "../line-feeds.ts";

/** One transaction locks the head of the log, which appends wait for. */
const PART_BYTES = 1024 * 1024;
const EMPTY: LogHead = { bytes: 0, lines: 0, counted: 0, openLine: false };

/** Returns the head of the log with the lines of all its bytes. */
export async function countLines(db: Db, key: NodeKey): Promise<LogHead> {
  for (;;) {
    const head = await selectHead(db, key);
    if (!head) return EMPTY;
    if (head.counted === head.bytes) return head;
    // The retention deletes the chunks of a log before its head.
    if (!(await countPart(db, key, head))) return EMPTY;
  }
}

async function countPart(db: Db, key: NodeKey, { counted: from, lines: before }: LogHead): Promise<boolean> {
  const places: LogPlace[] = [];
  let [lines, isInsideLine] = [before, false];
  const position = await readChunks(db, key, { from, to: from + PART_BYTES }, ({ data, ...chunk }) => {
    places.push({ position: chunk.position, lines });
    lines += countLineFeeds(data);
    isInsideLine = data.at(-1) !== LINE_FEED;
  });
  if (position === undefined) return false;
  await updateCounts(db, key, { from, places, end: { position, lines, isInsideLine } });
  return true;
}
