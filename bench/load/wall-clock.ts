/**
 * The time of day with the precision of Bash's EPOCHREALTIME, which `Date.now()`
 * lacks: the monotonic clock, set by watching for the moment at which the
 * millisecond of the day changes. Both are slewed alike, so that a set clock
 * holds for the length of a benchmark; each benchmark sets its own.
 */
export function setWallClock(): () => number {
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

/** What `$EPOCHREALTIME` printed (seconds, with `.` or `,`), in milliseconds. */
export function millisecondsOf(epochRealtime: string): number {
  const value = Number(epochRealtime.trim().replace(",", ".")) * 1_000;
  if (!(value > 1e12)) throw new Error(`'${epochRealtime.trim()}' is not a time that Bash printed`);
  return value;
}
