/** examples/chained with a real server and delegate. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createClient, type Client } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";

const SCOPE = "orgIdentifier=default&projectIdentifier=quickstart";
const example = (name: string): Promise<string> =>
  readFile(new URL(`../../../examples/${name}`, import.meta.url), "utf8");

let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;
let server: ServerProcess;
let client: Client;

async function post(path: string, body: string) {
  const answer = await client.send("POST", path, body, "application/yaml");
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
  server = await startServer(folder, { DATABASE_URL: database.url });
  client = createClient(await readFacts(folder));
  await post("/ng/api/projects?orgIdentifier=default", await example("quickstart/project.yaml"));
  await post("/ng/api/servicesV2", await example("quickstart/service.yaml"));
  await post("/ng/api/environmentsV2", await example("quickstart/environment.yaml"));
  await post(`/pipeline/api/pipelines?${SCOPE}`, await example("chained/pipeline.yaml"));
  await post(`/pipeline/api/pipelines?${SCOPE}`, await example("chained/deploy.yaml"));
});

after(async () => {
  await server?.end("SIGTERM");
  await folder?.remove();
  await database?.drop();
});

test("a stage runs another pipeline for each region, with its inputs and outputs", async () => {
  const { data } = await post(`/pipeline/api/pipeline/execute/release_everywhere?${SCOPE}`, "");
  const id: string = data.planExecution.uuid;
  assert.equal(await client.end(id), "SUCCESS");
  assert.deepEqual((await client.log(id)).trim().split("\n"), [
    "Deploy to a region: 1.4.1, 2 replicas",
    "Deploy to a region: 1.4.1, 2 replicas",
    "see https://eu.shop.example.com",
    "and https://us.shop.example.com",
  ]);
  const { body } = await client.send("GET", `/pipeline/api/pipelines/execution/${id}`);
  const nodes: readonly { baseFqn: string; identifier: string; stepType: string; outcomes: object }[] = Object.values(
    body.data.executionGraph.nodeMap,
  );
  const at = (fqn: string) => nodes.filter(({ baseFqn }) => baseFqn === fqn);
  assert.deepEqual(
    at("pipeline.stages.deploy")
      .filter(({ stepType }) => stepType === "PIPELINE_STAGE")
      .map(({ identifier, outcomes }) => [identifier, outcomes]),
    [
      ["deploy_0", { output: { outputVariables: { address: "https://eu.shop.example.com" } } }],
      ["deploy_1", { output: { outputVariables: { address: "https://us.shop.example.com" } } }],
    ],
  );
  assert.equal(at("pipeline.stages.deploy.pipeline.stages.rollout").length, 2);
});

test("the chained pipeline runs by itself", async () => {
  const inputs = `pipeline:
  identifier: deploy_to_region
  variables:
    - { name: region, type: String, value: eu }
    - { name: version, type: String, value: "2.0" }
`;
  const { data } = await post(`/pipeline/api/pipeline/execute/deploy_to_region?${SCOPE}`, inputs);
  const id: string = data.planExecution.uuid;
  assert.equal(await client.end(id), "SUCCESS");
  assert.equal(await client.log(id), "Deploy to a region: 2.0, 1 replicas\n");
});
