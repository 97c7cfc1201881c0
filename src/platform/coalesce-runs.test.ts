import assert from "node:assert/strict";
import { test } from "node:test";
import { coalesceRuns } from "./coalesce-runs.ts";

/** Runs that end when a test says so. */
function kit() {
  const open: PromiseWithResolvers<void>[] = [];
  const look = coalesceRuns(() => {
    const run = Promise.withResolvers<void>();
    open.push(run);
    return run.promise;
  });
  return { open, look };
}

test("however many ask while one is under way, one more follows it, and all wait for that", async () => {
  const { open, look } = kit();
  const asked = [look(), look(), look()];
  assert.equal(open.length, 1);
  let ended = false;
  void Promise.all(asked).then(() => (ended = true));
  open[0]?.resolve();
  await new Promise(setImmediate);
  assert.deepEqual([open.length, ended], [2, false]);
  open[1]?.resolve();
  await Promise.all(asked);
  assert.equal(open.length, 2);
});

test("a failure is told to who asked, and the next one runs", async () => {
  const { open, look } = kit();
  const first = look();
  open[0]?.reject(new Error("no database"));
  await assert.rejects(first, /no database/);
  const second = look();
  assert.equal(open.length, 2);
  open[1]?.resolve();
  await second;
});
