import assert from "node:assert/strict";
import { test } from "node:test";
import { deadlineOf, isTime, isTimeZone } from "./deadline.ts";

const ROWS = [
  ["2026-07-03 10:08 AM", "UTC", "2026-07-03T10:08:00.000Z"],
  ["2026-07-03 12:00 AM", "UTC", "2026-07-03T00:00:00.000Z"],
  ["2026-07-03 12:30 PM", "UTC", "2026-07-03T12:30:00.000Z"],
  ["2026-07-03 10:08 PM", "Europe/Berlin", "2026-07-03T20:08:00.000Z"],
  ["2026-01-03 10:08 PM", "Asia/Calcutta", "2026-01-03T16:38:00.000Z"],
  // The clocks skip this hour, and show the next one twice.
  ["2026-03-29 02:30 AM", "Europe/Berlin", "2026-03-29T01:30:00.000Z"],
  ["2026-10-25 02:30 AM", "Europe/Berlin", "2026-10-25T00:30:00.000Z"],
] as const;

for (const [time, timeZone, at] of ROWS)
  test(`${time} in ${timeZone} is ${at}`, () =>
    assert.equal(new Date(deadlineOf({ time, timeZone })).toISOString(), at));

test("other texts are no times and no time zones", () => {
  for (const text of [
    "2026-02-30 10:00 AM",
    "2026-07-03 13:00 PM",
    "2026-07-03 00:10 AM",
    "2026-07-03 10:08",
    "tomorrow",
  ])
    assert.equal(isTime(text), false, text);
  for (const text of ["Europe/Nowhere", "", "<+input>"]) assert.equal(isTimeZone(text), false, text);
});
