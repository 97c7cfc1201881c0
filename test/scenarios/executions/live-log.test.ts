/** Reading a log while the step writes it: live, resumed, and in parts. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient, type Client } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import { readToEnd, readUntil } from "../../support/clients/event-stream.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import {
  createBarrier,
  createServerFolder,
  readFacts,
  startServer,
  type Barrier,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";

let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;
let server: ServerProcess;
let client: Client;
let barrier: Barrier;

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
  barrier = createBarrier(folder);
  server = await startServer(folder, { DATABASE_URL: database.url });
  client = createClient(await readFacts(folder));
  await client.makeProject();
});

after(async () => {
  barrier?.close();
  await server?.end("SIGTERM");
  await folder?.remove();
  await database?.drop();
});

test("the first line arrives before the step has ended, and a reader resumes where it stopped", async () => {
  const wait = `read -r word < ${barrier.path}`;
  await client.makePipeline(
    pipelineOf(
      "live",
      step("one", `echo first; ${wait}; echo second; ${wait}; echo third`),
      step("two", "echo fourth"),
    ),
  );
  const id = await client.run("live");
  const whole = client.follow(id);
  const beginning = await readUntil(whole, "first\n");
  assert.equal(beginning.text, "first\n");
  assert.equal((await client.node(id, "one")).status, "Running");

  const part = client.follow(id);
  const { lastEventId } = await readUntil(part, "first\n");
  await part.return(undefined);
  barrier.open();
  const middle = await readUntil(client.follow(id, { lastEventId }), "second\n");
  assert.equal(middle.text, "second\n");
  assert.equal((await client.node(id, "one")).status, "Running");
  barrier.open();

  assert.deepEqual(await readToEnd(client.follow(id, { lastEventId: middle.lastEventId })), {
    text: "third\nfourth\n",
    status: "SUCCESS",
  });
  assert.deepEqual(await readToEnd(whole), { text: "second\nthird\nfourth\n", status: "SUCCESS" });
  // A stream of an ended step also starts at the reader's position.
  assert.deepEqual(await readToEnd(client.follow(id, { lastEventId: "6" })), {
    text: "second\nthird\nfourth\n",
    status: "SUCCESS",
  });
  assert.deepEqual(await readToEnd(client.follow(id, { query: "from=13" })), {
    text: "third\nfourth\n",
    status: "SUCCESS",
  });
});

test("nodeExecutionId, from and limit select parts of the log, by bytes", async () => {
  await client.makePipeline(pipelineOf("parts", step("one", "echo aé; echo b"), step("two", "echo c; echo d")));
  const id = await client.run("parts");
  assert.equal(await client.end(id), "SUCCESS");
  const [one, two] = [(await client.node(id, "one")).uuid, (await client.node(id, "two")).uuid];
  assert.equal(await client.log(id), "aé\nb\nc\nd\n");
  assert.equal(await client.log(id, `nodeExecutionId=${one}`), "aé\nb\n");
  assert.equal(await client.log(id, `nodeExecutionId=${two}`), "c\nd\n");
  assert.equal(await client.log(id, `nodeExecutionId=${two}&from=2`), "d\n");
  assert.equal(await client.log(id, `nodeExecutionId=${two}&from=1&limit=2`), "\nd");
  assert.equal(await client.log(id, "from=4&limit=4"), "b\nc\n");
  assert.equal(await client.log(id, "limit=0"), "");
  assert.equal(await client.log(id, "from=10"), "");
  assert.equal(await client.log(id, "from=999"), "");
  assert.deepEqual(await readToEnd(client.follow(id, { query: `nodeExecutionId=${two}&from=2` })), {
    text: "d\n",
    status: "SUCCESS",
  });
  for (const wrong of ["from=-1", "from=x", "limit=1.5"])
    assert.equal(
      (await client.send("GET", `/pipeline/api/pipelines/execution/${id}/logs?${wrong}`)).status,
      400,
      wrong,
    );
  assert.equal(
    (await client.send("GET", `/pipeline/api/pipelines/execution/${id}/logs?nodeExecutionId=${id}`)).status,
    404,
  );
});

test("a character written in two halves arrives as one", async () => {
  const halves = String.raw`printf 'caf\xc3'; read -r word < ${barrier.path}; printf '\xa9 \xf0\x9f'; read -r word < ${barrier.path}; printf '\x9a\x82\n\xe2\x82'`;
  await client.makePipeline(
    pipelineOf("halves", step("one", halves), step("two", String.raw`printf '\xac\n'; printf 'é%.0s' {1..100000}`)),
  );
  const id = await client.run("halves");
  const stream = client.follow(id);
  const first = await readUntil(stream, "caf");
  assert.equal(first.text, "caf");
  barrier.open();
  const second = await readUntil(stream, "é");
  assert.equal(second.text, "é ");
  // A resumed stream also starts at the beginning of a character.
  const resumed = client.follow(id, { lastEventId: first.lastEventId });
  assert.equal((await readUntil(resumed, "é ")).text, "é ");
  barrier.open();
  // An incomplete character of one step is not completed by the next step.
  const rest = `🚂\n\uFFFD\uFFFD\n${"é".repeat(100_000)}`;
  assert.deepEqual(await readToEnd(stream), { text: rest, status: "SUCCESS" });
  assert.deepEqual(await readToEnd(resumed), { text: rest, status: "SUCCESS" });
});
