/** The days of a range in a time zone. */
import { problem } from "../problems.ts";

/** As long as a leap year. */
const MOST_DAYS = 366;

export type Day = {
  /** As in 2026-07-03. */
  readonly date: string;
  /** Epoch milliseconds. */
  readonly startTime: number;
  /** The start of the next day. */
  readonly endTime: number;
};

export type Range = { readonly startTime: number; readonly endTime: number; readonly timeZone: string };

/**
 * The days from that of `startTime` to that of `endTime`, both whole. A day may have 23 or 25 hours. Throws
 * `execution.bad_range`.
 */
export function daysOf(range: Range): readonly Day[] {
  if (range.startTime > range.endTime) throw problem("execution.bad_range", ["startTime is after endTime"]);
  try {
    return wholeDays(range);
  } catch (error) {
    if (error instanceof RangeError) throw problem("execution.bad_range", ["it ends with the last day of all dates"]);
    throw error;
  }
}

function wholeDays({ startTime, endTime, timeZone }: Range): readonly Day[] {
  const dateOf = (time: number): Temporal.PlainDate =>
    Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timeZone).toPlainDate();
  const first = dateOf(startTime);
  const count = first.until(dateOf(endTime), { largestUnit: "days" }).days + 1;
  if (count > MOST_DAYS)
    throw problem("execution.bad_range", [`it has ${count} days, and at most ${MOST_DAYS} are taken`]);
  const startOf = (nth: number): number => first.add({ days: nth }).toZonedDateTime(timeZone).epochMilliseconds;
  return Array.from({ length: count }, (_, nth) => ({
    date: first.add({ days: nth }).toString(),
    startTime: startOf(nth),
    endTime: startOf(nth + 1),
  }));
}
