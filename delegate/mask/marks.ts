/** The length is constant, so that it does not reveal the secret's length. */
export const MASK = "**************";

const MASK_BYTES = Buffer.from(MASK);
const EMPTY = Buffer.alloc(0);

/**
 * A stretch of the output that a secret takes up. `isOut`: MASK has been sent for it, and what is added to it is passed
 * over. `joins`: it is one with another such mark that begins where it ends.
 */
type Mark = { readonly start: number; readonly end: number; readonly joins: boolean; isOut: boolean };

/** Positions count the bytes of the output from its beginning. */
export type Marks = {
  readonly add: (start: number, end: number, joins: boolean) => void;
  /** The end of the mark that the position is inside of; otherwise the position. */
  readonly endOver: (at: number) => number;
  /** Returns the bytes with their marks replaced; `from` is the position of the first byte. */
  readonly take: (bytes: Buffer, from: number) => Buffer;
  /** Whether a mark was ever added. */
  readonly hasAny: () => boolean;
};

export function createMarks(): Marks {
  // In order, and none overlaps another.
  let marks: Mark[] = [];
  let any = false;
  let taken = 0;

  const touches = (mark: Mark, start: number, joins: boolean): boolean =>
    mark.end > start || (mark.end === start && joins && mark.joins);

  return {
    add: (start, end, joins) => {
      any = true;
      if (end <= taken) return;
      let first = marks.length;
      while (first > 0 && touches(marks[first - 1] as Mark, start, joins)) first -= 1;
      let merged: Mark = { start: Math.max(start, taken), end, joins, isOut: false };
      let after = first;
      for (let next = marks[after]; next && (next.start < end || touches(merged, next.start, next.joins));) {
        merged = {
          start: Math.min(merged.start, next.start),
          end: Math.max(merged.end, next.end),
          joins: merged.joins && next.joins,
          isOut: merged.isOut || next.isOut,
        };
        after += 1;
        next = marks[after];
      }
      marks.splice(first, after - first, merged);
    },
    endOver: (at) => marks.find(({ start, end }) => start <= at && at < end)?.end ?? at,
    take: (bytes, from) => {
      if (bytes.length === 0) return EMPTY;
      taken = from + bytes.length;
      const out = replaced(bytes, from, marks);
      // A mark that ends at `taken` may still grow.
      marks = marks.filter(({ end }) => end >= taken);
      return out;
    },
    hasAny: () => any,
  };
}

function replaced(bytes: Buffer, from: number, marks: readonly Mark[]): Buffer {
  const out: Buffer[] = [];
  let done = 0;
  for (const one of marks) {
    const [start, end] = [one.start - from, one.end - from];
    if (start >= bytes.length) break;
    if (start > done) out.push(bytes.subarray(done, start));
    if (!one.isOut) out.push(MASK_BYTES);
    one.isOut = true;
    done = Math.max(done, Math.min(end, bytes.length));
  }
  if (done < bytes.length) out.push(bytes.subarray(done));
  return out.length === 1 && out[0] ? out[0] : Buffer.concat(out);
}
