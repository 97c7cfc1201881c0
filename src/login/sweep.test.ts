import assert from "node:assert/strict";
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createSweep } from "./sweep.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

let database: TestDatabase;
const accountId = randomUUIDv7();
before(async () => {
  database = await freshDatabase();
  await database.db.query("insert into accounts (id, name, key_check, created_at) values ($1, 'acme', '', 0)", [
    accountId,
  ]);
});
after(() => database?.drop());

test("a correction of the database's clock neither repeats nor delays the sweep", async () => {
  const times = { now: 1_800_000_000_000, elapsed: 0 };
  const clock = { now: () => times.now, elapsed: () => times.elapsed };
  const { db } = database;
  const sweep = createSweep({ db, clock, lifetimes: { idleMs: HOUR_MS, mostMs: HOUR_MS } });
  /** Adds an expired row, and returns whether a call of the sweep has deleted it. */
  const sweeps = async (): Promise<boolean> => {
    await db.query("delete from sign_ins_taken");
    await db.query("insert into sign_ins_taken (account_id, state_hash, until) values ($1, $2, $3)", [
      accountId,
      randomBytes(32),
      times.now - 1,
    ]);
    await sweep();
    return (await db.query("select 1 from sign_ins_taken")).length === 0;
  };
  assert.equal(await sweeps(), true, "the first call sweeps");
  times.now += 24 * HOUR_MS;
  assert.equal(await sweeps(), false, "the clock was set forward, and no minute has passed");
  times.elapsed += MINUTE_MS;
  assert.equal(await sweeps(), true);
  // After a backward correction the database's time runs at half speed.
  times.now += MINUTE_MS / 2;
  times.elapsed += MINUTE_MS;
  assert.equal(await sweeps(), true, "a minute has passed");
});
