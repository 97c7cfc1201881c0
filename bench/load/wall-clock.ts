/**
 * Returns a clock for the time of day in milliseconds, with the precision of Bash's EPOCHREALTIME, which `Date.now()`
 * lacks. It is the monotonic clock with an offset, taken at a change of the `Date.now()` millisecond. The kernel slews
 * both clocks equally, so the offset is valid for one benchmark.
 */
export function createWallClock(): () => number {
  const before = Date.now();
  let now = before;
  let monotonic = performance.now();
  while (now === before) {
    now = Date.now();
    monotonic = performance.now();
  }
  const offset = now - monotonic;
  return () => offset + performance.now();
}

/** Converts the output of `$EPOCHREALTIME` (seconds, with `.` or `,`) to milliseconds. */
export function millisecondsOf(epochRealtime: string): number {
  const value = Number(epochRealtime.trim().replace(",", ".")) * 1_000;
  if (!(value > 1e12)) throw new Error(`'${epochRealtime.trim()}' is not a time that Bash printed`);
  return value;
}
