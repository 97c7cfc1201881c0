const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export const PRESETS: readonly { readonly value: string; readonly label: string; readonly ms: number }[] = [
  { value: "1h", label: "Last hour", ms: HOUR },
  { value: "24h", label: "Last 24 hours", ms: DAY },
  { value: "7d", label: "Last 7 days", ms: 7 * DAY },
  { value: "30d", label: "Last 30 days", ms: 30 * DAY },
];

type Range = { readonly startTime: number | null; readonly endTime: number | null };

/** The first and the last day of a range, each empty if it is open. Undefined if the text is none. */
export function daysOf(text: string): readonly [from: string, to: string] | undefined {
  const found = /^(\d{4}-\d\d-\d\d)?\.\.(\d{4}-\d\d-\d\d)?$/.exec(text);
  return found ? [found[1] ?? "", found[2] ?? ""] : undefined;
}

/** Milliseconds of the range in the reader's time zone. Undefined if the text is none. */
export function rangeOf(text: string, now: number): Range | undefined {
  const preset = PRESETS.find(({ value }) => value === text);
  if (preset) return { startTime: now - preset.ms, endTime: null };
  const days = daysOf(text);
  if (days === undefined) return undefined;
  const [from, to] = days;
  return { startTime: midnightOf(from), endTime: endOf(to) };
}

function midnightOf(day: string, added = 0): number | null {
  const [year, month, date] = day.split("-").map(Number);
  if (year === undefined || month === undefined || date === undefined) return null;
  return new Date(year, month - 1, date + added).valueOf();
}

function endOf(day: string): number | null {
  const next = midnightOf(day, 1);
  return next === null ? null : next - 1;
}

export function describeRange(text: string): string {
  const preset = PRESETS.find(({ value }) => value === text);
  if (preset) return preset.label;
  const [from, to] = daysOf(text) ?? ["", ""];
  if (from === "" && to === "") return text;
  if (from === "") return `until ${to}`;
  return to === "" ? `since ${from}` : `${from} to ${to}`;
}
