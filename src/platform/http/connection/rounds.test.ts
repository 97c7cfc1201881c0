/** Work of one round of the event loop, and turns of what waits for the next ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asUnauthenticated, currentShare } from "../../db/pool/budget.ts";
import { createRounds } from "./rounds.ts";

/** Rounds of two milliseconds in which each work takes one, until `all` works have run. */
function rounds(all: number) {
  let now = 0;
  const inRound = createRounds(2, () => now);
  const order: string[] = [];
  const done = Promise.withResolvers<void>();
  const add = (group: string, work = (): void => undefined): void =>
    inRound(
      () => group,
      () => {
        order.push(group);
        work();
        now += 1;
        if (order.length === all) done.resolve();
      },
    );
  return { add, order, done: done.promise, pass: (ms: number) => void (now += ms) };
}

test("work of a round that has time runs at once; further work waits, and groups take turns", async () => {
  const { add, order, done } = rounds(7);
  for (const group of ["a", "a", "a", "a", "a", "b", "c"]) add(group);
  assert.deepEqual(order, ["a", "a"]);
  await done;
  assert.deepEqual(order, ["a", "a", "a", "b", "c", "a", "a"]);
});

test("a round ends when its time is over, and others are served between two rounds", async () => {
  const { add, order } = rounds(6);
  const between: number[] = [];
  const looked = Promise.withResolvers<void>();
  const look = (): void => {
    between.push(order.length);
    if (order.length < 6) setImmediate(look);
    else looked.resolve();
  };
  for (let nth = 0; nth < 6; nth += 1) add("a");
  setImmediate(look);
  await looked.promise;
  assert.deepEqual(between, [4, 6]);
});

test("the time of promises that a work settles counts", async () => {
  const { add, order, done, pass } = rounds(4);
  add("a");
  add("a");
  add("a", () => void Promise.resolve().then(async () => pass(5)));
  add("a");
  const counts: number[] = [];
  setImmediate(() => counts.push(order.length));
  await done;
  // Without that time, the second round would have begun both.
  assert.deepEqual(counts, [3]);
});

test("work that waits has no share of the work that was first", async () => {
  const { add, done } = rounds(3);
  const shares: unknown[] = [];
  asUnauthenticated({ clientAddress: "192.0.2.1" }, () => {
    add("a");
    add("a");
  });
  add("b", () => shares.push(currentShare()));
  await done;
  assert.deepEqual(shares, [undefined]);
});
