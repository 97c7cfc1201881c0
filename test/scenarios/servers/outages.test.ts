/**
 * Outages longer than the time after which a silent delegate counts as lost. Time passes twenty times faster in
 * servers and delegates, so that this time is three seconds. In each test one delegate is lost: once its execution
 * has failed, the server has looked for lost delegates, and the executions of the healthy delegate must still run.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { connectionUrl } from "../../../src/platform/db/connection.ts";
import type { Embedded } from "../../../src/platform/db/embedded/embedded.ts";
import { alterClocks, type AlteredClocks } from "../../support/processes/altered-clocks.ts";
import { createClient, type Client } from "../../support/clients/client.ts";
import { startDatabase } from "../../support/processes/embedded.ts";
import { readUntil } from "../../support/clients/event-stream.ts";
import { startForwarder, type Forwarder } from "../../support/processes/forwarder.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import { startProgram, type Program } from "../../support/processes/program.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";
import { until } from "../../support/until.ts";

const FACTOR = 20;
const TWO_MINUTES = 120_000;
const RAILHEAD_ROOT_KEY = randomBytes(32).toString("base64");

let folders: readonly ServerFolder[];
let database: Embedded;
let clocks: AlteredClocks;
let server: ServerProcess;
let replica: ServerProcess;
let balancer: Forwarder;
let client: Client;
let token: string;
let healthy: Program;
let made = 0;

before(async () => {
  folders = await Promise.all([createServerFolder(), createServerFolder()]);
  const [folder] = folders;
  assert.ok(folder);
  database = await startDatabase(`${folder.path}/cluster`);
  clocks = alterClocks(`${folder.path}/clocks.json`, { factor: FACTOR });
  server = await startServer(folder, { ...environment(), ...clocks.env });
  const facts = await readFacts(folder);
  client = createClient({ ...facts, baseUrl: server.url });
  await client.makeProject();
  const answer = await client.send("POST", "/ng/api/delegate-token-ng?tokenName=outages");
  token = answer.body.resource.value;
  balancer = await startForwarder(server.url);
  healthy = await startDelegate("healthy");
  for (const name of ["healthy", "gone"])
    await client.makePipeline(
      pipelineOf(
        name,
        step("one", `echo first; until [ -e ${goOn()} ]; do sleep 0.1; done`, { selectors: [name], timeout: "1d" }),
      ),
    );
});
after(async () => {
  await healthy?.end("SIGTERM");
  await Promise.all([server, replica].map((one) => one?.end("SIGTERM")));
  await balancer?.close();
  await database?.stop();
  await Promise.all((folders ?? []).map((folder) => folder.remove()));
});

const environment = (): Record<string, string> => ({
  DATABASE_URL: connectionUrl(database.connection),
  RAILHEAD_ROOT_KEY,
  RAILHEAD_LOCAL_DELEGATE: "off",
});

async function startDelegate(tag: string): Promise<Program> {
  const [folder] = folders;
  assert.ok(folder);
  made += 1;
  const { env } = alterClocks(`${folder.path}/clocks-${made}.json`, { factor: FACTOR });
  const program = startProgram({
    args: [
      "delegate",
      "--url",
      balancer.url,
      "--token",
      token,
      "--name",
      `${tag}-${made}`,
      "--tag",
      tag,
      "--work-dir",
      `${folder.path}/d${made}`,
    ],
    env,
    cwd: folder.path,
  });
  await program.waitForOutput(/connected to the server/);
  return program;
}

/** The file for which steps wait. */
const goOn = (): string => `${folders[0]?.exchange}/go-on`;

/** Returns executions whose step has started. */
async function begun(pipeline: string, howMany: number): Promise<readonly string[]> {
  const ids = await Promise.all(Array.from({ length: howMany }, () => client.run(pipeline)));
  for (const id of ids) await readUntil(client.follow(id), "first\n");
  return ids;
}

/** During the outage one delegate ends and its execution fails. The executions of the other delegate succeed. */
async function survive(outage: () => Promise<void>, during: () => Promise<void>): Promise<void> {
  const gone = await startDelegate("gone");
  const [ids, [lost = ""]] = await Promise.all([begun("healthy", 4), begun("gone", 1)]);
  await outage();
  await gone.end("SIGKILL");
  await during();
  await until(
    async () => (await client.detail(lost)).pipelineExecutionSummary.status,
    (status) => status !== "Running",
  );
  assert.match((await client.node(lost, "one")).failureInfo.message, /Delegate gone-\d was not heard of for 60 s/);
  for (const id of ids) assert.equal((await client.node(id, "one")).status, "Running");
  await writeFile(goOn(), "");
  assert.deepEqual(
    await Promise.all(ids.map((id) => client.end(id))),
    ids.map(() => "SUCCESS"),
  );
  await rm(goOn());
}

test("a server paused for two minutes ends no step of a connected delegate", () =>
  survive(
    async () => void process.kill(server.child.pid ?? 0, "SIGSTOP"),
    async () => {
      clocks.set(server.child.pid, { pausedMs: TWO_MINUTES });
      process.kill(server.child.pid ?? 0, "SIGCONT");
    },
  ));

test("a server whose database was stopped for two minutes ends no step of a connected delegate", () =>
  survive(
    () => database.stop(),
    async () => {
      clocks.set(server.child.pid, { pausedMs: 2 * TWO_MINUTES });
      await until(ready, (status) => status === 503);
      database = await startDatabase(`${folders[0]?.path}/cluster`);
      await until(ready, (status) => status === 200);
    },
  ));

const ready = async (): Promise<number> => {
  const response = await fetch(`${server.url}/health/ready`);
  await response.arrayBuffer();
  return response.status;
};

test("a replica whose clock is 90 s ahead ends no step of a connected delegate", async () => {
  const [, folder] = folders;
  assert.ok(folder);
  const ahead = alterClocks(`${folder.path}/clocks.json`, { factor: FACTOR, wallMs: 90_000 });
  replica = await startServer(folder, { ...environment(), ...ahead.env });
  await survive(
    async () => {},
    async () => {},
  );
});

test("while one of two servers is paused, its delegates continue at the other server", async () => {
  const atServer = client;
  client = createClient({ ...(await readFacts(folders[0] ?? assert.fail())), baseUrl: replica.url });
  await survive(
    async () => {
      process.kill(server.child.pid ?? 0, "SIGSTOP");
      balancer.target(replica.url);
    },
    async () => {},
  );
  process.kill(server.child.pid ?? 0, "SIGCONT");
  client = atServer;
});
