import assert from "node:assert/strict";
import { after, test } from "node:test";
import { freshDatabase, silentLog } from "../../../../test/support/database.ts";
import { openDb } from "./pool.ts";

const errors: unknown[] = [];
const { db, connection, drop } = await freshDatabase({
  onError: (error) => errors.push(error),
  listenBackoff: () => 1,
});
after(drop);
await db.query("create table things (id bigint primary key, name text)");

const count = async (): Promise<unknown> => (await db.query("select count(*) from things"))[0]?.["count"];
const code = (wanted: string) => (error: unknown) => (error as { code?: unknown }).code === wanted;

test("int8 and its arrays are numbers, and one that is too large is refused", async () => {
  const [row] = await db.query("select 9007199254740991::int8 as a, array[1, null]::int8[] as b, 2::int4 as c");
  assert.deepEqual(row, { a: 9007199254740991, b: [1, null], c: 2 });
  await assert.rejects(db.query("select 9007199254740993::int8"), RangeError);
  assert.equal((await db.query("select 1 as a"))[0]?.["a"], 1);
});

test("binary columns come as the database stores them", async () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at));
  await db.query("create table blobs (id bigint, data bytea, note text)");
  for (const [id, note] of [
    [1, "it's \\ $1 \n ä"],
    [-2, null],
  ])
    await db.query("insert into blobs values ($1, $2, $3)", [id, id === 1 ? bytes : null, note]);
  const select = async (text: string, values: readonly (string | number)[] = []): Promise<unknown[]> => {
    const rows: unknown[] = [];
    await db.binary(text, values, (columns) => rows.push(columns.map((column) => column && Buffer.from(column))));
    return rows;
  };
  const note = (text: string): Promise<unknown> =>
    select("select id from blobs where note = $1 and id -$2 > $3", [text, -1, 1]);
  assert.deepEqual(await select("select id, data, note from blobs order by id desc"), [
    [Buffer.from("0000000000000001", "hex"), bytes, Buffer.from("it's \\ $1 \n ä")],
    [Buffer.from("fffffffffffffffe", "hex"), null, null],
  ]);
  assert.deepEqual(await select("select id from blobs where id > $1", [1]), []);
  assert.deepEqual(await note("it's \\ $1 \n ä"), [[Buffer.from("0000000000000001", "hex")]]);
  for (const text of ["' or true --", "\\' or true --", "$2", "'; drop table blobs; --"])
    assert.deepEqual(await note(text), [], text);
  await assert.rejects(async () => select("select $1", [1.5]), TypeError);
  const planted = db.binary("select id from blobs", [], () => assert.fail("planted"));
  await assert.rejects(planted, /planted/);
  await assert.rejects(select("select * from nothing"), code("42P01"));
  assert.equal((await select("select id from blobs")).length, 2, "the connection is usable after an error");
});

test("a statement is prepared once per connection, by its text", async () => {
  const names = await db.transaction(async (tx) => {
    await tx.query("select $1::int + 41", [1]);
    await tx.query("select $1::int + 41", [2]);
    return tx.query("select name from pg_prepared_statements where statement = 'select $1::int + 41'");
  });
  assert.equal(names.length, 1);
});

test("what a transaction did is there after it, and its hooks run then, in order", async () => {
  const order: unknown[] = [];
  const result = await db.transaction(async (tx) => {
    tx.afterCommit(() => order.push("first"));
    tx.afterCommit(() => order.push("second"));
    await tx.query("insert into things values (1, 'a')");
    order.push("work");
    return "result";
  });
  assert.equal(result, "result");
  assert.deepEqual(order, ["work", "first", "second"]);
  assert.equal(await count(), 1);
});

test("statements of a transaction need not be waited for one by one", async () => {
  const rows = await db.transaction((tx) =>
    Promise.all([1, 2, 3].map((n) => tx.query("select $1::int as n, txid_current() as tx", [n]))),
  );
  assert.deepEqual(
    rows.map(([row]) => row?.["n"]),
    [1, 2, 3],
  );
  assert.equal(new Set(rows.map(([row]) => row?.["tx"])).size, 1, "the first statement is inside the transaction too");
});

