import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { after, test } from "node:test";
import { freshDatabase } from "../../../../test/support/database.ts";

const { db, drop } = await freshDatabase();
after(drop);

type Pid = readonly [pid: number];
const backend = async (): Promise<number | undefined> => (await db.tuples<Pid>("select pg_backend_pid()"))[0]?.[0];
const code = (wanted: string) => (error: unknown) => (error as { code?: unknown }).code === wanted;

test("reads of one turn share a connection, and the ninth takes another", async () => {
  const pids = await Promise.all(Array.from({ length: 9 }, backend));
  assert.equal(new Set(pids.slice(0, 8)).size, 1);
  assert.notEqual(pids[8], pids[0]);
});

test("a connection is lent again when all of its turn are answered", async () => {
  const pids = new Set<number | undefined>();
  for (let n = 0; n < 50; n += 1) for (const pid of await Promise.all([backend(), backend()])) pids.add(pid);
  assert.ok(pids.size <= 2, `${pids.size} connections`);
});

test("what is asked in a later turn does not wait for those before", async () => {
  let held: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    await tx.query("select pg_advisory_xact_lock(1)");
    held = db.tuples("select pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)");
    await nextTurn();
    await nextTurn();
    assert.deepEqual(await db.tuples("select 1"), [[1]]);
  });
  await held;
});

test("each row is the list of its values, read as in any other statement", async () => {
  const rows = await db.tuples(
    "select n, null, 9007199254740991::int8, '{\"a\":[1]}'::jsonb, true from generate_series(1, 2) n",
  );
  assert.deepEqual(
    rows,
    [1, 2].map((n) => [n, null, 9_007_199_254_740_991, { a: [1] }, true]),
  );
  assert.deepEqual(await db.tuples("select 1 where false"), []);
});

test("one that fails does not fail those beside it", async () => {
  const [before, failed, unread, behind] = await Promise.allSettled([
    db.tuples("select 1"),
    db.tuples("select 1 / $1::int", [0]),
    db.tuples("select 9007199254740993::int8 from generate_series(1, 2)"),
    db.tuples("select 2"),
  ]);
  assert.deepEqual(before, { status: "fulfilled", value: [[1]] });
  assert.ok(failed.status === "rejected" && code("22012")(failed.reason));
  assert.ok(unread.status === "rejected" && unread.reason instanceof RangeError);
  assert.deepEqual(behind, { status: "fulfilled", value: [[2]] });
});

test("a connection that is lost fails all that wait on it, and is not lent again", async () => {
  const asked = [db.tuples("select pg_terminate_backend(pg_backend_pid())"), db.tuples("select 1")];
  for (const { status, ...rest } of await Promise.allSettled(asked)) {
    assert.equal(status, "rejected");
    assert.ok(code("db.unavailable")((rest as { reason: unknown }).reason));
  }
  assert.deepEqual(await db.tuples("select 1"), [[1]]);
});

test("one whose table was changed meanwhile is sent again", async () => {
  await db.query("create table changing as select 1 as a");
  for (let n = 0; n < 12; n += 1) await Promise.all([db.tuples("select * from changing"), backend()]);
  await db.query("alter table changing add b int default 2");
  assert.deepEqual(await Promise.all([db.tuples("select * from changing"), db.tuples("select 3")]), [[[1, 2]], [[3]]]);
});
