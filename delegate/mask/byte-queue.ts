/**
 * A queue of bytes. Chunks are joined so that each is longer than the next one: their number, and how often a byte is
 * copied, grow with the logarithm of the length.
 */
export type ByteQueue = {
  readonly add: (bytes: Buffer) => void;
  /** Removes and returns the first bytes, at most `length()`. */
  readonly take: (count: number) => Buffer;
  readonly length: () => number;
};

const EMPTY = Buffer.alloc(0);

export function createByteQueue(): ByteQueue {
  const pieces: Buffer[] = [];
  let length = 0;

  return {
    add: (bytes) => {
      if (bytes.length === 0) return;
      length += bytes.length;
      let last = bytes;
      for (let before = pieces.at(-1); before && before.length <= last.length; before = pieces.at(-1)) {
        last = Buffer.concat([before, last]);
        pieces.pop();
      }
      pieces.push(last);
    },
    take: (count) => {
      length -= count;
      const taken: Buffer[] = [];
      for (let missing = count; missing > 0;) {
        const first = pieces[0] ?? EMPTY;
        const some = first.subarray(0, missing);
        taken.push(some);
        missing -= some.length;
        if (some.length === first.length) pieces.shift();
        else pieces[0] = first.subarray(some.length);
      }
      return taken.length === 1 && taken[0] ? taken[0] : Buffer.concat(taken);
    },
    length: () => length,
  };
}
