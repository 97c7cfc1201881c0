/** SIGTERM, SIGINT and Ctrl-C: everything stops in order but the steps, which the next start takes up. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { makeClient, type Client } from "../support/client.ts";
import { readUntil, readToEnd } from "../support/event-stream.ts";
import { pipelineOf, step } from "../support/pipeline.ts";
import {
  makeGate,
  makeServerFolder,
  processesIn,
  readFacts,
  startServer,
  type Gate,
  type ServerFolder,
  type ServerProcess,
} from "../support/server-process.ts";

let folder: ServerFolder;
let server: ServerProcess;
let client: Client;
let gate: Gate;

before(async () => {
  folder = await makeServerFolder();
  gate = makeGate(folder);
  await start();
  await client.makeProject();
  const script = `echo before; read -r word < ${gate.path}; echo "after: $word"`;
  await client.makePipeline(pipelineOf("long", step("wait", script)));
});

after(async () => {
  await server?.end("SIGTERM");
  gate?.close();
  await folder?.remove();
});

async function start(): Promise<void> {
  server = await startServer(folder);
  client = makeClient(await readFacts(folder));
}

const ways: readonly (readonly [name: string, send: (pid: number) => void])[] = [
  ["SIGTERM", (pid) => process.kill(pid, "SIGTERM")],
  ["SIGINT", (pid) => process.kill(pid, "SIGINT")],
  // A terminal tells the whole group, the local delegate included.
  ["Ctrl-C", (pid) => process.kill(-pid, "SIGINT")],
];
for (const [name, send] of ways) {
  test(`${name} while a step runs`, async () => {
    const id = await client.run("long");
    const stream = client.follow(id);
    await readUntil(stream, "before\n");

    const from = performance.now();
    send(server.child.pid ?? 0);
    const ended = await server.exited;
    assert.deepEqual({ code: ended.code, signal: ended.signal }, { code: 0, signal: null });
    assert.ok(performance.now() - from < 10_000);
    assert.deepEqual(
      await stream
        .next()
        .catch(() => ({ done: true }))
        .then(({ done }) => done),
      true,
    );
    const left = processesIn(folder.path);
    assert.ok(left.length > 0, "the step is gone");
    for (const { cwd, command } of left) assert.match(cwd, /\/delegate\/tasks\/[^/]+\/work$/, command);
    assert.equal(existsSync(`${folder.dataDir}/postgres/data/postmaster.pid`), false);

    await start();
    assert.doesNotMatch(server.stderr(), /recover|still running|survived/);
    gate.open(name);
    assert.deepEqual(await readToEnd(client.follow(id)), { text: `before\nafter: ${name}\n`, status: "SUCCESS" });
  });
}

test("without a step nothing at all is left", async () => {
  assert.equal((await server.end("SIGTERM")).code, 0);
  assert.deepEqual(processesIn(folder.path), []);
});
