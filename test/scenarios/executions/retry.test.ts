/** The example of a retry, on a real server and its delegate. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { createClient, type Client } from "../../support/clients/client.ts";
import { ORGANIZATION, PROJECT, type PipelineDocument } from "../../support/clients/pipeline.ts";
import { databaseByAddress } from "../../support/database.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";

const EXAMPLE = new URL("../../../examples/retry/pipeline.yaml", import.meta.url);
const SCOPE = `orgIdentifier=${ORGANIZATION}&projectIdentifier=${PROJECT}`;

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

test("the example fails, and its retry goes on at the step that failed", async () => {
  const text = (await readFile(EXAMPLE, "utf8")).replace(
    "projectIdentifier: quickstart",
    `projectIdentifier: ${PROJECT}`,
  );
  await client.makePipeline(parse(text) as PipelineDocument);
  const id = await client.run("retry_of_a_release");
  assert.equal(await client.end(id), "FAILED");
  assert.equal(await client.log(id), "compile build-1\ncheck build-1\nroll out build-1\n");
  const path = `/pipeline/api/pipeline/execute/retry/${id}?retryStages=deploy&retryStep=roll_out`;
  const answer = await client.send("PUT", path);
  assert.equal(answer.status, 200, answer.text);
  const { planExecution } = answer.body.data;
  assert.equal(await client.end(planExecution.uuid), "SUCCESS");
  assert.equal(await client.log(planExecution.uuid), "roll out build-1\n");
});

test("a stage of the example runs by itself, with a version that is given", async () => {
  const expression = "<+pipeline.stages.build.spec.execution.steps.compile.output.outputVariables.version>";
  const body = { stageIdentifiers: ["deploy"], expressionValues: { [expression]: "build-7" } };
  const path = `/pipeline/api/pipeline/execute/retry_of_a_release/stages?${SCOPE}`;
  const answer = await client.send("POST", path, JSON.stringify(body), "application/json");
  assert.equal(answer.status, 200, answer.text);
  const { planExecution } = answer.body.data;
  assert.equal(await client.end(planExecution.uuid), "SUCCESS");
  assert.equal(await client.log(planExecution.uuid), "check build-7\nroll out build-7\n");
});
