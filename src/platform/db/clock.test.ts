/** The database's time as a server sees it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../../../test/support/database.ts";
import { createSteeredClock, readDatabaseClock } from "./clock.ts";

let database: TestDatabase;
before(async () => {
  database = await freshDatabase();
});
after(() => database?.drop());

/** A monotonic clock that a test moves. */
function handElapsed(): { elapsed: () => number; pass: (ms: number) => void } {
  let at = 5_000;
  return { elapsed: () => at, pass: (ms) => void (at += ms) };
}

const exactly = (offset: number) => ({ least: offset, most: offset });

test("the time of the database, whatever the wall clock of the process says", async (t) => {
  t.mock.method(Date, "now", () => 12);
  const clock = await readDatabaseClock(database.db);
  const [row] = await database.db.query<{ before: number }>(
    "select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as before",
  );
  const seen = clock.now();
  const [later] = await database.db.query<{ after: number }>(
    "select ceil(extract(epoch from clock_timestamp()) * 1000)::bigint as after",
  );
  assert.ok(row && later);
  assert.ok(Number.isSafeInteger(seen));
  // The estimate is as good as one round trip to a database on the same machine.
  assert.ok(seen > row.before - 5_000 && seen < later.after + 5_000, `${row.before} ${seen} ${later.after}`);
});

test("between two samples it goes on by the monotonic clock, also while the database is away", async () => {
  const { elapsed, pass } = handElapsed();
  let asked = 0;
  const query = async <R>(): Promise<R[]> => {
    asked += 1;
    if (asked > 2) throw new Error("away");
    return [{ now: 1_800_000_000_000 }] as R[];
  };
  const clock = await readDatabaseClock({ query }, elapsed);
  const start = clock.now();
  pass(90_000);
  assert.equal(clock.now(), start + 90_000);
  await assert.rejects(clock.synchronize(), /away/);
  assert.equal(clock.now(), start + 90_000);
});

test("a sample with a long round trip does not move a clock that it does not contradict", () => {
  const { elapsed, pass } = handElapsed();
  const clock = createSteeredClock(elapsed);
  clock.correct(exactly(1_000_000));
  const start = clock.now();
  pass(60_000);
  assert.equal(clock.correct({ least: 1_000_000 - 60_000, most: 1_000_000 + 1 }), 0);
  assert.equal(clock.now(), start + 60_000);
  // One that contradicts it moves it as little as is needed.
  assert.equal(clock.correct({ least: 1_000_040, most: 1_000_900 }), 40);
  assert.equal(clock.now(), start + 60_040);
});

test("it follows forward at once, and backward by running at half speed, never back", () => {
  const { elapsed, pass } = handElapsed();
  const clock = createSteeredClock(elapsed);
  clock.correct(exactly(1_000_000));
  const start = clock.now();
  clock.correct(exactly(1_000_000 + 3_600_000));
  assert.equal(clock.now(), start + 3_600_000);
  clock.correct(exactly(1_000_000));
  assert.equal(clock.now(), start + 3_600_000);
  pass(1_800_000);
  assert.equal(clock.now(), start + 3_600_000 + 900_000);
  // Samples on the way change nothing of that.
  clock.correct(exactly(1_000_000));
  assert.equal(clock.now(), start + 3_600_000 + 900_000);
  pass(5_400_000);
  assert.equal(clock.now(), start + 7_200_000);
  pass(10);
  assert.equal(clock.now(), start + 7_200_010);
});
