/** The example of the flow of a pipeline, on a real server and its delegate. */
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

const EXAMPLE = new URL("../../../examples/flow/pipeline.yaml", import.meta.url);

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

test("the example runs in parallel, repeats, retries, skips, rolls back and tells of the failure", async () => {
  const text = (await readFile(EXAMPLE, "utf8"))
    .replace("projectIdentifier: quickstart", `projectIdentifier: ${PROJECT}`)
    .replaceAll("serviceRef: web_shop", "serviceRef: shop");
  await client.makePipeline(parse(text) as PipelineDocument);
  const id = await client.run("flow_of_a_release");
  assert.equal(await client.end(id), "FAILED");
  const lines = (await client.log(id)).trim().split("\n");
  assert.deepEqual(lines.slice(0, 6).toSorted(), [
    "lint in checks",
    "smoke try 0",
    "smoke try 1",
    "unit 22 glibc",
    "unit 24 glibc",
    "unit 24 musl",
  ]);
  assert.deepEqual(lines.slice(6), [
    "report SUCCEEDED SKIPPED",
    "roll out",
    "roll back after FAILED",
    "the release has failed in Deploy",
  ]);
});
