import { useMemo } from "react";
import type { Range } from "./home-search.ts";

const DAY_MS = 86_400_000;

/** Whole days of the browser's time zone, up to the end of today. The day of the end counts, too. */
export function rangeQuery(range: Range, today: Date) {
  const end = new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1);
  const start = new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1 - range);
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { startTime: start.getTime(), endTime: end.getTime() - 1, timeZone };
}

/** The same during a day, so that a page does not load its charts at each rendering. */
export function useRangeQuery(range: Range) {
  const day = Math.floor(Date.now() / DAY_MS);
  return useMemo(() => rangeQuery(range, new Date(Math.max(Date.now(), day * DAY_MS))), [range, day]);
}
