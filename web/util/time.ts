const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Beyond it a date says more. */
const RELATIVE_DAYS = 30;

/** 12s ago, 5m ago, in 3h, 2d ago; a date beyond 30 days. The clocks of server and browser may differ by seconds. */
export function formatRelative(at: number, now: number, timeZone?: string): string {
  const age = Math.abs(now - at);
  if (age < 5 * SECOND) return "just now";
  if (age >= RELATIVE_DAYS * DAY) return formatDate(at, timeZone);
  const amount = amountOf(age);
  return at > now ? `in ${amount}` : `${amount} ago`;
}

function amountOf(age: number): string {
  if (age < MINUTE) return `${Math.floor(age / SECOND)}s`;
  if (age < HOUR) return `${Math.floor(age / MINUTE)}m`;
  if (age < DAY) return `${Math.floor(age / HOUR)}h`;
  return `${Math.floor(age / DAY)}d`;
}

/** 4 Mar 2026 */
export function formatDate(at: number, timeZone?: string): string {
  return format(at, { day: "numeric", month: "short", year: "numeric", timeZone });
}

/** 4 Mar 2026, 14:05:09 GMT+1 */
export function formatExactTime(at: number, timeZone?: string): string {
  return format(at, {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
    timeZone,
  });
}

type Options = Omit<Intl.DateTimeFormatOptions, "timeZone"> & { readonly timeZone: string | undefined };

/** The interface is in English, and so are its dates. The time zone is the reader's. */
function format(at: number, { timeZone, ...options }: Options): string {
  const date = new Date(at);
  if (Number.isNaN(date.valueOf())) return "unknown";
  return date.toLocaleString("en-GB", timeZone === undefined ? options : { ...options, timeZone });
}
