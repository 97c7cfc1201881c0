/** PostgreSQL is killed while a step runs. The server continues, the database starts again, and nothing is lost. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { postgresIn } from "../../../src/platform/db/embedded/process/processes.ts";
import { createClient } from "../../support/clients/client.ts";
import { readToEnd, readUntil } from "../../support/clients/event-stream.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import {
  createNotes,
  createBarrier,
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";
import { until } from "../../support/until.ts";

let folder: ServerFolder;
let server: ServerProcess;

before(async () => {
  folder = await createServerFolder();
  server = await startServer(folder);
});

after(async () => {
  await server?.end("SIGTERM");
  await folder?.remove();
});

const ready = async (): Promise<number> => {
  const response = await fetch(`${server.url}/health/ready`);
  await response.arrayBuffer();
  return response.status;
};

async function killDatabase(): Promise<void> {
  const pids = await postgresIn(`${folder.dataDir}/postgres/data`);
  assert.ok(pids.length > 3, `PostgreSQL has ${pids.length} processes`);
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await until(ready, (status) => status === 503);
  assert.equal((await fetch(`${server.url}/health/live`)).status, 200);
}

test("a step that prints and a step that ends while the database is away", async () => {
  const barrier = createBarrier(folder);
  const client = createClient(await readFacts(folder));
  await client.makeProject();
  const note = `echo ran >> ${createNotes(folder, "notes")}`;
  const wait = `read -r word < ${barrier.path}`;
  await client.makePipeline(
    pipelineOf(
      "hit",
      step("prints", `${note}; echo one; ${wait}; echo "two: $word"; ${wait}; echo "three: $word"`),
      step("ends", `${note}; echo four; ${wait}; echo "five: $word"`),
      step("last", `${note}; echo six`),
    ),
  );
  const id = await client.run("hit");
  const { text, lastEventId } = await readUntil(client.follow(id), "one\n");

  await killDatabase();
  barrier.open("away");
  await until(ready, (status) => status === 200);
  barrier.open("back");
  // The first stream was cut or reads again. A reader resumes like this in both cases.
  const middle = await readUntil(client.follow(id, { lastEventId }), "four\n");

  await killDatabase();
  barrier.open("gone");
  await until(ready, (status) => status === 200);
  const end = await readToEnd(client.follow(id, { lastEventId: middle.lastEventId }));
  barrier.close();

  const whole = "one\ntwo: away\nthree: back\nfour\nfive: gone\nsix\n";
  assert.equal(text + middle.text + end.text, whole);
  assert.equal(await client.log(id), whole);
  assert.equal(await client.end(id), "SUCCESS");
  assert.equal(await readFile(`${folder.exchange}/notes`, "utf8"), "ran\nran\nran\n");
  assert.equal(server.child.exitCode, null);
});
