/** The time of a scheduled approval, as in `2026-07-03 10:08 AM` in a time zone of the IANA database. */

export const TIME_FORM = "A time is written like 2026-07-03 10:08 AM";

const TIME = /^(\d{4})-(\d{2})-(\d{2}) (0[1-9]|1[0-2]):([0-5]\d) (AM|PM)$/;

/** Undefined if the text is no time. */
function localTime(text: string): Temporal.PlainDateTime | undefined {
  const [, year, month, day, hour, minute, half] = TIME.exec(text) ?? [];
  if (half === undefined) return undefined;
  const fields = { year: Number(year), month: Number(month), day: Number(day), minute: Number(minute) };
  const hours = (Number(hour) % 12) + (half === "PM" ? 12 : 0);
  try {
    return Temporal.PlainDateTime.from({ ...fields, hour: hours }, { overflow: "reject" });
  } catch {
    return undefined;
  }
}

export const isTime = (text: string): boolean => localTime(text) !== undefined;

export function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** Epoch milliseconds. Of a time that the clocks show twice the first; one that they skip is moved on. */
export function deadlineOf({ time, timeZone }: { readonly time: string; readonly timeZone: string }): number {
  const local = localTime(time);
  if (!local) throw new Error(`the time ${time} was not checked`);
  return local.toZonedDateTime(timeZone).epochMilliseconds;
}
