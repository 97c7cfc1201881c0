/**
 * Finds large values with little memory (Karp and Rabin, 1987). Of each text the hashes of its blocks of 16 letters are
 * kept, about twelve bytes for each, and the text itself is not. The same hash rolls over the output. So of any part of
 * a text at most 15 letters at each end stay unmasked, and a text as a whole is masked to its last letter, because its
 * last block ends there. Texts shorter than a block have a hash of their whole length.
 *
 * Two hashes of 32 bits with random factors count as equality: one chance in 10^12 per gigabyte of output and million
 * of blocks. Letters of both cases count as the same, as do the two alphabets of base64: `AB-_`, `ab+/`.
 */
import { randomInt } from "node:crypto";

/** Letters of a block. */
export const BLOCK = 16;

/** Of two hashes the set of pairs; 64 parts, so that the growth of one takes a millisecond at most. */
export type Fingerprints = {
  /** Adds a text of at least one letter. */
  readonly add: (text: string) => void;
  /** What is looked for: lengths of windows, the block's among them when there are blocks. */
  readonly lengths: () => readonly number[];
  readonly hasEntries: () => boolean;
  readonly bytes: () => number;
  /** A reader at the beginning of a stream. */
  readonly reader: () => BlockReader;
};

export type BlockReader = {
  /** Reads letters; calls `found` for each matching window, with the count of letters at its end. */
  readonly read: (bytes: Uint8Array, from: number, to: number, found: (end: number, length: number) => void) => void;
  /** Discards the letters read so far. */
  readonly reset: () => void;
  /** Letters at the end that may belong to a text which the stream completes. */
  readonly unfinished: () => number;
  readonly copy: () => BlockReader;
};

const PARTS = 64;
const FIRST_SLOTS = 64;

type Part = { slots: Int32Array; size: number; used: number };

/** The pairs of hashes, and what both hashes are computed with. */
type Table = {
  readonly factors: readonly [number, number];
  readonly letters: readonly [Int32Array, Int32Array];
  /** Powers of the factors, which take a letter out of a hash. */
  readonly powers: readonly [Int32Array, Int32Array];
  readonly parts: readonly Part[];
  /** A check of the small table avoids most checks of the large one. */
  readonly filter: Int32Array;
  readonly filterMask: number;
  /** Of the windows. */
  readonly lengths: Set<number>;
};

export function createFingerprints(filterBits: number): Fingerprints {
  const table = createTable(filterBits);
  const { factors, letters, parts, filter, filterMask, lengths } = table;

  const addWindow = (text: string, from: number, length: number): void => {
    let [a, b] = [0, 0];
    for (let at = from; at < from + length; at += 1) {
      const letter = text.charCodeAt(at) & 255;
      a = (Math.imul(a, factors[0]) + (letters[0][letter] ?? 0)) | 0;
      b = (Math.imul(b, factors[1]) + (letters[1][letter] ?? 0)) | 0;
    }
    lengths.add(length);
    const key = mix(a + length);
    const bit = key & filterMask;
    filter[bit >>> 5] = (filter[bit >>> 5] ?? 0) | (1 << (bit & 31));
    insert(parts[key >>> 26] as Part, key, b === 0 && key === 0 ? 1 : b);
  };

  return {
    add: (text) => {
      if (text.length <= BLOCK) return addWindow(text, 0, text.length);
      for (let from = 0; from + BLOCK <= text.length; from += BLOCK) addWindow(text, from, BLOCK);
      addWindow(text, text.length - BLOCK, BLOCK);
    },
    lengths: () => [...lengths],
    hasEntries: () => lengths.size > 0,
    bytes: () => parts.reduce((sum, { slots }) => sum + slots.byteLength, filter.byteLength),
    reader: () =>
      createReader(table, { rings: [new Int32Array(32), new Int32Array(32)], a: 0, b: 0, count: 0, filled: 0 }),
  };
}

function createTable(filterBits: number): Table {
  const factors = [oddNumber(), oddNumber()] as const;
  return {
    factors,
    letters: [letterTable(), letterTable()],
    powers: [powersOf(factors[0]), powersOf(factors[1])],
    parts: Array.from({ length: PARTS }, (): Part => ({
      slots: new Int32Array(FIRST_SLOTS * 2),
      size: FIRST_SLOTS,
      used: 0,
    })),
    filter: new Int32Array(filterBits / 32),
    filterMask: filterBits - 1,
    lengths: new Set(),
  };
}

