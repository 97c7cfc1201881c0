import assert from "node:assert/strict";
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "pg";
import {
  isRoot,
  runModule,
  serverModule,
  startDatabase,
  temporaryFolder,
} from "../../../../test/support/processes/embedded.ts";
import { silentLog } from "../../../../test/support/database.ts";
import { openDb } from "../pool/pool.ts";
import type { Db } from "../db.ts";
import { STEPS_USER } from "./account.ts";
import type { Embedded } from "./embedded.ts";
import { postgresIn } from "./process/processes.ts";
import { runningConnection } from "./running.ts";

const folder = await temporaryFolder();
const dataDir = join(folder.path, "data");
const restarts: (() => void)[] = [];
let embedded: Embedded;
let db: Db;

before(async () => {
  embedded = await startDatabase(dataDir, { onRestart: () => restarts.shift()?.() });
  db = openDb({ connection: embedded.connection, statementTimeout: 0, log: silentLog, onError: () => {} });
  await db.query("create table rows (n int)");
  await db.query("insert into rows values (1)");
});
after(async () => {
  await db.close();
  await embedded.stop();
  await folder.remove();
});

const code = (wanted: string) => (error: unknown) => (error as { code?: unknown }).code === wanted;
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test("it is durable, checks its pages, and orders text the same on every machine", async () => {
  const [row] =
    await db.query(`select current_setting('fsync') as fsync, current_setting('data_checksums') as checksums,
    current_setting('listen_addresses') as tcp, datlocprovider as provider, datlocale as locale
    from pg_database where datname = current_database()`);
  assert.deepEqual(row, { fsync: "on", checksums: "on", tcp: "", provider: "b", locale: "C.UTF-8" });
});

test("only our role may log in, only with its password, and it is no superuser", async () => {
  const login = async (change: object): Promise<unknown> => {
    const client = new Client({ ...embedded.connection, ...change });
    await client.connect();
    return client.end();
  };
  await assert.rejects(login({ password: "wrong" }), code("28P01"));
  await assert.rejects(login({ password: "" }));
  await assert.rejects(login({ user: "postgres" }), code("28000"));
  await assert.rejects(db.query("copy rows to program 'cat'"), code("42501"));
});

test("the password is readable for us alone, and the database's folders for nobody else", async () => {
  assert.equal(await modeOf(join(embedded.location, "password")), 0o600);
  assert.equal((await stat(join(embedded.location, "password"))).uid, process.geteuid?.());
  assert.equal(await modeOf(embedded.connection.host), 0o700);
  assert.equal(await modeOf(embedded.location), isRoot ? 0o710 : 0o700);
  assert.equal(await modeOf(dataDir), isRoot ? 0o710 : 0o700);
});

test(
  "the database runs as another user than root and than the steps",
  { skip: !isRoot && "needs root: run npm test as root" },
  async () => {
    const users = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
    const steps = Number(users.find(([name]) => name === STEPS_USER)?.[2]);
    assert.ok(steps > 0 && embedded.account.uid > 0);
    assert.notEqual(embedded.account.uid, steps);
    const status = await readFile(`/proc/${embedded.pid()}/status`, "utf8");
    assert.match(status, new RegExp(`^Uid:\\s+${embedded.account.uid}\\s+${embedded.account.uid}\\s`, "m"));
    assert.match(status, /^Groups:\s*$/m, "none of root's groups");
  },
);

test("the steps' user cannot reach the socket", { skip: !isRoot && "needs root: run npm test as root" }, async () => {
  const socket = JSON.stringify(join(embedded.connection.host, ".s.PGSQL.5432"));
  const connectAs = (drop: string): Promise<string> =>
    runModule(`
      import { connect } from "node:net";
      ${drop}
      connect(${socket}).on("connect", () => { console.log("said connected"); process.exit(); }).on("error", (e) => console.log("said " + e.code));
    `).line(/^said /);
  assert.equal(await connectAs(""), "said connected");
  assert.equal(await connectAs("process.setgroups([]); process.setgid(65534); process.setuid(65534);"), "said EACCES");
});

test("nothing of our environment is passed on", async () => {
  if (process.platform !== "linux") return;
  const environment = (await readFile(`/proc/${embedded.pid()}/environ`, "utf8"))
    .split("\0")
    .map((it) => it.split("=")[0]);
  assert.deepEqual(
    environment.filter((name) => name && !/^(PATH|LC_ALL|TZ|PG.*)$/.test(name)),
    [],
  );
});

test("a second server is refused and does not touch the running database", async () => {
  const pid = embedded.pid();
  const second = runModule(
    `process.on("uncaughtException", (error) => console.log("said " + error.code));${serverModule(dataDir)}`,
  );
  assert.equal(await second.line(/^said /), "said embedded.locked");
  assert.equal(embedded.pid(), pid);
  assert.deepEqual(await db.query("select n from rows"), [{ n: 1 }]);
});

test("others can ask how to reach it while it runs", async () => {
  assert.deepEqual(await runningConnection(dataDir), embedded.connection);
  assert.equal(await runningConnection(folder.path), undefined);
});

test("when the postmaster is killed it comes back, though a backend was busy, and the pool with it", async () => {
  const busy = db.query("select count(*) from generate_series(1, 100000000000)");
  const failed = assert.rejects(busy, code("db.unavailable"));
  const backend = await waitForBusy();
  const back = new Promise<void>((resolve) => restarts.push(resolve));
  const old = embedded.pid() ?? 0;
  process.kill(old, "SIGKILL");
  await Promise.all([back, failed]);
  assert.notEqual(embedded.pid(), old);
  assert.ok(!(await postgresIn(join(embedded.location, "data"))).includes(backend), "the busy backend is gone");
  assert.deepEqual(await db.query("select n from rows"), [{ n: 1 }]);
});

test("when the password's file is lost, a new one is made at the next start", async () => {
  await db.close();
  await embedded.stop();
  await rm(join(embedded.location, "password"));
  const old = embedded.connection.password;
  embedded = await startDatabase(dataDir, { onRestart: () => restarts.shift()?.() });
  db = openDb({ connection: embedded.connection, log: silentLog, onError: () => {} });
  assert.notEqual(embedded.connection.password, old);
  assert.deepEqual(await db.query("select n from rows"), [{ n: 1 }]);
});

test("a stop while it is coming back leaves nothing running", async () => {
  const pid = embedded.pid() ?? 0;
  process.kill(pid, "SIGKILL");
  await db.close();
  await embedded.stop();
  assert.equal(await runningConnection(dataDir), undefined);
  embedded = await startDatabase(dataDir);
  db = openDb({ connection: embedded.connection, log: silentLog, onError: () => {} });
});

/** The pid of the backend that counts; asks until it is at work. */
async function waitForBusy(): Promise<number> {
  for (;;) {
    const [row] = await db.query(
      "select pid from pg_stat_activity where state = 'active' and query like 'select count(*) from generate%'",
    );
    if (row) return Number(row["pid"]);
  }
}
