/** SIGTERM, SIGINT, SIGHUP and Ctrl-C stop everything in order except the steps. The next start continues them. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { createClient, type Client } from "../../support/clients/client.ts";
import { readUntil, readToEnd } from "../../support/clients/event-stream.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
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

let folder: ServerFolder;
let server: ServerProcess;
let client: Client;
let barrier: Barrier;

before(async () => {
  folder = await createServerFolder();
  barrier = createBarrier(folder);
  await start();
  await client.makeProject();
  const script = `echo before; read -r word < ${barrier.path}; echo "after: $word"`;
  await client.makePipeline(pipelineOf("long", step("wait", script)));
});

after(async () => {
  await server?.end("SIGTERM");
  barrier?.close();
  await folder?.remove();
});

async function start(): Promise<void> {
  server = await startServer(folder);
  client = createClient(await readFacts(folder));
}

const ways: readonly (readonly [name: string, send: (pid: number) => void])[] = [
  ["SIGTERM", (pid) => process.kill(pid, "SIGTERM")],
  ["SIGINT", (pid) => process.kill(pid, "SIGINT")],
  // A terminal sends the signal to the whole group, including the local delegate.
  ["Ctrl-C", (pid) => process.kill(-pid, "SIGINT")],
  // A closed terminal does the same.
  ["SIGHUP", (pid) => process.kill(-pid, "SIGHUP")],
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
    assert.doesNotMatch(server.stderr(), /database is recovering|still running|survived/);
    barrier.open(name);
    assert.deepEqual(await readToEnd(client.follow(id)), { text: `before\nafter: ${name}\n`, status: "SUCCESS" });
  });
}

test("without a running step no process is left", async () => {
  assert.equal((await server.end("SIGTERM")).code, 0);
  assert.deepEqual(processesIn(folder.path), []);
});

/**
 * What nohup changes although Node ignores ignored signals: the shell's `_`, and an input that is open for writing
 * only.
 */
const underNohup: readonly (readonly [name: string, command: string])[] = [
  ["the name in _", "_=/usr/bin/nohup exec"],
  ["standard input", "exec 0>/dev/null; exec"],
];
for (const [name, command] of underNohup) {
  test(`nohup keeps server and local delegate alive when the terminal closes: ${name}`, async () => {
    const other = await createServerFolder();
    const kept = await startServer(other, {}, command);
    try {
      const programs = (): readonly number[] =>
        processesIn(other.path)
          // Connections of the database may open and close.
          .filter(({ command }) => !command.startsWith("postgres:"))
          .map(({ pid }) => pid);
      const before = programs();
      assert.equal(before.length, 3, "server, local delegate and database");
      process.kill(-(kept.child.pid ?? 0), "SIGHUP");
      // Signals arrive in order: if SIGHUP ended the server, it would end before this response.
      assert.equal((await fetch(`${kept.url}/health/ready`)).status, 200);
      assert.deepEqual(programs(), before);
      assert.equal((await kept.end("SIGTERM")).code, 0);
      assert.match(kept.stderr(), /"signal":"SIGTERM"/);
    } finally {
      await kept.end("SIGKILL");
      await other.remove();
    }
  });
}
