/** What the first start prints and stores, what later starts do not print, and which starts are refused. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { createClient } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import {
  createServerFolder,
  readFacts,
  runServer,
  startServer,
  type ServerFolder,
} from "../../support/processes/server-process.ts";

const OFF = { RAILHEAD_LOCAL_DELEGATE: "off" };
let folder: ServerFolder;

before(async () => {
  folder = await createServerFolder();
});

after(() => folder?.remove());

const count = (text: string, part: string): number => text.split(part).length - 1;

async function freePort(): Promise<string> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return String(port);
}

test("the first start prints each fact once; the second prints none and finds all data", async () => {
  const server = await startServer(folder, OFF);
  const facts = await readFacts(folder);
  assert.deepEqual(Object.keys(facts), [
    "baseUrl",
    "accountId",
    "orgIdentifier",
    "adminUserId",
    "adminEmail",
    "adminPassword",
    "apiKey",
  ]);
  assert.equal((await stat(`${folder.dataDir}/bootstrap.json`)).mode & 0o777, 0o600);
  assert.equal((await stat(`${folder.dataDir}/root.key`)).mode & 0o777, 0o600);
  assert.equal(facts.baseUrl, server.url);
  assert.equal(facts.orgIdentifier, "default");
  const told = server.stdout() + server.stderr();
  const { baseUrl, accountId, adminEmail, adminPassword, apiKey } = facts;
  for (const fact of [baseUrl, adminEmail, adminPassword, apiKey]) assert.equal(count(told, fact), 1, fact);
  // The account's id is also part of the key.
  assert.equal(count(told.replace(apiKey, ""), accountId), 1);
  assert.ok(adminPassword.length >= 16);
  assert.equal(server.stderr().match(/migration/g)?.length, 1, server.stderr());
  assert.match(server.stderr(), /"applied":\d+,"last":"\d{6}_\w+\.sql","msg":"migrations applied"/);

  const client = createClient(facts);
  await client.makeProject();
  await client.makePipeline(pipelineOf("kept", step("say", "echo hello")));
  const id = await client.run("kept");
  assert.equal((await server.end("SIGTERM")).code, 0);

  const PORT = await freePort();
  const second = await startServer(folder, { ...OFF, PORT });
  const after = await readFacts(folder);
  assert.deepEqual(after, { ...facts, baseUrl: `http://127.0.0.1:${PORT}` });
  assert.equal((await stat(`${folder.dataDir}/bootstrap.json`)).mode & 0o777, 0o600);
  const repeated = second.stdout() + second.stderr();
  for (const fact of [accountId, adminEmail, adminPassword, apiKey]) assert.equal(count(repeated, fact), 0, fact);
  assert.equal((await createClient(after).detail(id)).pipelineExecutionSummary.pipelineIdentifier, "kept");
  assert.equal((await second.end("SIGTERM")).code, 0);
});

test("RAILHEAD_PUBLIC_URL is the base address, without a trailing slash", async () => {
  const server = await startServer(folder, { ...OFF, RAILHEAD_PUBLIC_URL: "https://railhead.example.com/ci/" });
  const facts = await readFacts(folder);
  assert.equal(facts.baseUrl, "https://railhead.example.com/ci");
  const webhook = await createClient({ ...facts, baseUrl: server.url }).makeWebhook("kept");
  assert.ok(webhook.startsWith("https://railhead.example.com/ci/gateway/pipeline/api/webhook/custom/"), webhook);
  await server.end("SIGTERM");
});

test("another root key is refused, and nothing is changed", async () => {
  const before = await readFacts(folder);
  const key = await readFile(`${folder.dataDir}/root.key`, "utf8");
  const other = `${folder.path}/other.key`;
  await writeFile(other, `${randomBytes(32).toString("base64")}\n`);
  for (const env of [{ RAILHEAD_ROOT_KEY: randomBytes(32).toString("base64") }, { RAILHEAD_ROOT_KEY_FILE: other }]) {
    const { code, stderr, stdout } = await runServer(folder, { ...OFF, ...env });
    assert.equal(code, 1);
    assert.match(stderr, /^This database is sealed under the key .*RAILHEAD_ROOT_KEY/m);
    assert.doesNotMatch(stderr + stdout, /\n\s+at /);
    assert.doesNotMatch(stdout, /ready/);
  }
  assert.deepEqual(await readFacts(folder), before);
  // The correct key is accepted from a variable, too.
  const server = await startServer(folder, { ...OFF, RAILHEAD_ROOT_KEY: key.trim() });
  assert.equal((await server.end("SIGTERM")).code, 0);
});

test("a lost root key is not replaced by a new key that cannot open anything", async () => {
  const file = `${folder.dataDir}/root.key`;
  const key = await readFile(file);
  await writeFile(file, `${randomBytes(32).toString("base64")}\n`);
  const { code } = await runServer(folder, OFF);
  assert.equal(code, 1);
  await writeFile(file, key);
  await chmod(file, 0o600);
});

test("a second server on the same data directory is refused, and the first continues", async () => {
  const first = await startServer(folder, OFF);
  const facts = await readFacts(folder);
  const { code, stderr, stdout, ms } = await runServer(folder, OFF);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`another .*process ${first.child.pid}`, "i"));
  assert.equal(stderr.trim().split("\n").length, 1, stderr);
  assert.equal(stdout, "");
  assert.ok(ms < 5_000);
  assert.deepEqual(await readFacts(folder), facts);
  assert.equal((await fetch(`${first.url}/health/ready`)).status, 200);
  assert.deepEqual(await createClient(facts).graphql("{ applications(limit: 5) { nodes { name } } }"), {
    applications: { nodes: [{ name: "Shop" }] },
  });
  assert.equal((await first.end("SIGTERM")).code, 0);
});

test("a key generated for a database that has another key is removed", async () => {
  const database = await databaseByAddress("empty");
  const [first, second] = [await createServerFolder(), await createServerFolder()];
  try {
    const env = { ...OFF, DATABASE_URL: database.url };
    const server = await startServer(first, env);
    const { code, stderr } = await runServer(second, env);
    assert.equal(code, 1);
    assert.match(stderr, /This database is sealed under/);
    assert.match(stderr, /root\.key was removed: nothing is sealed under it/);
    assert.ok(!existsSync(`${second.dataDir}/root.key`));
    assert.equal((await server.end("SIGTERM")).code, 0);
    assert.ok(existsSync(`${first.dataDir}/root.key`));
  } finally {
    await Promise.all([first.remove(), second.remove()]);
    await database.drop();
  }
});
