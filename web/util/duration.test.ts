import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration, isoDuration } from "./duration.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test("a duration has at most two units", () => {
  for (const [ms, expected] of [
    [-5, "0ms"],
    [0, "0ms"],
    [850.7, "850ms"],
    [SECOND, "1s"],
    [MINUTE - 1, "59s"],
    [MINUTE, "1m"],
    [3 * MINUTE + 5 * SECOND, "3m 5s"],
    [HOUR - 1, "59m 59s"],
    [HOUR + 4 * MINUTE + 59 * SECOND, "1h 4m"],
    [DAY - 1, "23h 59m"],
    [2 * DAY + 3 * HOUR + 59 * MINUTE, "2d 3h"],
    [400 * DAY, "400d"],
  ] as const)
    assert.equal(formatDuration(ms), expected, String(ms));
});

test("the attribute of a time element has the whole duration", () => {
  assert.equal(isoDuration(185_500), "PT185.5S");
  assert.equal(isoDuration(-1), "PT0S");
});
