import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Client } from "pg";
import {
  isRoot,
  killProcess,
  runModule,
  serverModule,
  startDatabase,
  temporaryFolder,
} from "../../../../../test/support/processes/embedded.ts";
import type { Embedded } from "../embedded.ts";
import { postgresIn } from "./processes.ts";
import { runningConnection } from "../running.ts";

const folder = await temporaryFolder();
after(folder.remove);
const dataDir = join(folder.path, "data");

async function query(connection: object, text: string): Promise<unknown[]> {
  const client = new Client(connection);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test("the database of a server that was killed is stopped cleanly and started anew, with all rows", async () => {
  const server = runModule(serverModule(dataDir));
  const orphan = Number((await server.line(/^ready /)).slice("ready ".length));
  const connection = (await runningConnection(dataDir)) ?? {};
  await query(connection, "create table rows as select 1 as n");
  const idle = new Client(connection); // an open connection must not hold up the stop
  idle.on("error", () => {});
  await idle.connect();
  await killProcess(server.child);
  assert.ok(
    (await postgresIn(join(dataDir, "postgres", "data"))).includes(orphan),
    "kill -9 leaves the database running",
  );
  const embedded = await startDatabase(dataDir);
  try {
    assert.notEqual(embedded.pid(), orphan);
    assert.ok(!(await postgresIn(join(embedded.location, "data"))).includes(orphan), "the orphan is gone");
    assert.deepEqual(await query(embedded.connection, "select n from rows"), [{ n: 1 }]);
  } finally {
    await embedded.stop();
    await idle.end();
  }
});

test("files that name the pid of another living process do not keep it from starting, and that process lives on", async () => {
  let embedded: Embedded = await startDatabase(dataDir);
  const { account, location, connection } = embedded;
  await embedded.stop();
  const cluster = join(location, "data");
  // As the database's user, in the database's folder: only the program tells that it is no PostgreSQL.
  const stranger = spawn("sleep", ["1000"], { cwd: cluster, ...(isRoot ? { uid: account.uid } : {}), stdio: "ignore" });
  await once(stranger, "spawn");
  const text = `${stranger.pid}\n${cluster}\n1700000000\n5432\n${connection.host}\n\n  0  0\nready\n`;
  for (const file of [join(cluster, "postmaster.pid"), join(connection.host, ".s.PGSQL.5432.lock")]) {
    await writeFile(file, text, { mode: 0o600 });
    if (isRoot) await chown(file, account.uid, account.uid);
  }
  try {
    embedded = await startDatabase(dataDir);
    assert.deepEqual(await query(embedded.connection, "select n from rows"), [{ n: 1 }]);
    assert.equal(stranger.exitCode, null);
    assert.equal(stranger.signalCode, null);
    await embedded.stop();
  } finally {
    await killProcess(stranger);
  }
});

test("a server that ends without stopping its database takes it along", { timeout: 20_000 }, async () => {
  const server = runModule(`${serverModule(dataDir)} setImmediate(() => process.exit(0));`);
  const pid = Number((await server.line(/^ready /)).slice("ready ".length));
  if (server.child.exitCode === null) await once(server.child, "exit");
  // It was asked to stop, and does so on its own.
  while ((await postgresIn(join(dataDir, "postgres", "data"))).includes(pid)) await setImmediate();
});
