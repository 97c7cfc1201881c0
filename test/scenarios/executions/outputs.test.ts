/** The example of outputs, on a real server and its delegate. */
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

const EXAMPLE = new URL("../../../examples/outputs/pipeline.yaml", import.meta.url);

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

test("steps read the outputs that others have exported, of a repeated step those of the last", async () => {
  const text = (await readFile(EXAMPLE, "utf8")).replace(
    "projectIdentifier: quickstart",
    `projectIdentifier: ${PROJECT}`,
  );
  await client.makePipeline(parse(text) as PipelineDocument);
  const id = await client.run("outputs_of_steps");
  assert.equal(await client.end(id), "SUCCESS");
  const lines = (await client.log(id)).trim().split("\n");
  assert.deepEqual(lines, ["built 1.4.2", "tested 1.4.2", "last report: unit-24.xml"]);
});
