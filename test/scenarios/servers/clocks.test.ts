/**
 * The wall clock of the server's machine changes while steps run. Timeouts and durations of the steps do not change.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { alterClocks, type AlteredClocks } from "../../support/processes/altered-clocks.ts";
import { createClient, type Client } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import { readUntil } from "../../support/clients/event-stream.ts";
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

const HOUR = 3_600_000;

let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;
let clocks: AlteredClocks;
let server: ServerProcess;
let client: Client;
let barrier: Barrier;

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
  // Time passes faster in the server: the short timeout below takes half a second.
  clocks = alterClocks(`${folder.path}/clocks.json`, { factor: 20 });
  server = await startServer(folder, { DATABASE_URL: database.url, ...clocks.env });
  client = createClient(await readFacts(folder));
  await client.makeProject();
  barrier = createBarrier(folder);
  await client.makePipeline(
    pipelineOf("long", step("one", `echo first; read -r word < ${barrier.path}`, { timeout: "30m" })),
  );
  await client.makePipeline(pipelineOf("short", step("one", "echo first; exec sleep 1000", { timeout: "10s" })));
});
after(async () => {
  barrier?.close();
  await server?.end("SIGTERM");
  await folder?.remove();
  await database?.drop();
});

for (const [name, wallMs] of [
  ["forward", HOUR],
  ["back", -HOUR],
] as const) {
  test(`an hour ${name}: a step with time left continues, and a step whose timeout has passed expires`, async () => {
    const long = await client.run("long");
    await readUntil(client.follow(long), "first\n");
    const short = await client.run("short");
    await readUntil(client.follow(short), "first\n");
    clocks.set(server.child.pid, { wallMs });
    // The short step has expired: the server has looked for timeouts since the change.
    await client.end(short);
    assert.equal((await client.node(short, "one")).status, "Expired");
    assert.equal((await client.node(long, "one")).status, "Running");
    barrier.open();
    assert.equal(await client.end(long), "SUCCESS");
    for (const id of [short, long]) {
      const { startTs, endTs } = (await client.detail(id)).pipelineExecutionSummary;
      assert.ok(endTs >= startTs && endTs - startTs < HOUR / 2, `${startTs} ${endTs}`);
      const node = await client.node(id, "one");
      assert.ok(node.endTs >= node.startTs && node.endTs - node.startTs < HOUR / 2, `${node.startTs} ${node.endTs}`);
    }
    clocks.set(server.child.pid, { wallMs: 0 });
  });
}
