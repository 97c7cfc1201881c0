import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { freshDatabase, silentLog } from "../../../../test/support/database.ts";
import { migrate, pendingMigrations } from "./migrate.ts";
import { readMigrations } from "./migration-files.ts";
import { openDb } from "../pool/pool.ts";

const { db: admin, connection: adminConnection, name, drop } = await freshDatabase();
after(drop);
let made = 0;

const code = (wanted: string, file?: string) => (error: unknown) =>
  (error as { code?: unknown }).code === wanted && (file === undefined || String(error).includes(file));

/** An empty database and a folder with these files; the header is added. */
async function setUp(t: TestContext, files: Readonly<Record<string, string>>) {
  const database = `${name}_${(made += 1)}`;
  await admin.query(`create database ${database} template template0`);
  const connection = { ...adminConnection, database };
  const db = openDb({ connection, log: silentLog, onError: () => {} });
  const folder = await mkdtemp(join(tmpdir(), "rh-migrations-"));
  const write = (file: string, sql: string) => writeFile(join(folder, file), `-- ${file} · compatible: yes\n${sql}`);
  for (const [file, sql] of Object.entries(files)) await write(file, sql);
  t.after(async () => {
    await db.close();
    await admin.query(`drop database ${database} with (force)`);
    await rm(folder, { recursive: true });
  });
  return { connection, db, folder, write };
}

const A = { "000001_a.sql": "create table a (id int); insert into a values (1);" };
const B = { "000002_b.sql": "create table b (id int);" };

test("pending files are applied in order, once, and recorded", async (t) => {
  const { connection, db, folder } = await setUp(t, { ...B, ...A });
  assert.deepEqual(await pendingMigrations(db, await readMigrations(folder)), ["000001_a.sql", "000002_b.sql"]);
  assert.deepEqual(await migrate(connection, folder), ["000001_a.sql", "000002_b.sql"]);
  assert.deepEqual(await migrate(connection, folder), []);
  assert.deepEqual(await pendingMigrations(db, await readMigrations(folder)), []);
  const [row] = await db.query("select count(*) as n, min(length(sha256)) as hash from schema_migrations");
  assert.deepEqual(row, { n: 2, hash: 64 });
});

test("two servers that start at once apply each file once", async (t) => {
  const { connection, db, folder } = await setUp(t, {
    ...A,
    "000002_b.sql": "select pg_sleep(0.1); create table b (id int);",
  });
  const applied = await Promise.all([
    migrate(connection, folder),
    migrate(connection, folder),
    migrate(connection, folder),
  ]);
  assert.deepEqual(applied.flat().toSorted(), ["000001_a.sql", "000002_b.sql"]);
  assert.deepEqual(await db.query("select count(*) from a"), [{ count: 1 }]);
});

test("a file that fails leaves nothing behind, is named, and those before it stay", async (t) => {
  const { connection, db, folder, write } = await setUp(t, {
    ...A,
    "000002_b.sql": "create table b (id int); select 1/0;",
  });
  await assert.rejects(migrate(connection, folder), /000002_b\.sql: division by zero/);
  assert.deepEqual(await pendingMigrations(db, await readMigrations(folder)), ["000002_b.sql"]);
  assert.deepEqual(await db.query("select to_regclass('b') as b"), [{ b: null }]);
  await write("000002_b.sql", "create table b (id int);");
  assert.deepEqual(await migrate(connection, folder), ["000002_b.sql"]);
});

test("a file that was changed after it had been applied is refused by name", async (t) => {
  const { connection, db, folder, write } = await setUp(t, A);
  await migrate(connection, folder);
  await write("000001_a.sql", "create table a (id bigint);");
  await assert.rejects(migrate(connection, folder), code("migration.changed", "000001_a.sql"));
  await assert.rejects(pendingMigrations(db, await readMigrations(folder)), code("migration.changed", "000001_a.sql"));
});

test("line ends do not count as a change", async (t) => {
  const { connection, folder } = await setUp(t, { "000001_a.sql": "create table a (\n id int\n);\n" });
  await migrate(connection, folder);
  await writeFile(
    join(folder, "000001_a.sql"),
    "-- 000001_a.sql · compatible: yes\r\ncreate table a (\r\n id int\r\n);\r\n",
  );
  assert.deepEqual(await migrate(connection, folder), []);
});

test("a recorded file that is gone is refused by name", async (t) => {
  const { connection, folder, write } = await setUp(t, A);
  await migrate(connection, folder);
  await rm(join(folder, "000001_a.sql"));
  await write("000001_other.sql", "select 1;");
  await assert.rejects(migrate(connection, folder), code("migration.missing", "000001_a.sql"));
});

test("a database of a newer program is refused, and nothing is applied", async (t) => {
  const { connection, db, folder } = await setUp(t, { ...A, ...B });
  await migrate(connection, folder);
  await rm(join(folder, "000002_b.sql"));
  await assert.rejects(migrate(connection, folder), code("migration.newer_database", "older than its database"));
  await assert.rejects(pendingMigrations(db, await readMigrations(folder)), code("migration.newer_database"));
});

test("files that break a rule are refused by name before anything is applied", async (t) => {
  const { connection, db, folder, write } = await setUp(t, A);
  const refused = async (file: string, sql: string, wanted: string) => {
    await write(file, sql);
    await assert.rejects(migrate(connection, folder), code(wanted, file));
    await rm(join(folder, file));
  };
  await refused("000003_gap.sql", "select 1;", "migration.bad_name");
  await refused("000001_twice.sql", "select 1;", "migration.bad_name");
  await refused("2_short.sql", "select 1;", "migration.bad_name");
  await refused("000002_commit.sql", "select 1;\nCOMMIT;", "migration.own_transaction");
  await writeFile(join(folder, "000002_b.sql"), "select 1;");
  await assert.rejects(migrate(connection, folder), code("migration.bad_header", "000002_b.sql"));
  assert.deepEqual(await db.query("select to_regclass('a') as a"), [{ a: null }]);
});

test("a function's body may begin", async (t) => {
  const body = "create function f() returns void language plpgsql as $$\nbegin\n  perform 1;\nend;\n$$;";
  const { connection, folder } = await setUp(t, { "000001_f.sql": body });
  assert.deepEqual(await migrate(connection, folder), ["000001_f.sql"]);
});

test("a database that is not there is said to be so", async (t) => {
  const { connection, folder } = await setUp(t, A);
  await assert.rejects(migrate({ ...connection, host: "/nonexistent" }, folder), code("db.unavailable"));
});
