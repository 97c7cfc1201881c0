import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  endOf,
  MAX_OVERLAP_MS,
  MOMENT,
  momentFault,
  periodOfChanged,
  periodOfNew,
  readMoment,
  rotatePeriod,
  stateAt,
  type Period,
} from "./token-period.ts";

const NOW = Date.parse("2027-03-04T05:06:07.008Z");
const DAY = 86_400_000;

test("a date is the whole day in UTC, in every time zone of the server", () => {
  const last = Date.parse("2027-12-31T23:59:59.999Z");
  assert.equal(readMoment("12/31/2027", "last"), last);
  assert.equal(readMoment("12/31/2027", "first"), Date.parse("2027-12-31T00:00:00.000Z"));
  assert.equal(readMoment("02/29/2028", "last"), Date.parse("2028-02-29T23:59:59.999Z"));
  const period = { validFrom: NOW, validTo: last, scheduledEnd: null };
  assert.equal(stateAt(period, last), "valid", "the last millisecond of the day");
  assert.equal(stateAt(period, last + 1), "expired", "the first one of the next");
  assert.equal(stateAt(period, NOW - 1), "not yet");
});

test("epoch milliseconds, as a number and as a text", () => {
  assert.equal(readMoment(1_900_000_000_000, "last"), 1_900_000_000_000);
  assert.equal(readMoment("1900000000000", "last"), 1_900_000_000_000);
  assert.equal(readMoment(8_640_000_000_000_000, "last"), 8_640_000_000_000_000);
});

test("an invalid date or number is refused", () => {
  const texts = [
    "",
    " ",
    "x",
    "31/12/2027",
    "12-31-2027",
    "2027-12-31",
    "12/31/27",
    "1/5/2027",
    "12/31/2027 ",
    "13/01/2027",
  ];
  const days = ["00/10/2027", "02/30/2027", "02/29/2027", "04/31/2027", "12/32/2027", "12/00/2027", "01/01/0050"];
  for (const text of [...texts, ...days, "1e12", "0x10", "-1", "+1", "1.5", "9".repeat(16), "١٢/٣١/٢٠٢٧"])
    assert.equal(readMoment(text, "last"), undefined, text);
  for (const number of [-1, 1.5, NaN, Infinity, -0.1, 8_640_000_000_000_001, 2 ** 60])
    assert.equal(readMoment(number, "last"), undefined, `${number}`);
});

test("a number beyond all dates has its own message", () => {
  const beyond = "is beyond the range of dates: the last moment is 8640000000000000, in epoch milliseconds";
  for (const given of [8_640_000_000_000_001, 1e20, "8640000000000001", "9".repeat(32)])
    assert.equal(momentFault(given), beyond);
  for (const given of [-1, 1.5, "1e20", "2027-12-31", "12/31/99999", "02/30/2027", ""])
    assert.equal(momentFault(given), MOMENT);
});

test("property: each existing day reads as its first and its last millisecond, and no other text reads as a day", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date("1970-01-01"), max: new Date("9999-12-31"), noInvalidDate: true }), (date) => {
      const [year = "", month = "", day = ""] = date.toISOString().slice(0, 10).split("-");
      const start = Date.parse(`${year}-${month}-${day}T00:00:00.000Z`);
      assert.equal(readMoment(`${month}/${day}/${year}`, "first"), start);
      assert.equal(readMoment(`${month}/${day}/${year}`, "last"), start + DAY - 1);
    }),
  );
});

test("a new token has no end unless it or its key has one", () => {
  assert.deepEqual(periodOfNew({}, null, NOW), { validFrom: NOW, validTo: null, scheduledEnd: null });
  assert.deepEqual(periodOfNew({}, DAY, NOW), { validFrom: NOW, validTo: NOW + DAY, scheduledEnd: null });
  assert.deepEqual(periodOfNew({ validFrom: NOW + 5 }, DAY, NOW), {
    validFrom: NOW + 5,
    validTo: NOW + 5 + DAY,
    scheduledEnd: null,
  });
  const own = { validTo: NOW + 7, scheduledEnd: NOW + 5 };
  assert.deepEqual(periodOfNew(own, DAY, NOW), { validFrom: NOW, ...own });
  assert.equal(endOf({ validTo: NOW + 7, scheduledEnd: NOW + 5 }), NOW + 5);
  assert.equal(endOf({ validTo: null, scheduledEnd: null }), undefined);
});

