/** Looks through a bounded part of a log, so that a request takes a bounded time; the next one continues. */
import type { Db } from "../../../platform/db/db.ts";
import { LINE_FEED } from "../line-feeds.ts";
import { sizeOf, type LogSize, type NodeLog } from "./node-log.ts";
import { scanLog, type Block } from "./scan-log.ts";

/** Bytes that one request looks through. */
export const SCAN_BYTES = 64 * 1024 * 1024;

export type Scanned = LogSize & {
  /** The byte offset to continue from, also once more was written: an open last line is looked through again. */
  readonly next: number;
  /** Whether there is more to look through now. */
  readonly more: boolean;
};

/** Ends the scan behind a line of a block, counted from 0. */
type StopBehind = { readonly endsBehind: number } | undefined;

export async function scanPart(
  db: Db,
  log: NodeLog,
  from: number,
  look: (block: Block) => StopBehind,
): Promise<Scanned> {
  const size = sizeOf(log);
  let next = Math.min(from, size.endOffset);
  for await (const block of scanLog(db, log, from)) {
    const stop = look(block);
    next = stop ? endOfLine(block, stop.endsBehind) : block.next;
    if (stop || next - from >= SCAN_BYTES) return { ...size, next, more: next < size.endOffset };
  }
  return { ...size, next, more: false };
}

function endOfLine({ bytes, offset }: Block, line: number): number {
  let feed = -1;
  for (let nth = 0; nth <= line; nth += 1) {
    feed = bytes.indexOf(LINE_FEED, feed + 1);
    if (feed === -1) return offset + bytes.length;
  }
  return offset + feed + 1;
}
