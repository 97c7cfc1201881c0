/** The server is killed while steps run: nothing is lost and nothing runs twice. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createClient, type Client } from "../../support/clients/client.ts";
import { readToEnd, readUntil } from "../../support/clients/event-stream.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import {
  createBarrier,
  createNotes,
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";
import { waitForStepEnd, stepFolders } from "../../support/processes/step-folders.ts";
import { until } from "../../support/until.ts";

let folder: ServerFolder;
let server: ServerProcess;
let client: Client;

before(async () => {
  folder = await createServerFolder();
  await start();
  await client.makeProject();
});

after(async () => {
  await server?.end("SIGTERM");
  await folder?.remove();
});

async function start(): Promise<void> {
  server = await startServer(folder);
  client = createClient(await readFacts(folder));
}

const counted = async (name: string): Promise<string> => readFile(`${folder.exchange}/${name}`, "utf8");

test("a running step continues; its output and its result arrive once, after the restart", async () => {
  const [barrier, notes] = [createBarrier(folder), createNotes(folder, "meanwhile")];
  const script = `
    echo ran >> ${notes}
    echo before
    read -r word < ${barrier.path}
    echo "away: $word"
    seq 1 20000
    echo away >> ${notes}
    read -r word < ${barrier.path}
    echo "after: $word" >&2
    answer=$'two\\nlines'
    printf 'no line end'`;
  const next = `printf '\\n%s\\n' "$ANSWER"; echo next >> ${notes}`;
  await client.makePipeline(
    pipelineOf(
      "meanwhile",
      step("long", script, { outputs: ["answer"] }),
      step("next", next, { env: { ANSWER: "<+execution.steps.long.output.outputVariables.answer>" } }),
    ),
  );
  const id = await client.run("meanwhile");
  const seen = await readUntil(client.follow(id), "before\n");

  await server.kill();
  barrier.open("no server");
  await until(
    () => counted("meanwhile"),
    (text) => text.endsWith("away\n"),
  );
  await start();
  const resumed = client.follow(id, { lastEventId: seen.lastEventId });
  const rest = await readUntil(resumed, "\n20000\n");
  barrier.open("a new server");
  const end = await readToEnd(resumed);
  barrier.close();

  assert.equal(end.status, "SUCCESS");
  assert.equal(await counted("meanwhile"), "ran\naway\nnext\n");
  const numbers = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join("");
  const whole = `before\naway: no server\n${numbers}after: a new server\nno line end\ntwo\nlines\n`;
  assert.equal(seen.text + rest.text + end.text, whole);
  assert.equal(await client.log(id), whole);
  assert.equal(await client.end(id), "SUCCESS");
  assert.equal((await client.node(id, "long")).status, "Success");
  assert.deepEqual((await client.node(id, "long")).outcomes.output.outputVariables, { answer: "two\nlines" });
});

test("the result of a step that ends while no server runs is recorded", async () => {
  const barrier = createBarrier(folder);
  const script = `
    echo ran >> ${folder.exchange}/ended
    echo before
    read -r word < ${barrier.path}
    echo "after: $word"
    answer=$word`;
  await client.makePipeline(
    pipelineOf(
      "ended",
      step("short", script, { outputs: ["answer"] }),
      step("next", `echo "got $ANSWER"`, { env: { ANSWER: "<+execution.steps.short.output.outputVariables.answer>" } }),
    ),
  );
  const id = await client.run("ended");
  await readUntil(client.follow(id), "before\n");
  const [running, ...others] = stepFolders(folder);
  assert.ok(running && others.length === 0);

  await server.kill();
  barrier.open("alone");
  await waitForStepEnd(running);
  await start();

  assert.equal(await client.end(id), "SUCCESS");
  barrier.close();
  assert.equal(await counted("ended"), "ran\n");
  assert.equal(await client.log(id), "before\nafter: alone\ngot alone\n");
});

test("a step that fails while no server runs is recorded as failed with its exit code", async () => {
  const barrier = createBarrier(folder);
  await client.makePipeline(
    pipelineOf("failed", step("short", `echo before; read -r word < ${barrier.path}; echo "after: $word"; exit 7`)),
  );
  const id = await client.run("failed");
  await readUntil(client.follow(id), "before\n");
  const [running] = stepFolders(folder);
  assert.ok(running);

  await server.kill();
  barrier.open();
  await waitForStepEnd(running);
  await start();

  assert.equal(await client.end(id), "FAILED");
  barrier.close();
  assert.equal(await client.log(id), "before\nafter: go\n");
  assert.match((await client.node(id, "short")).failureInfo.message, /\b7\b/);
});

test("many executions with repeated kills: each step runs once and every log is complete", async () => {
  const notes = createNotes(folder, "storm");
  const script = (number: number): string => `
    echo "${number}" >> ${notes}
    for i in {1..300}; do echo "step ${number} line $i"; done`;
  await client.makePipeline(pipelineOf("storm", ...[1, 2, 3].map((number) => step(`step_${number}`, script(number)))));
  const ids = await Promise.all(Array.from({ length: 10 }, () => client.run("storm")));
  // Each kill comes after this number of steps has started.
  for (const begun of [1, 6, 12]) {
    await until(
      () => counted("storm"),
      (text) => text.split("\n").length > begun,
    );
    await server.kill();
    await start();
  }
  const lines = [1, 2, 3].map((number) =>
    Array.from({ length: 300 }, (_, i) => `step ${number} line ${i + 1}\n`).join(""),
  );
  for (const id of ids) {
    assert.equal(await client.end(id), "SUCCESS");
    assert.equal(await client.log(id), lines.join(""));
  }
  const ran = (await counted("storm")).trim().split("\n");
  assert.deepEqual(
    [1, 2, 3].map((number) => ran.filter((it) => it === String(number)).length),
    [10, 10, 10],
  );
});
