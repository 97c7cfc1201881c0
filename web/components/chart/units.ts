import { formatDuration } from "../../util/duration.ts";

/** Durations are milliseconds; shares are between 0 and 1. */
export type Unit = "count" | "duration" | "share";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Distances between the lines of the grid that give round numbers. */
const DURATIONS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100].map((days) => days * DAY),
];
const COUNTS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
const SHARES = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5];

export function incrementsOf(unit: Unit): readonly number[] {
  switch (unit) {
    case "count":
      return COUNTS;
    case "duration":
      return DURATIONS;
    case "share":
      return SHARES;
  }
}

export function formatValue(value: number, unit: Unit): string {
  switch (unit) {
    case "count":
      return value.toLocaleString("en-GB");
    case "duration":
      return value === 0 ? "0" : formatDuration(value);
    case "share":
      return `${Math.round(value * 100)}%`;
  }
}
