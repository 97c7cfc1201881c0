import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffMs } from "./backoff.ts";

test("waits begin short, double, and stop growing at five seconds", () => {
  const waits = [1, 2, 3, 6, 7, 8, 1000].map((failures) => backoffMs(failures, 0.999999));
  assert.deepEqual(waits, [100, 200, 400, 3200, 5000, 5000, 5000]);
});

test("chance spreads a wait over its upper half", () => {
  assert.equal(backoffMs(3, 0), 200);
  assert.equal(backoffMs(3, 0.5), 300);
});
