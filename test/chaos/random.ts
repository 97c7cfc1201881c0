/** Random choices from a seed: the same seed gives the same plan of faults and the same load. */

export type Random = {
  /** Returns a number from 0 up to, but not including, 1. */
  readonly fraction: () => number;
  /** Returns an integer from `low` to `high`, both included. */
  readonly between: (low: number, high: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
  readonly shuffle: <T>(from: readonly T[]) => T[];
  /** Returns one of the keys. Its weight is its relative frequency. */
  readonly weighted: <K extends string>(weights: Readonly<Record<K, number>>) => K;
};

/** The generator "mulberry32" with 32 bits of state: sufficient for a plan of faults, unsuitable for secrets. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(fraction() * (high - low + 1));
  const pick = <T>(from: readonly T[]): T => from[between(0, from.length - 1)] as T;
  return {
    fraction,
    between,
    pick,
    shuffle: (from) => {
      const left = [...from];
      return from.map(() => left.splice(between(0, left.length - 1), 1)[0] as (typeof from)[number]);
    },
    weighted: <K extends string>(weights: Readonly<Record<K, number>>): K => {
      const entries = Object.entries<number>(weights) as [K, number][];
      let left = fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) if ((left -= weight) < 0) return key;
      throw new Error("All weights are zero.");
    },
  };
}
