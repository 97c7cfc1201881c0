/**
 * Arithmetic of the period in which a token is valid: of new, changed and rotated tokens. Pure functions: the caller
 * passes the time. All times are epoch milliseconds, and both ends are inside the period.
 */
import { BEYOND_DATES, LAST_MOMENT } from "../../platform/document/moments.ts";

export type Period = {
  readonly validFrom: number;
  /** Null: no end. */
  readonly validTo: number | null;
  /** An earlier end, set by a rotation or by a request; null: none. */
  readonly scheduledEnd: number | null;
};

/** The requested period of a token; undefined for omitted fields. */
export type RequestedPeriod = {
  readonly validFrom?: number | undefined;
  readonly validTo?: number | undefined;
  readonly scheduledEnd?: number | undefined;
};

export const MOMENT =
  "takes a date as mm/dd/yyyy, which means the whole of that day in UTC, or a moment in epoch milliseconds";

const DAY_MS = 86_400_000;
const DATE = /^(\d{2})\/(\d{2})\/(\d{4})$/;

/**
 * Reads a date as mm/dd/yyyy, at its first or its last millisecond (UTC), or epoch milliseconds. Undefined for other
 * input.
 */
export function readMoment(given: string | number, edge: "first" | "last"): number | undefined {
  if (typeof given === "number") return isMoment(given) ? given : undefined;
  if (/^\d{1,16}$/.test(given)) return readMoment(Number(given), edge);
  const [, month, day, year] = (DATE.exec(given) ?? []).map(Number);
  if (month === undefined || day === undefined || year === undefined) return undefined;
  const first = Date.UTC(year, month - 1, day);
  // Date would read 02/30 as a day in March, and the years 0 to 99 as others.
  const read = new Date(first);
  if (read.getUTCFullYear() !== year || read.getUTCMonth() !== month - 1 || read.getUTCDate() !== day) return undefined;
  return edge === "first" ? first : first + DAY_MS - 1;
}

/** Why `readMoment` refuses the input, as text after the name of the field. */
export function momentFault(given: string | number): string {
  const isNumber = typeof given === "number" || /^\d+$/.test(given);
  return isNumber && Number(given) > LAST_MOMENT ? BEYOND_DATES : MOMENT;
}

const isMoment = (at: number): boolean => Number.isSafeInteger(at) && at >= 0 && at <= LAST_MOMENT;

/** The earlier of both ends; undefined without one. */
export function endOf({ validTo, scheduledEnd }: Pick<Period, "validTo" | "scheduledEnd">): number | undefined {
  const ends = [validTo, scheduledEnd].filter((end): end is number => end !== null);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** Whether `one` is valid at a time when `other` is not. Such an extension counts as granting a new token. */
export const reachesBeyond = (one: Period, other: Period): boolean =>
  one.validFrom < other.validFrom || (endOf(one) ?? Infinity) > (endOf(other) ?? Infinity);

export type TokenState = "valid" | "not yet" | "expired";

/** The state of a token with this period at a time. */
export function stateAt(period: Period, now: number): TokenState {
  const end = endOf(period);
  if (end !== undefined && now > end) return "expired";
  return now < period.validFrom ? "not yet" : "valid";
}

/** An invalid period. `message` follows the name of the field. */
type Fault = { readonly field: "validFrom" | "validTo" | "scheduledExpireTime"; readonly message: string };

/** The period of a new token: from now, for the default lifetime of its key, unless the request says otherwise. */
export function periodOfNew(requested: RequestedPeriod, defaultMs: number | null, now: number): Period | Fault {
  const validFrom = requested.validFrom ?? now;
  const usual = defaultMs === null ? null : Math.min(validFrom + defaultMs, LAST_MOMENT);
  return checked(
    { validFrom, validTo: requested.validTo ?? usual, scheduledEnd: requested.scheduledEnd ?? null },
    requested,
    now,
  );
}

/**
 * The period of a changed token. Omitted fields stay. A scheduled end can only move closer: it limits the life of a
 * rotated token.
 */
export function periodOfChanged(requested: RequestedPeriod, former: Period, now: number): Period | Fault {
  if (
    former.scheduledEnd !== null &&
    requested.scheduledEnd !== undefined &&
    requested.scheduledEnd > former.scheduledEnd
  )
    return { field: "scheduledExpireTime", message: "may come nearer, but not be put off" };
  const period = {
    validFrom: requested.validFrom ?? former.validFrom,
    validTo: requested.validTo ?? former.validTo,
    scheduledEnd: requested.scheduledEnd ?? former.scheduledEnd,
  };
  return checked(period, without(requested, former), now);
}

/** The requested fields that differ from the stored ones: a client may send back what it has read. */
const without = (requested: RequestedPeriod, former: Period): RequestedPeriod => ({
  validFrom: requested.validFrom === former.validFrom ? undefined : requested.validFrom,
  validTo: requested.validTo === former.validTo ? undefined : requested.validTo,
  scheduledEnd: requested.scheduledEnd === former.scheduledEnd ? undefined : requested.scheduledEnd,
});

function checked(period: Period, requested: RequestedPeriod, now: number): Period | Fault {
  if (requested.validTo !== undefined && requested.validTo < now)
    return { field: "validTo", message: "lies in the past" };
  if (requested.scheduledEnd !== undefined && requested.scheduledEnd < now)
    return { field: "scheduledExpireTime", message: "lies in the past" };
  const end = endOf(period);
  if (end !== undefined && end < period.validFrom)
    return { field: "validFrom", message: "lies behind the end of the token" };
  return period;
}

/** The longest time in milliseconds that a rotated token stays valid. */
export const MAX_OVERLAP_MS = 90 * DAY_MS;

export type Rotated = {
  /** The end of the old token; never later than its end before the rotation. */
  readonly oldEnd: number;
  readonly period: Period;
};

type Rotation = {
  readonly until: number | undefined;
  /** The default lifetime of the key's tokens; null for no end. */
  readonly defaultMs: number | null;
  readonly now: number;
};

/**
 * The periods after a rotation. The old token ends at `until`, or at once if that is missing or past. The new one
 * begins now and lives as long as the old one was meant to from its start. Undefined if `until` is too far in the
 * future.
 */
export function rotatePeriod(former: Period, { until, defaultMs, now }: Rotation): Rotated | undefined {
  // Both ends are inside a period, so a token that ends now has its end a millisecond ago.
  const requested = until !== undefined && until > now ? until : now - 1;
  if (requested > now + MAX_OVERLAP_MS) return undefined;
  const validFrom = Math.max(now, former.validFrom);
  const lifetime = former.validTo === null ? defaultMs : former.validTo - former.validFrom;
  const validTo = lifetime === null ? null : Math.min(validFrom + lifetime, LAST_MOMENT);
  return {
    oldEnd: Math.min(requested, endOf(former) ?? requested),
    period: { validFrom, validTo, scheduledEnd: null },
  };
}
