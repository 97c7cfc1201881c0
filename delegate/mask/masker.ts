/**
 * Masks a stream of bytes, however it is cut into pieces.
 *
 * 1. Every byte is read once by the automaton, and stands in `pending` until it
 * is decided. Line breaks are passed over, as if they were not there: programs
 * and pipes put them into the middle of values (at most two in a row).
 * 2. Where a secret ends, the bytes from its beginning are marked; what overlaps
 * is one mark. 3. What lies before the longest beginning of a secret that the
 * stream may still complete is decided and goes out, each mark as MASK.
 * 4. `release` lets go of beginnings that are short, `end` of everything.
 */
import type { Automaton } from "./automaton.ts";
import { makeMarks } from "./marks.ts";
import { isBreak, MIN_VALUE } from "./needles.ts";

const EMPTY = Buffer.alloc(0);
const MOST_BREAKS = 2;
/** At the end a beginning of so many bytes that is half of a secret is masked: whatever was cut off was not meant to be. */
const TELLING = 8;

export type Masker = {
  /** Reads bytes; answers what is decided. */
  readonly push: (bytes: Buffer) => Buffer;
  /** What may not wait any longer: beginnings shorter than 4 bytes or a quarter of the secret, and what follows from it. */
  readonly release: () => Buffer;
  /** The rest. */
  readonly end: () => Buffer;
  /** Bytes read that are not decided. */
  readonly pending: () => number;
  /** Whether a whole secret has been read. */
  readonly hasFound: () => boolean;
};

/** @param before what the stream had just before, already gone out: it counts for what follows and goes out no more */
export function makeMasker(automaton: Automaton, before: Buffer = EMPTY): Masker {
  const { byte, child, depth, ends, fail, rowOf, rows, shortest } = automaton;
  let pending = before;
  let state = 0;
  let breaks = 0;
  let letters = 0;
  let marks = makeMarks();

  // All in local variables: in this loop that makes three times the speed.
  const read = (from: number): void => {
    const bytes = pending;
    let [now, between, count] = [state, breaks, letters];
    for (let at = from; at < bytes.length; at += 1) {
      const letter = bytes[at] ?? 0;
      if (letter === 10 || letter === 13) {
        between += 1;
        if (between > MOST_BREAKS) now = 0;
        continue;
      }
      between = 0;
      count += 1;
      for (;;) {
        const row = rowOf[now] ?? -1;
        if (row >= 0) {
          now = rows[row + letter] ?? 0;
          break;
        }
        const kid = child[now] ?? 0;
        if (kid > 0 && byte[kid] === letter) {
          now = kid;
          break;
        }
        now = fail[now] ?? 0;
      }
      const length = ends[now] ?? 0;
      if (length > 0) {
        marks.add(at + 1, length, count, () => back(at + 1, length));
      }
    }
    [state, breaks, letters] = [now, between, count];
  };

  /** Where the last `length` letters before `end` begin; what has gone out already is not among them. */
  const back = (end: number, length: number): number => {
    let at = end;
    for (let left = length; left > 0 && at > 0;) {
      at -= 1;
      if (!isBreak(pending[at] ?? 0)) left -= 1;
    }
    return at;
  };

  /** Everything before `upTo` goes out. */
  const take = (upTo: number): Buffer => {
    const out = marks.take(pending, upTo);
    pending = pending.subarray(upTo);
    return out;
  };

  /** All that lies before the beginning of which the state tells. Bytes of a mark need not wait for more of it. */
  const takeBefore = (beginning: number): Buffer => {
    const from = back(pending.length, depth[beginning] ?? 0);
    return take(marks.endOver(from));
  };

  /** The longest end of what was read that a secret may go on from. */
  const unfinished = (): number => {
    let longest = state;
    while (longest !== 0 && child[longest] === 0) longest = fail[longest] ?? 0;
    return longest;
  };

  const mayWait = (beginning: number): boolean =>
    (depth[beginning] ?? 0) >= Math.max(MIN_VALUE, Math.ceil((shortest[beginning] ?? 0) / 4));

  read(0);
  take(pending.length);
  marks = makeMarks();

  return {
    push: (bytes) => {
      const from = pending.length;
      pending = from === 0 ? bytes : Buffer.concat([pending, bytes]);
      read(from);
      return takeBefore(unfinished());
    },
    release: () => {
      let kept = unfinished();
      while (kept !== 0 && !mayWait(kept)) kept = fail[kept] ?? 0;
      return takeBefore(kept);
    },
    end: () => {
      const beginning = unfinished();
      const length = depth[beginning] ?? 0;
      if (length >= TELLING && length * 2 >= (shortest[beginning] ?? 0))
        marks.add(pending.length, length, letters, () => back(pending.length, length));
      return take(pending.length);
    },
    pending: () => pending.length,
    hasFound: () => marks.hasAny(),
  };
}

/** The whole of a text, masked. */
export function maskedText(automaton: Automaton, text: string): string {
  const masker = makeMasker(automaton);
  const bytes = Buffer.from(text);
  return Buffer.concat([masker.push(bytes), masker.end()]).toString();
}

export function holdsSecret(automaton: Automaton, text: string): boolean {
  const masker = makeMasker(automaton);
  masker.push(Buffer.from(text));
  return masker.hasFound();
}
