/** Always of this length, so that it says nothing of the secret's. */
export const MASK = "**************";

const MASK_BYTES = Buffer.from(MASK);
const EMPTY = Buffer.alloc(0);

/**
 * Where secrets stand in the bytes that are not decided yet; positions are in these. Letters are the bytes read so far that are
 * no line breaks. `isOut`: MASK has been sent for it, and what is added to it is passed over.
 */
type Mark = { start: number; end: number; readonly lettersBefore: number; lettersAtEnd: number; isOut: boolean };

export type Marks = {
  /** A secret of `length` letters ends at `end`, where `letters` have been read. `start` looks for its beginning, when that is needed. */
  readonly add: (end: number, length: number, letters: number, start: () => number) => void;
  /** The end of the mark that the position is inside of; otherwise the position. */
  readonly endOver: (at: number) => number;
  /** The bytes before `upTo` as they go out. What is left begins there. */
  readonly take: (bytes: Buffer, upTo: number) => Buffer;
  /** Whether there ever was one. */
  readonly hasAny: () => boolean;
};

export function makeMarks(): Marks {
  let marks: Mark[] = [];
  let any = false;
  return {
    add: (end, length, letters, start) => {
      any = true;
      const lettersBefore = letters - length;
      for (let last = marks.at(-1); last && last.lettersAtEnd > lettersBefore; last = marks.at(-1)) {
        if (last.isOut || last.lettersBefore <= lettersBefore) {
          last.end = end;
          last.lettersAtEnd = letters;
          return;
        }
        marks.pop();
      }
      marks.push({ start: start(), end, lettersBefore, lettersAtEnd: letters, isOut: false });
    },
    endOver: (at) => marks.find(({ start, end }) => start <= at && at < end)?.end ?? at,
    take: (bytes, upTo) => {
      if (upTo === 0) return EMPTY;
      const out = replaced(bytes, upTo, marks);
      // One that ends here may still grow.
      marks = marks.filter(({ end }) => end >= upTo);
      for (const one of marks) {
        one.start = Math.max(0, one.start - upTo);
        one.end -= upTo;
      }
      return out;
    },
    hasAny: () => any,
  };
}

function replaced(bytes: Buffer, upTo: number, marks: readonly Mark[]): Buffer {
  const out: Buffer[] = [];
  let done = 0;
  for (const one of marks) {
    if (one.start >= upTo) break;
    if (one.start > done) out.push(bytes.subarray(done, one.start));
    if (!one.isOut) out.push(MASK_BYTES);
    one.isOut = true;
    done = Math.min(one.end, upTo);
  }
  if (done < upTo) out.push(bytes.subarray(done, upTo));
  return out.length === 1 && out[0] ? out[0] : Buffer.concat(out);
}
