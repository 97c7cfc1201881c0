/** Intake uses its share of the connections and no more, so that a read always finds one. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../../../../test/support/database.ts";
import { until } from "../../../../test/support/until.ts";
import { asIntake } from "./budget.ts";
import type { Db } from "../db.ts";

const CONNECTIONS = 4;
/** Half of them. */
const SHARE = 2;

let database: TestDatabase;
let db: Db;
before(async () => {
  database = await freshDatabase({ max: CONNECTIONS, intakeTimeout: 60_000 });
  ({ db } = database);
});
after(() => database?.drop());

/** Transactions of intake that stay open until they are told to end. */
function holders(count: number) {
  const open = Promise.withResolvers<void>();
  let begun = 0;
  const all = Array.from({ length: count }, () =>
    asIntake(() =>
      db.transaction(async (tx) => {
        await tx.query("select 1");
        begun += 1;
        await open.promise;
      }),
    ),
  );
  return { begun: () => begun, end: async () => (open.resolve(), void (await Promise.all(all))) };
}

test("while intake has used up its share, reads and transactions of others get connections", async () => {
  const intake = holders(10);
  await until(intake.begun, (begun) => begun === SHARE);
  const waiting = asIntake(() => db.query<{ n: number }>("select 1 as n"));
  let answered = false;
  void waiting.then(() => (answered = true));
  // With the whole pool for everybody these two would wait for intake, which does not end before them.
  assert.deepEqual(await db.query("select 2 as n"), [{ n: 2 }]);
  assert.deepEqual(await db.tuples("select 3"), [[3]]);
  assert.deepEqual(await db.transaction((tx) => tx.query("select 4 as n")), [{ n: 4 }]);
  assert.equal(intake.begun(), SHARE);
  assert.equal(answered, false);
  await intake.end();
  assert.deepEqual(await waiting, [{ n: 1 }]);
  assert.equal(intake.begun(), 10);
});

test("a read of the same turn does not wait in the line of intake", async () => {
  const intake = holders(SHARE);
  await until(intake.begun, (begun) => begun === SHARE);
  const late = asIntake(() => db.tuples("select 1"));
  assert.deepEqual(await db.tuples("select 2"), [[2]]);
  await intake.end();
  assert.deepEqual(await late, [[1]]);
});

test("what intake asks beside its open transaction needs no second permit", async () => {
  const all = Array.from({ length: SHARE }, () =>
    asIntake(() =>
      db.transaction(async (tx) => {
        await tx.query("select 1");
        return db.query("select 5 as n");
      }),
    ),
  );
  for (const rows of await Promise.all(all)) assert.deepEqual(rows, [{ n: 5 }]);
});

test("a permit that is not granted in time is refused as busy, and failures give permits back", async (t) => {
  const other = await freshDatabase({ max: CONNECTIONS, intakeTimeout: 1 });
  t.after(other.drop);
  const open = Promise.withResolvers<void>();
  const held = Array.from({ length: SHARE }, () => asIntake(() => other.db.transaction(() => open.promise)));
  await assert.rejects(
    asIntake(() => other.db.query("select 1")),
    { code: "db.busy", status: 503 },
  );
  open.resolve();
  await Promise.all(held);
  for (let nth = 0; nth < 3 * SHARE; nth += 1)
    await assert.rejects(asIntake(() => other.db.query("select no_such_column")));
  assert.deepEqual(await asIntake(() => other.db.query("select 6 as n")), [{ n: 6 }]);
});
