/** Two servers on one database: each request works on both, and the work is done once, by the requested delegate. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Client as Database } from "pg";
import { isAlive } from "../../../delegate/processes/processes.ts";
import { stepProcess } from "../../../delegate/testing/step-process.ts";
import { createClient, type Client } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import { readToEnd, readUntil } from "../../support/clients/event-stream.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import { startProgram } from "../../support/processes/program.ts";
import {
  createBarrier,
  createServerFolder,
  processesIn,
  readFacts,
  startServer,
  type Barrier,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";

const RAILHEAD_ROOT_KEY = randomBytes(32).toString("base64");
let database: Awaited<ReturnType<typeof databaseByAddress>>;
let folders: readonly ServerFolder[];
let servers: readonly ServerProcess[] = [];
let barrier: Barrier;
/** Names of the servers' local delegates. */
let localA = "";
let localB = "";
/** Clients of the two servers. */
let viaA: Client;
let viaB: Client;

before(async () => {
  [database, ...folders] = await Promise.all([databaseByAddress("empty"), createServerFolder(), createServerFolder()]);
});

after(async () => {
  barrier?.close();
  await Promise.all(servers.map((server) => server.end("SIGTERM")));
  await Promise.all(folders.map((folder) => folder.remove()));
  await database?.drop();
});

test("two servers start on an empty database: one migrates, one creates the account", async () => {
  const [folderA, folderB] = folders;
  assert.ok(folderA && folderB);
  const env = { DATABASE_URL: database.url, RAILHEAD_ROOT_KEY };
  const [a, b] = await Promise.all([startServer(folderA, env), startServer(folderB, env)]);
  servers = [a, b];
  const migrated = [a, b].map((server) => server.stderr().match(/"msg":"migrations applied"/g)?.length ?? 0);
  assert.deepEqual(
    migrated.toSorted((x, y) => x - y),
    [0, 1],
  );
  const told = [a, b].filter((server) => server.stdout().includes("API key"));
  assert.equal(told.length, 1);
  const made = [folderA, folderB].filter(({ dataDir }) => existsSync(`${dataDir}/bootstrap.json`));
  assert.equal(made.length, 1);
  assert.equal(made[0], told[0] === a ? folderA : folderB);

  const facts = await readFacts(told[0] === a ? folderA : folderB);
  viaA = createClient({ ...facts, baseUrl: a.url });
  viaB = createClient({ ...facts, baseUrl: b.url });
  barrier = createBarrier(folderA);
  await viaA.makeProject();
});

const nameOf = ({ dataDir }: ServerFolder): string =>
  (JSON.parse(readFileSync(`${dataDir}/local-delegate.json`, "utf8")) as { name: string }).name;

const pipelineFor = (delegate: string): string => `on_${delegate.replace("-", "_")}`;

/** Runs the pipeline whose step requests this delegate, and returns the delegate that ran it. */
async function whoRuns(delegate: string, via = viaB): Promise<string> {
  const id = await via.run(pipelineFor(delegate));
  assert.equal(await via.end(id), "SUCCESS");
  return (await via.node(id, "one")).delegateInfoList[0].name;
}

test("each server has a local delegate with its own name, and both take tasks", async () => {
  [localA = "", localB = ""] = folders.map(nameOf);
  const [first, second] = [localA, localB].toSorted();
  assert.equal(first, "local");
  assert.match(second ?? "", /^local-[0-9a-f]{6}$/);
  for (const name of [localA, localB])
    await viaA.makePipeline(pipelineOf(pipelineFor(name), step("one", "echo one", { selectors: [name] })));
  assert.deepEqual(await Promise.all([whoRuns(localA), whoRuns(localB)]), [localA, localB]);
});

