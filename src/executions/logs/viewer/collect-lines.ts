/** Collects the lines of a range from chunks, each with a bounded text. */
import { LINE_FEED } from "../line-feeds.ts";
import { timeOf } from "../lines.ts";

const CARRIAGE_RETURN = 0x0d;
/** Bytes of one line that are shown, and of all lines of an answer. */
export const LINE_BYTES = 16 * 1024;
export const RANGE_BYTES = 1024 * 1024;

export type LogLine = {
  /** From 1. */
  readonly number: number;
  readonly time: string | null;
  readonly text: string;
  /** Of a line that is longer than its text: where it begins in the log, and its bytes. */
  readonly cut?: { readonly offset: number; readonly bytes: number };
};

type Begun = {
  readonly offset: number;
  readonly time: string | null;
  kept: Buffer[];
  keptBytes: number;
  isCut: boolean;
};

export type LineCollector = ReturnType<typeof createLineCollector>;

/** `skip`: line feeds before the first line of the range in what is added. */
export function createLineCollector({ first, limit, skip }: Readonly<Record<"first" | "limit" | "skip", number>>) {
  const lines: LogLine[] = [];
  let [toSkip, bytes] = [skip, 0];
  let begun: Begun | undefined;

  const isFull = (): boolean => lines.length >= limit || bytes >= RANGE_BYTES;
  const current = (): number => first + lines.length;

  function close(line: Begun, end: number): void {
    const text = textOf(line);
    const cut = line.isCut && { cut: { offset: line.offset, bytes: end - line.offset } };
    lines.push({ number: current(), time: line.time, text, ...cut });
    bytes += line.keptBytes;
    begun = undefined;
  }

  return {
    isFull,
    lines: (): readonly LogLine[] => lines,
    /** The number of the line that is open and already longer than what is kept of it. */
    openLongLine: (): number | undefined => (begun?.isCut ? current() : undefined),
    /** `offset`: where the bytes begin in the log; gaps may lie inside of a long line. */
    add({ data, offset, at }: { readonly data: Buffer; readonly offset: number; readonly at: number | null }): void {
      for (let from = 0; from < data.length && !isFull();) {
        const feed = data.indexOf(LINE_FEED, from);
        const end = feed === -1 ? data.length : feed;
        if (toSkip === 0) {
          begun ??= { offset: offset + from, time: timeOf({ at }), kept: [], keptBytes: 0, isCut: false };
          keep(begun, data.subarray(from, end));
          if (feed !== -1) close(begun, offset + end);
        } else if (feed !== -1) toSkip -= 1;
        from = end + 1;
      }
    },
    /** The log ends, maybe inside a line. */
    finish(end: number): void {
      if (begun && !isFull()) close(begun, end);
    },
  };
}

/**
 * Of a line that is too long to be kept, what follows its last carriage return is kept: a progress bar has overwritten
 * what was before.
 */
function keep(line: Begun, bytes: Buffer): void {
  line.isCut ||= line.keptBytes + bytes.length > LINE_BYTES;
  let piece = bytes;
  // One at the end may belong to the end of the line.
  const carriageReturn = line.isCut && bytes.length > 1 ? bytes.lastIndexOf(CARRIAGE_RETURN, bytes.length - 2) : -1;
  if (carriageReturn !== -1) {
    line.kept = [];
    line.keptBytes = 0;
    piece = bytes.subarray(carriageReturn + 1);
  }
  // A copy: the bytes are valid only now.
  const part = Buffer.from(piece.subarray(0, LINE_BYTES - line.keptBytes));
  line.kept.push(part);
  line.keptBytes += part.length;
}

function textOf({ kept, isCut }: Begun): string {
  const bytes = Buffer.concat(kept);
  const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  // A stream leaves out a character that was cut.
  if (isCut) return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, end), { stream: true });
  return bytes.toString("utf8", 0, end);
}
