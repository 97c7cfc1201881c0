/** When a token holds. Pure: the clock is the caller's. All times are epoch milliseconds, and both ends belong to the period. */
import { BEYOND_DATES, LAST_MOMENT } from "../../platform/document/moments.ts";

export type Period = {
  readonly validFrom: number;
  /** Null: until it is revoked. */
  readonly validTo: number | null;
  /** An earlier end, set by a rotation or by hand; null: none. */
  readonly scheduledEnd: number | null;
};

/** What a request says about the period of a token; undefined for what it leaves open. */
export type AskedPeriod = {
  readonly validFrom?: number | undefined;
  readonly validTo?: number | undefined;
  readonly scheduledEnd?: number | undefined;
};

export const MOMENT =
  "takes a date as mm/dd/yyyy, which means the whole of that day in UTC, or a moment in epoch milliseconds";

const DAY_MS = 86_400_000;
const DATE = /^(\d{2})\/(\d{2})\/(\d{4})$/;

/** A date as mm/dd/yyyy, at its first or its last millisecond (UTC), or epoch milliseconds; undefined for anything else. */
export function readMoment(given: string | number, edge: "first" | "last"): number | undefined {
  if (typeof given === "number") return isMoment(given) ? given : undefined;
  if (/^\d{1,16}$/.test(given)) return readMoment(Number(given), edge);
  const [, month, day, year] = (DATE.exec(given) ?? []).map(Number);
  if (month === undefined || day === undefined || year === undefined) return undefined;
  const first = Date.UTC(year, month - 1, day);
  // 02/30 would be taken for a day in March, and the years 0 to 99 for others.
  const read = new Date(first);
  if (read.getUTCFullYear() !== year || read.getUTCMonth() !== month - 1 || read.getUTCDate() !== day) return undefined;
  return edge === "first" ? first : first + DAY_MS - 1;
}

/** Why `readMoment` reads none of it, in words that follow the name of the field. */
export function momentFault(given: string | number): string {
  const isNumber = typeof given === "number" || /^\d+$/.test(given);
  return isNumber && Number(given) > LAST_MOMENT ? BEYOND_DATES : MOMENT;
}

const isMoment = (at: number): boolean => Number.isSafeInteger(at) && at >= 0 && at <= LAST_MOMENT;

/** The end that comes first; undefined when there is none. */
export function endOf({ validTo, scheduledEnd }: Pick<Period, "validTo" | "scheduledEnd">): number | undefined {
  const ends = [validTo, scheduledEnd].filter((end): end is number => end !== null);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** Whether the one holds at a moment at which the other does not: a text that holds longer is another text given. */
export const reachesBeyond = (one: Period, other: Period): boolean =>
  one.validFrom < other.validFrom || (endOf(one) ?? Infinity) > (endOf(other) ?? Infinity);

export type Standing = "valid" | "not yet" | "expired";

/** How a token of this period stands at a moment. */
export function standingAt(period: Period, now: number): Standing {
  const end = endOf(period);
  if (end !== undefined && now > end) return "expired";
  return now < period.validFrom ? "not yet" : "valid";
}

/** What is wrong with a period, in words that follow the name of the field; undefined when nothing is. */
type Fault = { readonly field: "validFrom" | "validTo" | "scheduledExpireTime"; readonly message: string };

/** The period of a new token: from now, and as long as its key says, unless it says otherwise itself. */
export function periodOfNew(asked: AskedPeriod, defaultMs: number | null, now: number): Period | Fault {
  const validFrom = asked.validFrom ?? now;
  const usual = defaultMs === null ? null : Math.min(validFrom + defaultMs, LAST_MOMENT);
  return checked({ validFrom, validTo: asked.validTo ?? usual, scheduledEnd: asked.scheduledEnd ?? null }, asked, now);
}

/**
 * The period of a token that is changed: what is not asked for stays. A scheduled end comes nearer only: it is
 * what keeps the old text of a rotated token from living on.
 */
export function periodOfChanged(asked: AskedPeriod, former: Period, now: number): Period | Fault {
  if (former.scheduledEnd !== null && asked.scheduledEnd !== undefined && asked.scheduledEnd > former.scheduledEnd)
    return { field: "scheduledExpireTime", message: "may come nearer, but not be put off" };
  const period = {
    validFrom: asked.validFrom ?? former.validFrom,
    validTo: asked.validTo ?? former.validTo,
    scheduledEnd: asked.scheduledEnd ?? former.scheduledEnd,
  };
  return checked(period, without(asked, former), now);
}

/** What is asked for and is not so already: a client may send back what it has read. */
const without = (asked: AskedPeriod, former: Period): AskedPeriod => ({
  validFrom: asked.validFrom === former.validFrom ? undefined : asked.validFrom,
  validTo: asked.validTo === former.validTo ? undefined : asked.validTo,
  scheduledEnd: asked.scheduledEnd === former.scheduledEnd ? undefined : asked.scheduledEnd,
});

function checked(period: Period, asked: AskedPeriod, now: number): Period | Fault {
  if (asked.validTo !== undefined && asked.validTo < now) return { field: "validTo", message: "lies in the past" };
  if (asked.scheduledEnd !== undefined && asked.scheduledEnd < now)
    return { field: "scheduledExpireTime", message: "lies in the past" };
  const end = endOf(period);
  if (end !== undefined && end < period.validFrom)
    return { field: "validFrom", message: "lies behind the end of the token" };
  return period;
}

/** The old text of a rotated token may serve for this long at most: nobody waits for ever. */
export const MAX_OVERLAP_MS = 90 * DAY_MS;

export type Rotated = {
  /** When the old text ends; never later than it would have ended anyway. */
  readonly oldEnd: number;
  readonly period: Period;
};

/**
 * What a rotation makes of a token's period: the old text ends at `until` (at once when that is not given or past),
 * the new one begins now and lives as long as the old one was meant to from its beginning. Undefined when `until` is
 * too far away.
 */
export function rotatePeriod(
  former: Period,
  until: number | undefined,
  defaultMs: number | null,
  now: number,
): Rotated | undefined {
  // Both ends belong to a period: what ends at once has ended a millisecond ago.
  const asked = until !== undefined && until > now ? until : now - 1;
  if (asked > now + MAX_OVERLAP_MS) return undefined;
  const validFrom = Math.max(now, former.validFrom);
  const lifetime = former.validTo === null ? defaultMs : former.validTo - former.validFrom;
  const validTo = lifetime === null ? null : Math.min(validFrom + lifetime, LAST_MOMENT);
  return { oldEnd: Math.min(asked, endOf(former) ?? asked), period: { validFrom, validTo, scheduledEnd: null } };
}
