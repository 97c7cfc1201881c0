import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDate, formatExactTime, formatRelative } from "./time.ts";

const NOW = Date.UTC(2026, 2, 4, 13, 5, 9);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test("a relative time has one unit, and is a date beyond 30 days", () => {
  for (const [age, expected] of [
    [0, "just now"],
    [4_999, "just now"],
    [-4_999, "just now"],
    [12 * SECOND, "12s ago"],
    [MINUTE - 1, "59s ago"],
    [MINUTE, "1m ago"],
    [HOUR - 1, "59m ago"],
    [DAY - 1, "23h ago"],
    [30 * DAY - 1, "29d ago"],
    [30 * DAY, "2 Feb 2026"],
    [-3 * HOUR, "in 3h"],
    [-31 * DAY, "4 Apr 2026"],
  ] as const)
    assert.equal(formatRelative(NOW - age, NOW, "UTC"), expected, String(age));
});

test("dates and exact times are those of the time zone", () => {
  assert.equal(formatExactTime(NOW, "Europe/Berlin"), "4 Mar 2026, 14:05:09 CET");
  assert.equal(formatExactTime(NOW, "UTC"), "4 Mar 2026, 13:05:09 UTC");
  assert.equal(formatDate(Date.UTC(2026, 2, 4, 23, 30), "Europe/Berlin"), "5 Mar 2026");
});

test("a time that is no time does not break the page", () => {
  assert.equal(formatExactTime(Number.NaN), "unknown");
  assert.equal(formatDate(Number.POSITIVE_INFINITY), "unknown");
});
