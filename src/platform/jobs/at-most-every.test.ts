import assert from "node:assert/strict";
import { test } from "node:test";
import { atMostEvery } from "./at-most-every.ts";

test("work runs at the first call, and again after its interval", async () => {
  let [elapsed, runs] = [5, 0];
  const run = atMostEvery(10, { elapsed: () => elapsed }, async () => void (runs += 1));
  const counts: number[] = [];
  for (const at of [5, 14, 15, 24, 40]) {
    elapsed = at;
    await run();
    counts.push(runs);
  }
  assert.deepEqual(counts, [1, 1, 2, 2, 3]);
});
