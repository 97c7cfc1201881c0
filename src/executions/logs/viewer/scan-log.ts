/** Goes through a log in blocks of whole lines, while the next part is read. */
import type { Db } from "../../../platform/db/db.ts";
import { LONGEST_CHUNK } from "../../store/logs.ts";
import { readChunks, type NodeChunk } from "../../store/node-logs.ts";
import { countLineFeeds, LINE_FEED } from "../line-feeds.ts";
import type { NodeLog } from "./node-log.ts";

/** Bytes of one read: looking through them holds up the server for some milliseconds. */
const PART_BYTES = 512 * 1024;
/** Bytes of a line longer than a part that the next block repeats: what is looked for may lie on both sides. */
const REPEATED_BYTES = 64 * 1024;
/** A part ends with the chunk that its last byte lies in. */
const LONGEST_PART = PART_BYTES + LONGEST_CHUNK;

export type Block = {
  /** Whole lines; a part of one if the line is longer than a read, or the log ends inside it. Valid until the next one. */
  readonly bytes: Buffer;
  /** Where it begins in the log that is read. */
  readonly offset: number;
  /** The number of its first line. */
  readonly line: number;
  /** False if it begins inside of its first line. */
  readonly beginsLine: boolean;
  /** Where the next block begins: a later scan can continue there. */
  readonly next: number;
};

/** A part in its buffer, in the second half: the first one is for what the part before has left. */
type Part = {
  readonly buffer: Buffer;
  length: number;
  /** The position behind it in the log of the node. */
  end: number;
  /** The number of the line that it begins in, and whether it begins there with it. */
  line: number;
  beginsLine: boolean;
};

/**
 * Two buffers take turns. With new ones for each part, the server would spend most of the time of a search on garbage
 * collection.
 */
export async function* scanLog(db: Db, log: NodeLog, from: number): AsyncGenerator<Block> {
  const { begin, end } = log;
  const start = begin.position + from;
  if (start >= end.position) return;
  let [free, pending] = [newBuffer(), readPart(db, log, start, newBuffer())];
  let rest: Pick<Block, "bytes" | "beginsLine"> = { bytes: NOTHING, beginsLine: true };
  for (let isFirst = true; ; isFirst = false) {
    const part = await pending;
    // The retention has deleted it meanwhile.
    if (!part) return;
    const beginsLine = isFirst ? part.beginsLine : rest.beginsLine;
    const first = LONGEST_PART - rest.bytes.length;
    rest.bytes.copy(part.buffer, first);
    const bytes = part.buffer.subarray(first, LONGEST_PART + part.length);
    const hasMore = part.end < end.position;
    if (hasMore) pending = readAhead(readPart(db, log, part.end, free));
    free = part.buffer;
    const lineEnd = bytes.lastIndexOf(LINE_FEED) + 1;
    rest =
      lineEnd === 0
        ? { bytes: bytes.subarray(-REPEATED_BYTES), beginsLine: false }
        : { bytes: bytes.subarray(lineEnd), beginsLine: true };
    const behind = part.end - begin.position;
    const next = behind - rest.bytes.length;
    const block = lineEnd === 0 ? bytes : bytes.subarray(0, lineEnd);
    yield { bytes: block, offset: behind - bytes.length, line: part.line, beginsLine, next };
    if (hasMore) continue;
    if (rest.beginsLine && rest.bytes.length > 0) yield { ...rest, offset: next, line: log.totalLines, next };
    return;
  }
}

const NOTHING = Buffer.alloc(0);
const newBuffer = (): Buffer => Buffer.allocUnsafeSlow(2 * LONGEST_PART);

/** Undefined if there is nothing. */
async function readPart(db: Db, log: NodeLog, at: number, buffer: Buffer): Promise<Part | undefined> {
  const { key, begin, end } = log;
  const part: Part = { buffer, length: 0, end: at, line: 0, beginsLine: at === begin.position };
  // The byte before tells whether a line begins here.
  const range = { from: Math.max(begin.position, at - 1), to: Math.min(at + PART_BYTES, end.position) };
  const found = await readChunks(db, key, range, (chunk) => addChunk(part, log, at, chunk));
  return found === undefined || part.length === 0 ? undefined : part;
}

function addChunk(part: Part, { begin, end }: NodeLog, at: number, { position, lines, data }: NodeChunk): void {
  const before = Math.max(0, at - position);
  if (before > 0 && data[before - 1] === LINE_FEED) part.beginsLine = true;
  if (before === data.length) return;
  if (part.length === 0) part.line = (lines ?? 0) - begin.lines + countLineFeeds(data, 0, before) + 1;
  const bytes = data.subarray(before, end.position - position);
  bytes.copy(part.buffer, LONGEST_PART + part.length);
  part.length += bytes.length;
  part.end = position + before + bytes.length;
}

/** An error is thrown where the part is wanted, which it is not after an end in between. */
function readAhead<T>(part: Promise<T>): Promise<T> {
  part.catch(() => undefined);
  return part;
}