test("an end in the past, and a start after the end, are refused by the name of their field", () => {
  const fields = (asked: Parameters<typeof periodOfNew>[0]): unknown => {
    const period = periodOfNew(asked, null, NOW);
    return "field" in period ? `${period.field} ${period.message}` : period;
  };
  assert.equal(fields({ validTo: NOW - 1 }), "validTo lies in the past");
  // Seconds instead of milliseconds.
  assert.equal(fields({ validTo: Math.floor((NOW + DAY) / 1_000) }), "validTo lies in the past");
  assert.equal(fields({ scheduledEnd: NOW - 1 }), "scheduledExpireTime lies in the past");
  assert.equal(fields({ validFrom: NOW + 2, validTo: NOW + 1 }), "validFrom lies behind the end of the token");
});

test("a change keeps omitted fields, and a scheduled end can only move closer", () => {
  const former: Period = { validFrom: NOW - DAY, validTo: NOW + DAY, scheduledEnd: NOW + 100 };
  assert.deepEqual(periodOfChanged({}, former, NOW), former);
  assert.deepEqual(periodOfChanged({ validTo: NOW + DAY, scheduledEnd: NOW + 50 }, former, NOW), {
    ...former,
    scheduledEnd: NOW + 50,
  });
  assert.deepEqual(periodOfChanged({ scheduledEnd: NOW + 101 }, former, NOW), {
    field: "scheduledExpireTime",
    message: "may come nearer, but not be put off",
  });
  assert.deepEqual(periodOfChanged({ validTo: NOW + 2 * DAY }, former, NOW), { ...former, validTo: NOW + 2 * DAY });
  assert.equal(endOf({ ...former, validTo: NOW + 2 * DAY }), NOW + 100, "the old text of a rotation does not live on");
});

test("a rotation: the new token lives as long as the old one was meant to, the old one until the given time", () => {
  const former: Period = { validFrom: NOW - DAY, validTo: NOW + 9 * DAY, scheduledEnd: null };
  assert.deepEqual(rotatePeriod(former, { until: NOW + DAY, defaultMs: null, now: NOW }), {
    oldEnd: NOW + DAY,
    period: { validFrom: NOW, validTo: NOW + 10 * DAY, scheduledEnd: null },
  });
  const endless = { ...former, validTo: null };
  assert.equal(rotatePeriod(endless, { until: NOW + DAY, defaultMs: null, now: NOW })?.period.validTo, null);
  assert.equal(
    rotatePeriod(endless, { until: NOW + DAY, defaultMs: DAY, now: NOW })?.period.validTo,
    NOW + DAY,
    "as its key says",
  );
  for (const past of [undefined, 0, NOW - 1, NOW])
    assert.equal(
      stateAt(
        { ...endless, scheduledEnd: rotatePeriod(endless, { until: past, defaultMs: null, now: NOW })?.oldEnd ?? null },
        NOW,
      ),
      "expired",
    );
});

test("property: after every sequence of rotations an old token ends, and never later than before", () => {
  const moment = fc.option(fc.integer({ min: 0, max: NOW + 400 * DAY }), { nil: undefined });
  const end = fc.option(fc.integer({ min: NOW, max: NOW + 400 * DAY }), { nil: null });
  fc.assert(
    fc.property(
      end,
      end,
      moment,
      fc.option(fc.integer({ min: 1, max: DAY }), { nil: null }),
      (validTo, scheduledEnd, until, usual) => {
        const former = { validFrom: NOW - DAY, validTo, scheduledEnd };
        const rotated = rotatePeriod(former, { until, defaultMs: usual, now: NOW });
        if (!rotated) return assert.ok((until ?? 0) > NOW + MAX_OVERLAP_MS);
        const old = { ...former, scheduledEnd: rotated.oldEnd };
        assert.ok((endOf(old) ?? Infinity) <= NOW + MAX_OVERLAP_MS);
        assert.ok((endOf(old) ?? Infinity) <= (endOf(former) ?? Infinity));
        assert.equal(stateAt(rotated.period, NOW), "valid");
      },
    ),
  );
});
