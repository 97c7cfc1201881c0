/**
 * Dates and times as texts in UTC: `2026-11-23` and `2026-11-23T16:09:53Z`. The time is that of the evaluation, which
 * the scope gives; the engine has no clock.
 */
import { ExpressionError } from "../error.ts";
import { formatDate } from "./date-format.ts";
import { type Call, type FunctionRow, row, subject, textArgument, wholeArgument } from "./row.ts";

const DAY = 86_400_000;
/** Ten thousand years in each direction. */
const MOST_DAYS = 3_652_500;

export const DATE_FUNCTIONS: readonly FunctionRow[] = [
  row("datetime.currentDate()", "The date of the evaluation, in UTC. Brackets may be left out.", {
    example: "<+datetime.currentDate()>",
    result: "2026-11-23",
    run: (call) => isoDate(now(call)),
  }),
  row("datetime.currentTime()", "Date and time of the evaluation, in UTC.", {
    example: "<+datetime.currentTime()>",
    result: "2026-11-23T16:09:53Z",
    run: (call) => isoTime(now(call)),
  }),
];

export const DATE_METHODS: readonly FunctionRow[] = [
  row("plusDays(count)", "A date or time so many days later; less than 0 for earlier ones.", {
    example: "<+datetime.currentDate().plusDays(8)>",
    result: "2026-12-01",
    run: (call) => moved(call, DAY),
  }),
  row("plusMonths(count)", "So many months later, at the month's last day at most.", {
    example: '<+"2026-01-31".plusMonths(1)>',
    result: "2026-02-28",
    run: (call) => movedByMonths(call, 1),
  }),
  row("plusYears(count)", "So many years later.", {
    example: "<+datetime.currentDate().plusYears(-1)>",
    result: "2025-11-23",
    run: (call) => movedByMonths(call, 12),
  }),
  row("plusHours(count)", "A time so many hours later.", {
    example: '<+"2026-11-23T16:09:53Z".plusHours(12)>',
    result: "2026-11-24T04:09:53Z",
    run: (call) => moved(call, 3_600_000),
  }),
  row("plusMinutes(count)", "A time so many minutes later.", {
    example: '<+"2026-11-23T16:09:53Z".plusMinutes(-10)>',
    result: "2026-11-23T15:59:53Z",
    run: (call) => moved(call, 60_000),
  }),
  row("format(pattern)", "A date or time in the letters of Java: `y M d E H h m s a X`, other text in `'…'`.", {
    example: '<+datetime.currentTime().format("yyyy-MM-dd HH:mm")>',
    result: "2026-11-23 16:09",
    run: (call) => {
      const { ms, hasTime } = dateOf(call);
      return formatDate(textArgument(call, 0), { ms, hasTime, at: call.at });
    },
  }),
];

function now({ now: ms, at }: Call): number {
  if (ms !== undefined) return ms;
  throw new ExpressionError("unresolved", "there is no time here", at);
}

const isoTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
const isoDate = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

type Instant = { readonly ms: number; readonly hasTime: boolean };

/** The date or time before the dot. */
function dateOf(call: Call): Instant {
  const text = subject(call);
  const hasTime = text.length > 10;
  const isShaped = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?$/.test(text.slice(0, 21));
  const ms = isShaped && text.length <= 20 ? Date.parse(hasTime ? text : `${text}T00:00:00Z`) : Number.NaN;
  // The runtime takes the 31st of each month for a date, and the first of the next one for its meaning.
  if (Number.isNaN(ms) || (hasTime ? isoTime(ms) : isoDate(ms)) !== text) {
    throw new ExpressionError(
      "type",
      `${call.name}() needs a date such as 2026-11-23 or a time such as 2026-11-23T16:09:53Z`,
      call.at,
    );
  }
  return { ms, hasTime };
}

function moved(call: Call, unit: number): string {
  const { ms, hasTime } = dateOf(call);
  if (!hasTime && unit < DAY) throw new ExpressionError("type", `${call.name}() needs a time, not a date`, call.at);
  const most = Math.floor((MOST_DAYS * DAY) / unit);
  return written(call, { ms: ms + wholeArgument(call, 0, { least: -most, most }) * unit, hasTime });
}

function movedByMonths(call: Call, unit: number): string {
  const { ms, hasTime } = dateOf(call);
  const months = wholeArgument(call, 0, { least: -120_000, most: 120_000 }) * unit;
  const date = new Date(ms);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  // The day 0 of the next month is the last one of this month.
  const last = new Date(date);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  date.setUTCDate(Math.min(day, last.getUTCDate()));
  return written(call, { ms: date.getTime(), hasTime });
}

function written({ name, at }: Call, { ms, hasTime }: Instant): string {
  const year = new Date(ms).getUTCFullYear();
  if (!(year >= 1 && year <= 9999)) {
    throw new ExpressionError("type", `${name}() leaves the years 1 to 9999`, at);
  }
  return hasTime ? isoTime(ms) : isoDate(ms);
}
