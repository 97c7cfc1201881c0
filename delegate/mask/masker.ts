/**
 * Masks a stream of bytes, however it is cut into pieces. output/masked-output.ts drives one for the output of each step
 * with secrets; output/masking.ts uses it for single texts.
 *
 * 1. Every byte is read once by a scanner, and stands in `pending` until it is decided. 2. Lines that hold bytes as
 * numbers are read by another one (dumps.ts). 3. Where a secret ends, the bytes from its beginning are marked; what
 * overlaps is one mark. 4. What lies before the longest beginning of a secret that the stream may still complete is
 * decided and goes out, each mark as MASK. When more than MAX_PENDING bytes wait, they are masked. 5. `release` returns
 * short beginnings, `end` everything.
 */
import { createDumps } from "./dumps/dumps.ts";
import { createByteQueue } from "./byte-queue.ts";
import { createMarks } from "./marks.ts";
import type { Matcher } from "./matcher.ts";
import { createScanner } from "./scanner.ts";

const EMPTY = Buffer.alloc(0);
const NEWLINE = 0x0a;
/**
 * Bytes that the beginning of a secret keeps back at most. When it is longer, it is masked though its end is not known.
 */
export const MAX_PENDING = 1024 * 1024;

/** Masks one stream. Bytes that may begin a secret are returned by a later call. */
export type Masker = {
  /** Reads bytes; returns the bytes that are decided, masked. */
  readonly push: (bytes: Buffer) => Buffer;
  /**
   * Returns pending bytes, except a beginning of at least 4 bytes and a quarter of the secret. output/masked-output.ts
   * calls it 100 ms after the arrival of the oldest pending byte.
   */
  readonly release: () => Buffer;
  /**
   * Ends the stream; returns the rest. `isTorn`: what followed is missing, so every beginning of a secret is masked.
   * Otherwise only a beginning that is half of the secret is.
   */
  readonly end: (isTorn?: boolean) => Buffer;
  /** Number of read bytes that are not decided. */
  readonly pending: () => number;
  /** Whether a whole secret has been read. */
  readonly hasFound: () => boolean;
};

/** @param before bytes of the stream that were sent before: they are context and are not returned */
export function createMasker(matcher: Matcher, before: Buffer = EMPTY): Masker {
  const marks = createMarks();
  const main = createScanner(matcher);
  const dumps = createDumps(matcher, marks.add);
  const pending = createByteQueue();
  let position = 0;
  let endsLine = false;

  const read = (bytes: Buffer): void => {
    if (bytes.length > 0) endsLine = bytes.at(-1) === NEWLINE;
    pending.add(bytes);
    main.read(bytes, marks.add);
    dumps.read(bytes);
  };

  /** Returns the bytes before the position. */
  const take = (upTo: number): Buffer => {
    const count = Math.min(pending.length(), Math.max(0, upTo - position));
    const out = marks.take(pending.take(count), position);
    position += count;
    main.forget(position);
    dumps.forget(position);
    return out;
  };

  /** Where the longest beginning of a secret starts that the stream may complete. */
  const unfinished = (which: "any" | "long"): number => Math.min(main.unfinished(which), dumps.unfinished(which));

  /** Returns the bytes that cannot belong to an unfinished secret. Bytes of a mark do not wait. */
  const takeDecided = (which: "any" | "long"): Buffer => {
    const end = position + pending.length();
    const decided = Math.max(position, marks.endOver(unfinished(which)));
    if (end - decided <= MAX_PENDING) return take(decided);
    marks.add(decided, end, true);
    return take(end);
  };

  read(before);
  take(before.length);

  return {
    push: (bytes) => {
      read(bytes);
      return takeDecided("any");
    },
    release: () => takeDecided("long"),
    end: (isTorn = false) => {
      const end = position + pending.length();
      const from = Math.max(position, unfinished("any"));
      main.end(marks.add);
      dumps.end();
      const upTo = endsLine ? end - 1 : end;
      if (isTorn && from < upTo) marks.add(from, upTo, false);
      return take(end);
    },
    pending: pending.length,
    hasFound: () => marks.hasAny(),
  };
}

/** The whole of a text, masked. */
export function maskText(matcher: Matcher, text: string): string {
  const masker = createMasker(matcher);
  const bytes = Buffer.from(text);
  return Buffer.concat([masker.push(bytes), masker.end()]).toString();
}

/** Whether the text holds a whole secret in one of the masked forms. Reads the whole text at once. */
export function containsSecret(matcher: Matcher, text: string): boolean {
  const masker = createMasker(matcher);
  // A line of a dump is read after its line break.
  masker.push(Buffer.from(`${text}\n`));
  return masker.hasFound();
}
