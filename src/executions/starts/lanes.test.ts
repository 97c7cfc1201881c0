import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createLanes } from "./lanes.ts";

/** Work that runs until `finish` is called. */
function pieces() {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  return {
    begun,
    work: (name: string) => async (): Promise<string> => {
      begun.push(name);
      const end = Promise.withResolvers<void>();
      ends.set(name, end);
      await end.promise;
      return name;
    },
    finish: (name: string): void => ends.get(name)?.resolve(),
    fail: (name: string, error: Error): void => ends.get(name)?.reject(error),
  };
}

test("work of one key waits for a place, in order; other keys do not wait", async () => {
  const inLane = createLanes({ most: 2, waitMs: 60_000 });
  const { begun, work, finish, fail } = pieces();
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => inLane("one", work(name)));
  const other = inLane("two", work("other"));
  assert.deepEqual(begun, ["a", "b", "other"]);
  finish("b");
  assert.equal(await b, "b");
  await turn();
  assert.deepEqual(begun, ["a", "b", "other", "c"]);
  // Failed work gives its place back, too.
  const boom = new Error("boom");
  fail("a", boom);
  await assert.rejects(a ?? assert.fail(), boom);
  await turn();
  assert.deepEqual(begun, ["a", "b", "other", "c", "d"]);
  for (const name of ["c", "d", "other"]) finish(name);
  assert.deepEqual(await Promise.all([c, d, other]), ["c", "d", "other"]);
});

test("work that waits too long is refused as busy, and its place goes to the next", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const inLane = createLanes({ most: 1, waitMs: 1_000 });
  const { begun, work, finish } = pieces();
  const first = inLane("one", work("first"));
  const late = inLane("one", work("late"));
  t.mock.timers.tick(500);
  const next = inLane("one", work("next"));
  t.mock.timers.tick(500);
  await assert.rejects(late, { code: "db.busy", status: 503 });
  finish("first");
  await first;
  await turn();
  assert.deepEqual(begun, ["first", "next"]);
  finish("next");
  await next;
});
