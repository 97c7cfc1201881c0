/** A server that starts before its database waits, reports it, and serves once the database is available. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { clientConfig, connectionUrl } from "../../../src/platform/db/connection.ts";
import { databaseByAddress, testServer } from "../../support/database.ts";
import { startProgram, type Program } from "../../support/processes/program.ts";
import { createServerFolder, runServer, type ServerFolder } from "../../support/processes/server-process.ts";
import { until } from "../../support/until.ts";

const ROOT_KEY = randomBytes(32).toString("base64");
let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
});

after(async () => {
  await folder?.remove();
  await database?.drop();
});

async function listening(server: Server, port = 0): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Returns a port without a listener. */
async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listening(probe);
  probe.close();
  await once(probe, "close");
  return port;
}

/** A proxy in front of the test database. `cutAt` decides which statements cut their connection. */
const inFront = (url: URL, cutAt: (statement: string) => boolean = () => false): Server =>
  createServer((socket) => {
    const behind = connect(`${url.searchParams.get("host")}/.s.PGSQL.${url.searchParams.get("port")}`);
    socket.on("data", (bytes) => (cutAt(bytes.toString("latin1")) ? socket.destroy() : behind.write(bytes)));
    behind.pipe(socket);
    for (const end of [socket, behind])
      end.on("error", () => {}).on("close", () => (socket.destroy(), behind.destroy()));
  });

function start(port: number, databaseUrl: string): Program {
  const env = {
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    RAILHEAD_DATA_DIR: folder.dataDir,
    RAILHEAD_ROOT_KEY: ROOT_KEY,
    RAILHEAD_LOCAL_DELEGATE: "off",
  };
  return startProgram({ args: ["server"], env, cwd: folder.path });
}

test("it is alive and not ready, names host and error, and serves once the database is available", async () => {
  const url = new URL(database.url.replace("@/", "@localhost/"));
  const [port, databasePort] = [await freePort(), await freePort()];
  const program = start(port, `postgres://${url.username}:${url.password}@127.0.0.1:${databasePort}${url.pathname}`);
  const proxy = inFront(url);
  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
  try {
    // The second attempt proves that the server waits.
    await program.waitForOutput(/"retryMs":500,"msg":"the database of DATABASE_URL cannot be used; trying again"/);
    assert.match(
      program.stderr(),
      new RegExp(`"host":"127.0.0.1:${databasePort}","database":"[^"]+","reason":"connect ECONNREFUSED [^"]+"`),
    );
    assert.ok(!program.stderr().includes(url.password));
    const [live, ready, other] = await Promise.all(["/health/live", "/gateway/health/ready", "/openapi.json"].map(get));
    assert.deepEqual([live?.status, await live?.json()], [200, { status: "UP" }]);
    assert.deepEqual(
      [ready?.status, await ready?.json()],
      [503, { status: "DOWN", reason: "the database does not answer" }],
    );
    assert.deepEqual([other?.status, other?.headers.get("retry-after")], [503, "5"]);

    await listening(proxy, databasePort);
    await program.waitForOutput(/^Railhead is ready\.$/m);
    assert.equal((await get("/health/ready")).status, 200);
    assert.equal((await program.end("SIGTERM")).code, 0);
  } finally {
    await program.end("SIGKILL");
    proxy.close();
  }
});

test("a signal while it waits ends it at once with code 0", async () => {
  const [port, databasePort] = [await freePort(), await freePort()];
  const program = start(port, `postgres://ada@127.0.0.1:${databasePort}/x`);
  try {
    await program.waitForOutput(/trying again/);
    await until(
      () =>
        fetch(`http://127.0.0.1:${port}/health/live`).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
    );
    const { code, signal } = await program.end("SIGTERM");
    assert.deepEqual([code, signal], [0, null], program.stderr());
  } finally {
    await program.end("SIGKILL");
  }
});

test("it waits again if the database becomes unavailable at a later step of the start", async () => {
  const url = new URL(database.url.replace("@/", "@localhost/"));
  // Part of a statement of each step: reading the clock, finding the account, counting values sealed by other root
  // keys.
  const steps = ["clock_timestamp()", "from accounts order by created_at", "with other as (select c.id"];
  const reached: string[] = [];
  const proxy = inFront(url, (statement) => {
    const step = steps[reached.length];
    if (step === undefined || !statement.includes(step)) return false;
    reached.push(step);
    return true;
  });
  const databasePort = await listening(proxy);
  const program = start(
    await freePort(),
    `postgres://${url.username}:${url.password}@127.0.0.1:${databasePort}${url.pathname}`,
  );
  try {
    await program.waitForOutput(/^Railhead is ready\.$/m);
    assert.deepEqual(reached, steps);
    assert.equal(program.stderr().match(/"the database of DATABASE_URL cannot be used; trying again"/g)?.length, 3);
    assert.equal((await program.end("SIGTERM")).code, 0);
  } finally {
    await program.end("SIGKILL");
    proxy.close();
  }
});

test("a database with another encoding is refused in one line before anything is created in it", async () => {
  const server = testServer();
  const client = new Client(clientConfig(server.connection));
  await client.connect();
  const name = `${database.url.split("@/")[1]?.split("?")[0]}_ascii`;
  const connection = { ...server.connection, database: name };
  try {
    await client.query(`create database ${name} encoding 'SQL_ASCII' locale 'C' template template0`);
    const { code, stderr } = await runServer(folder, {
      DATABASE_URL: connectionUrl(connection),
      RAILHEAD_LOCAL_DELEGATE: "off",
    });
    assert.equal(code, 78, stderr);
    assert.match(
      stderr,
      /^The configuration is wrong:\n {2}- The database of DATABASE_URL is PostgreSQL 18[.\d]* with the encoding SQL_ASCII; Railhead needs PostgreSQL 18 or newer and a database with the encoding UTF8\.\n$/,
    );
    const inside = new Client(clientConfig(connection));
    await inside.connect();
    const { rows } = await inside.query("select relname from pg_class where relnamespace = 'public'::regnamespace");
    await inside.end();
    assert.deepEqual(rows, []);
  } finally {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.end();
  }
});
