const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** At most two units: 850ms, 12s, 3m 5s, 1h 4m, 2d 3h. */
export function formatDuration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < SECOND) return `${Math.floor(ms)}ms`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`;
  if (ms < HOUR) return pair(ms, [MINUTE, "m"], [SECOND, "s"]);
  if (ms < DAY) return pair(ms, [HOUR, "h"], [MINUTE, "m"]);
  return pair(ms, [DAY, "d"], [HOUR, "h"]);
}

type Unit = readonly [ms: number, sign: string];

function pair(ms: number, [large, largeSign]: Unit, [small, smallSign]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  const first = `${Math.floor(ms / large)}${largeSign}`;
  return rest === 0 ? first : `${first} ${rest}${smallSign}`;
}

/** A duration of HTML and ISO 8601: PT185.5S. */
export const isoDuration = (milliseconds: number): string => `PT${Math.max(0, milliseconds) / SECOND}S`;
