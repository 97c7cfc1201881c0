/** `railhead delegate`, started on another machine with a token of the server. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient, type Client } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import { runProgram, startProgram, type Program } from "../../support/processes/program.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";

let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;
let server: ServerProcess;
let client: Client;
let delegate: Program | undefined;

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
  server = await startServer(folder, { DATABASE_URL: database.url });
  client = createClient(await readFacts(folder));
  await client.makeProject();
});

after(async () => {
  await delegate?.end("SIGTERM");
  await server?.end("SIGTERM");
  await folder?.remove();
  await database?.drop();
});

const argumentsFor = (name: string, token: string): readonly string[] => [
  "delegate",
  ...["--url", server.url, "--token", token, "--name", name],
  ...["--tag", "gpu", "--tag", "lab", "--work-dir", `${folder.path}/${name}`],
];

test("a step that needs a tag waits, reports it, and runs on the delegate with the tag", async () => {
  await client.makePipeline(
    pipelineOf("picky", step("one", `echo "on $(basename "$(cd ../../.. && pwd)")"`, { selectors: ["gpu", "lab"] })),
  );
  const id = await client.run("picky");
  const waiting = await client.node(id, "one");
  assert.equal(waiting.status, "TaskWaiting");
  assert.match(waiting.waitReason, /delegate with all of the selectors \[gpu, lab\]/);
  assert.deepEqual(waiting.delegateInfoList, []);

  const made = await client.send("POST", "/ng/api/delegate-token-ng?tokenName=lab");
  assert.equal(made.status, 200, made.text);
  delegate = startProgram({ args: argumentsFor("lab-1", made.body.resource.value), env: {}, cwd: folder.path });
  assert.equal(await client.end(id), "SUCCESS");
  assert.equal(await client.log(id), "on lab-1\n");
  const ran = await client.node(id, "one");
  assert.equal(ran.waitReason, null);
  assert.equal(ran.delegateInfoList[0].name, "lab-1");
  assert.equal((await delegate.end("SIGTERM")).code, 0);
  delegate = undefined;
});

test("an unknown token is refused, and the delegate ends with code 3", async () => {
  const made = await client.send("POST", "/ng/api/delegate-token-ng?tokenName=other");
  const forged = (made.body.resource.value as string).replace(/[^.]+$/, (secret) => [...secret].toReversed().join(""));
  const { code, stderr } = await runProgram({ args: argumentsFor("lab-2", forged), env: {}, cwd: folder.path });
  assert.equal(code, 3);
  assert.match(stderr, /does not accept the token/);
  assert.doesNotMatch(stderr, /\n\s+at /);
});
