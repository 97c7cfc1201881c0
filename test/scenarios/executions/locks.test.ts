/** The example of locks, on a real server and its delegate. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { createClient, type Client } from "../../support/clients/client.ts";
import { PROJECT, type PipelineDocument } from "../../support/clients/pipeline.ts";
import { databaseByAddress } from "../../support/database.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";

const EXAMPLE = new URL("../../../examples/locks/pipeline.yaml", import.meta.url);

let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;
let server: ServerProcess;
let client: Client;

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
  server = await startServer(folder, { DATABASE_URL: database.url });
  client = createClient(await readFacts(folder));
  await client.makeProject();
});

after(async () => {
  await server?.end("SIGTERM");
  await folder?.remove();
  await database?.drop();
});

/** When a node began and ended. */
type Span = { readonly startTs: number; readonly endTs: number };

test("three executions at once migrate and deploy one after the other", async () => {
  const text = (await readFile(EXAMPLE, "utf8"))
    .replace("projectIdentifier: quickstart", `projectIdentifier: ${PROJECT}`)
    .replaceAll("serviceRef: web_shop", "serviceRef: shop");
  await client.makePipeline(parse(text) as PipelineDocument);
  const ids = await Promise.all([1, 2, 3].map(() => client.run("one_at_a_time")));
  assert.deepEqual(await Promise.all(ids.map((id) => client.end(id))), ["SUCCESS", "SUCCESS", "SUCCESS"]);
  for (const step of ["migrate_database", "roll_out"]) {
    const spans: Span[] = [];
    for (const id of ids) {
      const nodes = Object.values<Span & { readonly identifier: string }>(
        (await client.detail(id)).executionGraph.nodeMap,
      );
      spans.push(nodes.find(({ identifier }) => identifier === step) ?? assert.fail(step));
    }
    spans.sort((a, b) => a.startTs - b.startTs);
    for (const [nth, { startTs }] of spans.slice(1).entries())
      assert.ok(startTs >= (spans[nth]?.endTs ?? Infinity), `${step} runs twice at once`);
  }
});