/** Both hashes after the last letter, and after each of the 32 letters before it. */
type ReaderState = {
  readonly rings: readonly [Int32Array, Int32Array];
  a: number;
  b: number;
  /** Letters read. */
  count: number;
  /** Letters read since the last reset. */
  filled: number;
};

/** The variables of the loop are constants and local variables: it runs for each letter of the output. */
function createReader(table: Table, state: ReaderState): BlockReader {
  const { parts, filter, filterMask } = table;
  const [ringA, ringB] = state.rings;
  const [factorA, factorB] = table.factors;
  const [lettersA, lettersB] = table.letters;
  const [powersA, powersB] = table.powers;
  const wanted = Int32Array.from(table.lengths).toSorted((one, other) => other - one);
  return {
    read: (bytes, from, to, found) => {
      let { a, b, count, filled } = state;
      for (let at = from; at < to; at += 1) {
        const letter = bytes[at] ?? 0;
        a = (Math.imul(a, factorA) + (lettersA[letter] ?? 0)) | 0;
        b = (Math.imul(b, factorB) + (lettersB[letter] ?? 0)) | 0;
        count += 1;
        filled += 1;
        ringA[count & 31] = a;
        ringB[count & 31] = b;
        for (let nth = 0; nth < wanted.length; nth += 1) {
          const length = wanted[nth] ?? 0;
          if (length > filled) continue;
          const before = (count - length) & 31;
          const power = powersA[length] ?? 0;
          const key = mix(((a - Math.imul(ringA[before] ?? 0, power)) | 0) + length);
          const bit = key & filterMask;
          if (((filter[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) continue;
          const second = (b - Math.imul(ringB[before] ?? 0, powersB[length] ?? 0)) | 0;
          if (!hasPair(parts, key, second === 0 && key === 0 ? 1 : second)) continue;
          found(count, length);
          break;
        }
      }
      Object.assign(state, { a, b, count, filled });
    },
    reset: () => {
      state.filled = 0;
    },
    unfinished: () => Math.min(state.filled, BLOCK - 1),
    copy: () => createReader(table, { ...state, rings: [ringA.slice(), ringB.slice()] }),
  };
}

function hasPair(parts: readonly Part[], key: number, b: number): boolean {
  const { slots, size } = parts[key >>> 26] as Part;
  for (let slot = slotOf(key, size); ; slot = slot + 1 === size ? 0 : slot + 1) {
    const [first = 0, second = 0] = [slots[slot * 2], slots[slot * 2 + 1]];
    if (first === key && second === b) return true;
    if (first === 0 && second === 0) return false;
  }
}

function insert(part: Part, key: number, b: number): void {
  if (part.used * 10 >= part.size * 7) grow(part);
  const { slots, size } = part;
  for (let slot = slotOf(key, size); ; slot = slot + 1 === size ? 0 : slot + 1) {
    if (slots[slot * 2] === key && slots[slot * 2 + 1] === b) return;
    if (slots[slot * 2] !== 0 || slots[slot * 2 + 1] !== 0) continue;
    slots[slot * 2] = key;
    slots[slot * 2 + 1] = b;
    part.used += 1;
    return;
  }
}

function grow(part: Part): void {
  const { slots } = part;
  part.size = Math.ceil(part.size * 1.5);
  part.slots = new Int32Array(part.size * 2);
  part.used = 0;
  for (let at = 0; at < slots.length; at += 2) {
    const [key = 0, b = 0] = [slots[at], slots[at + 1]];
    if (key !== 0 || b !== 0) insert(part, key, b);
  }
}

/** The upper bits choose the part, the others the slot. */
const slotOf = (key: number, size: number): number => ((key & 0x3ff_ffff) * 31) % size;

/** Spreads the bits (the last step of MurmurHash3). */
function mix(value: number): number {
  let h = value ^ (value >>> 16);
  h = Math.imul(h, 0x85eb_ca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2_ae35);
  return h ^ (h >>> 16);
}

const oddNumber = (): number => randomInt(2 ** 31) | 0x1000_0001;

function powersOf(factor: number): Int32Array {
  const powers = new Int32Array(BLOCK + 1).fill(1);
  for (let nth = 1; nth <= BLOCK; nth += 1) powers[nth] = Math.imul(powers[nth - 1] ?? 1, factor);
  return powers;
}

function letterTable(): Int32Array {
  const table = Int32Array.from({ length: 256 }, () => randomInt(2 ** 32) | 0);
  const same = (letter: string, as: string): void => {
    table[letter.charCodeAt(0)] = table[as.charCodeAt(0)] ?? 0;
  };
  for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXYZ") same(letter, letter.toLowerCase());
  same("-", "+");
  same("_", "/");
  return table;
}
