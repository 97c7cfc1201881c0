import assert from "node:assert/strict";
import { test } from "node:test";
import { hourly } from "./hourly.ts";

const HOUR_MS = 3_600_000;

/** A clock of which the test drives both times apart. */
const createClock = () => {
  const times = { now: 1_800_000_000_000, elapsed: 0 };
  return { times, clock: { now: () => times.now, elapsed: () => times.elapsed } };
};

test("a correction of the database's clock neither repeats nor delays the hourly run", async () => {
  const { times, clock } = createClock();
  let runs = 0;
  const run = hourly(clock, [async () => (runs += 1) > 0]);
  await run();
  assert.equal(runs, 1, "the first call runs");
  times.now += 24 * HOUR_MS;
  await run();
  assert.equal(runs, 1, "the clock was set forward, and no hour has passed");
  times.elapsed += HOUR_MS;
  await run();
  assert.equal(runs, 2);
  // After a backward correction the database's time runs at half speed.
  times.now += HOUR_MS / 2;
  times.elapsed += HOUR_MS;
  await run();
  assert.equal(runs, 3, "an hour has passed");
});

test("unfinished work runs again at the next call, all of it", async () => {
  const { clock } = createClock();
  const runs = [0, 0];
  const run = hourly(clock, [
    async () => (runs[0] = (runs[0] ?? 0) + 1) > 1,
    async () => (runs[1] = (runs[1] ?? 0) + 1) > 0,
  ]);
  await run();
  await run();
  await run();
  assert.deepEqual(runs, [2, 2]);
});
