/**
 * Readiness: a server is ready only while account, bootstrap facts and background jobs exist, and not while it stops.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { createClient } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import { startProgram } from "../../support/processes/program.ts";
import {
  createServerFolder,
  processesIn,
  readFacts,
  startServer,
  type ServerFolder,
} from "../../support/processes/server-process.ts";
import { until } from "../../support/until.ts";

let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
});

after(async () => {
  await folder?.remove();
  await database?.drop();
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

test("a server that listens without an account is alive and not ready", async () => {
  const [port, blocker] = [await freePort(), new Client({ connectionString: database.url })];
  const ask = (path: string): Promise<{ status: number; text: string }> =>
    fetch(`http://127.0.0.1:${port}/health/${path}`).then(
      async (answer) => ({ status: answer.status, text: await answer.text() }),
      () => ({ status: 0, text: "" }),
    );
  await blocker.connect();
  // Statements that look for the account must wait.
  await blocker.query("begin; lock table accounts");
  const program = startProgram({
    args: ["server"],
    env: {
      PORT: String(port),
      DATABASE_URL: database.url,
      RAILHEAD_DATA_DIR: folder.dataDir,
      RAILHEAD_ROOT_KEY: randomBytes(32).toString("base64"),
      RAILHEAD_LOCAL_DELEGATE: "off",
    },
    cwd: folder.path,
  });
  try {
    await until(
      () => ask("live"),
      ({ status }) => status === 200,
    );
    const early = await ask("ready");
    assert.equal(early.status, 503);
    assert.deepEqual(JSON.parse(early.text), { status: "DOWN", reason: "the server is still starting" });
    await assert.rejects(readFacts(folder), { code: "ENOENT" });

    await blocker.query("rollback");
    await program.waitForOutput(/^Railhead is ready\.$/m);
    assert.deepEqual(await ask("ready"), { status: 200, text: '{"status":"UP"}' });
    assert.deepEqual(
      await createClient(await readFacts(folder)).graphql("{ applications(limit: 1) { nodes { id } } }"),
      {
        applications: { nodes: [] },
      },
    );
  } finally {
    await blocker.end();
    await program.end("SIGTERM");
  }
});

test("from SIGTERM on it is not ready and still serves requests", async () => {
  const rootKey = randomBytes(32).toString("base64");
  const [place, other] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
  const server = await startServer(place, { DATABASE_URL: other.url, RAILHEAD_ROOT_KEY: rootKey });
  const status = async (path: string): Promise<number> => (await fetch(`${server.url}${path}`)).status;
  try {
    // The server waits for the end of its local delegate before it closes. A stopped delegate does not react.
    const delegate = processesIn(place.path).find(({ command }) => command.startsWith("railhead delegate"));
    process.kill(delegate?.pid ?? assert.fail("no local delegate runs"), "SIGSTOP");
    process.kill(server.child.pid ?? assert.fail(), "SIGTERM");
    await server.waitForOutput(/"msg":"stopping; /);
    const answer = await fetch(`${server.url}/health/ready`);
    assert.deepEqual(
      { status: answer.status, body: await answer.json() },
      { status: 503, body: { status: "DOWN", reason: "the server stops" } },
    );
    assert.deepEqual(await Promise.all(["/health/live", "/openapi.json"].map(status)), [200, 200]);
    assert.equal((await server.exited).code, 0);
  } finally {
    await server.end("SIGKILL");
    await place.remove();
    await other.drop();
  }
});
