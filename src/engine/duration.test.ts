import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "./duration.ts";

const ROWS: readonly (readonly [text: string, ms: number | undefined])[] = [
  ["10s", 10_000],
  ["90s", 90_000],
  ["1m", 60_000],
  ["10m", 600_000],
  ["2h", 7_200_000],
  ["1d", 86_400_000],
  ["1w", 604_800_000],
  ["53w", 32_054_400_000],
  ["1h 30m", 5_400_000],
  ["1h30m", 5_400_000],
  ["1m 5s", 65_000],
  ["1w2d3h4m5s", 788_645_000],
  ["9s", undefined],
  ["5s", undefined],
  ["0m", undefined],
  ["010m", undefined],
  ["54w", undefined],
  ["99999999999999999999w", undefined],
  ["500ms", undefined],
  ["1h  30m", undefined],
  ["1h, 30m", undefined],
  ["30s 1m", undefined],
  ["1.5h", undefined],
  ["-1m", undefined],
  ["10", undefined],
  ["m", undefined],
  ["", undefined],
  [" 10m", undefined],
  ["10m\n", undefined],
  ["10M", undefined],
];

for (const [text, ms] of ROWS) {
  test(`the duration ${JSON.stringify(text)} is ${ms ?? "refused"}`, () => assert.equal(parseDuration(text), ms));
}