test("when the work throws, everything is rolled back and no hook runs", async () => {
  let hooked = false;
  const boom = new Error("boom");
  const failing = db.transaction(async (tx) => {
    tx.afterCommit(() => (hooked = true));
    await tx.query("insert into things values (2, 'b')");
    throw boom;
  });
  await assert.rejects(failing, (error) => error === boom);
  assert.equal(hooked, false);
  assert.equal(await count(), 1);
});

test("a statement's own error passes through as the database gave it", async () => {
  await assert.rejects(db.query("insert into things values (1, 'again')"), code("23505"));
  await assert.rejects(
    db.transaction((tx) => tx.query("insert into things values (1, 'again')")),
    code("23505"),
  );
});

test("whoever swallows a statement's error still hears that nothing was saved", async () => {
  let hooked = false;
  const swallowing = db.transaction(async (tx) => {
    tx.afterCommit(() => (hooked = true));
    await tx.query("insert into things values (3, 'c')");
    await tx.query("insert into things values (1, 'again')").catch(() => {});
  });
  await assert.rejects(swallowing, code("db.transaction_failed"));
  assert.equal(hooked, false);
  assert.equal(await count(), 1);
});

test("a hook that throws is reported and does not stop the others", async () => {
  errors.length = 0;
  let reached = false;
  const boom = new Error("hook");
  await db.transaction(async (tx) => {
    tx.afterCommit(() => {
      throw boom;
    });
    tx.afterCommit(() => (reached = true));
  });
  assert.equal(reached, true);
  assert.deepEqual(errors, [boom]);
});

test("a statement after the end of its transaction is refused", async () => {
  const escaped = await db.transaction(async (tx) => tx);
  await assert.rejects(escaped.query("select 1"), code("db.transaction_over"));
});

test("a statement whose table was changed meanwhile is prepared anew", async () => {
  await db.query("create table changing (a int)");
  assert.deepEqual(await db.query("select * from changing"), []);
  await db.query("alter table changing add b int");
  await db.query("insert into changing values (1, 2)");
  assert.deepEqual(await db.query("select * from changing"), [{ a: 1, b: 2 }]);
});

test("a connection that is killed under a transaction fails it clearly, and the next one works", async () => {
  const killed = db.transaction(async (tx) => {
    await tx.query("insert into things values (4, 'd')");
    await tx.query("select pg_terminate_backend(pg_backend_pid())");
  });
  await assert.rejects(killed, code("db.unavailable"));
  assert.equal(await count(), 1);
});

test("a commit that gets no answer says that nobody knows", async () => {
  await db.query(`create function die() returns trigger language plpgsql as
    'begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(10); return null; end'`);
  await db.query("create table mortal (a int)");
  await db.query(
    "create constraint trigger die after insert on mortal deferrable initially deferred for each row execute function die()",
  );
  const lost = db.transaction((tx) => tx.query("insert into mortal values (1)"));
  await assert.rejects(lost, code("db.commit_unknown"));
  assert.deepEqual(await db.query("select * from mortal"), []);
});

test("a statement that takes too long is given up", async () => {
  const impatient = openDb({ connection, statementTimeout: 20, log: silentLog, onError: () => {} });
  await assert.rejects(impatient.query("select pg_sleep(60)"), code("db.too_slow"));
  await impatient.close();
});

test("when all connections are taken, the next caller hears that the database is busy", async () => {
  const narrow = openDb({ connection, max: 1, connectTimeout: 250, log: silentLog, onError: () => {} });
  const open = Promise.withResolvers<void>();
  const held = narrow.transaction(() => open.promise);
  await assert.rejects(narrow.query("select 1"), code("db.busy"));
  open.resolve();
  await held;
  await narrow.close();
});

test("a database that is not there fails each statement, and close still works", async () => {
  const nowhere = openDb({ connection: { ...connection, host: "/nonexistent" }, log: silentLog, onError: () => {} });
  await assert.rejects(nowhere.query("select 1"), code("db.unavailable"));
  await assert.rejects(
    nowhere.transaction(async () => {}),
    code("db.unavailable"),
  );
  await nowhere.close();
  await assert.rejects(nowhere.query("select 1"), code("db.closed"));
});
