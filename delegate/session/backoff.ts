const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/**
 * Milliseconds to wait before the next attempt to connect: doubling, and random in
 * the upper half, so that not all delegates of a restarted server connect at once. `failures` counts from 1, `chance`
 * is in [0, 1).
 */
export function backoffMs(failures: number, chance: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return Math.round(full / 2 + (full / 2) * chance);
}