test("a local delegate that ends is started again, and the other one continues", async () => {
  for (const [n, name] of [localA, localB].entries()) {
    const [server, folder] = [servers[n], folders[n]];
    assert.ok(server && folder);
    const delegate = processesIn(folder.path).find(({ command }) => command.startsWith("railhead delegate"));
    process.kill(delegate?.pid ?? assert.fail(`${name} does not run`), "SIGKILL");
    await server.waitForOutput(/("msg":"delegate connected"[^]*){2}/);
  }
  assert.deepEqual(await Promise.all([whoRuns(localA), whoRuns(localB)]), [localA, localB]);
  for (const server of servers) assert.doesNotMatch(server.stderr(), /"msg":"the local delegate was refused/);
});

test("a step started through B runs on A's delegate, and B streams its log", async () => {
  await viaB.makePipeline(
    pipelineOf(
      "shared",
      step("one", `echo first; read -r word < ${barrier.path}; echo second; answer=42`, {
        outputs: ["answer"],
        selectors: [localA],
      }),
      step("two", `echo "answer $ANSWER"`, {
        selectors: [localA],
        env: { ANSWER: "<+execution.steps.one.output.outputVariables.answer>" },
      }),
    ),
  );
  const id = await viaB.run("shared");
  const [atA, atB] = [viaA.follow(id), viaB.follow(id)];
  const before = await Promise.all([readUntil(atA, "first\n"), readUntil(atB, "first\n")]);
  assert.deepEqual(
    before.map(({ text }) => text),
    ["first\n", "first\n"],
  );
  assert.equal((await viaB.node(id, "one")).status, "Running");
  assert.equal((await viaB.node(id, "one")).delegateInfoList[0].name, localA);
  barrier.open();
  const rest = { text: "second\nanswer 42\n", status: "SUCCESS" };
  assert.deepEqual(await Promise.all([readToEnd(atA), readToEnd(atB)]), [rest, rest]);
  assert.equal(await viaB.log(id), "first\nsecond\nanswer 42\n");
});

test("an abort through B ends the step on A's delegate", async () => {
  await viaB.makePipeline(
    pipelineOf("stuck", step("one", `echo "pid $$"; read -r word < ${barrier.path}`, { selectors: [localA] })),
  );
  const id = await viaB.run("stuck");
  const { text } = await readUntil(viaB.follow(id), "\n");
  const process = stepProcess(`${folders[0]?.delegateDir}/tasks`, Number(text.trim().slice(4)));
  assert.equal((await viaB.abort(id)).status, 200);
  assert.equal(await viaA.end(id), "ABORTED");
  assert.equal((await viaA.node(id, "one")).stepDetails.cancel.survivors, 0);
  assert.equal(isAlive(process), false);
});

test("when A is killed, its steps continue; B serves requests and takes the result after A has returned", async () => {
  const [a] = servers;
  const [folderA] = folders;
  assert.ok(a && folderA);
  await viaB.makePipeline(
    pipelineOf(
      "orphan",
      step("one", `echo first; read -r word < ${barrier.path}; echo second`, { selectors: [localA] }),
    ),
  );
  const id = await viaB.run("orphan");
  const stream = viaB.follow(id);
  await readUntil(stream, "first\n");
  await a.kill();
  barrier.open();
  assert.equal((await viaB.node(id, "one")).status, "Running");
  const back = await startServer(folderA, { DATABASE_URL: database.url, RAILHEAD_ROOT_KEY });
  servers = [back, ...servers.slice(1)];
  assert.deepEqual(await readToEnd(stream), { text: "second\n", status: "SUCCESS" });
});

test("a local delegate in another work folder is refused while the former one may live, and retries until it is accepted", async () => {
  const [, b] = servers;
  const [, folderB] = folders;
  assert.ok(b && folderB);
  await b.end("SIGTERM");
  const program = startProgram({
    args: ["server"],
    env: {
      PORT: "0",
      DATABASE_URL: database.url,
      RAILHEAD_ROOT_KEY,
      RAILHEAD_DATA_DIR: folderB.dataDir,
      RAILHEAD_DELEGATE_DIR: `${folderB.path}/elsewhere`,
    },
    cwd: folderB.path,
  });
  servers = [...servers.slice(0, 1), { ...program, url: "", kill: () => program.end("SIGKILL") }];
  await program.waitForOutput(/"msg":"the local delegate was refused; it is started again"/);
  // As if a minute had passed.
  const later = new Database({ connectionString: database.url });
  await later.connect();
  await later.query("update delegates set seen_at = seen_at - 60000 where name = $1", [localB]);
  await later.end();
  await program.waitForOutput(/"msg":"delegate connected"/);
  const facts = await Promise.any(folders.map(readFacts));
  assert.equal(await whoRuns(localB, createClient({ ...facts, baseUrl: servers[0]?.url ?? "" })), localB);
});
