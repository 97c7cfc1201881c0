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

test("steps read the outputs that others have exported, and a secret one is masked", async () => {
  const text = (await readFile(EXAMPLE, "utf8")).replace(
    "projectIdentifier: quickstart",
    `projectIdentifier: ${PROJECT}`,
  );
  await client.makePipeline(parse(text) as PipelineDocument);
  const id = await client.run("outputs_of_steps");
  assert.equal(await client.end(id), "SUCCESS");
  const lines = (await client.log(id)).trim().split("\n");
  const token = lines.findIndex((line) => line.startsWith("token "));
  assert.match(lines[token] ?? "", /^token \*{14} of (?:1[5-9]|2[0-9]) characters$/);
  assert.deepEqual(lines.toSpliced(token, 1), ["built 1.4.2", "tested 1.4.2", "last report: unit-24.xml"]);
});
