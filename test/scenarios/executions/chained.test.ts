/** examples/chained with a real server and delegate. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "../../support/clients/client.ts";
import { startExampleServer, type ExampleServer } from "../../support/processes/example-server.ts";

let server: ExampleServer;
let client: Client;
before(async () => {
  server = await startExampleServer("chained");
  ({ client } = server);
});
after(() => server?.stop());

test("a stage runs another pipeline for each region, with its inputs and outputs", async () => {
  const id = await client.run("release_everywhere");
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
  const id = await client.run("deploy_to_region", inputs);
  assert.equal(await client.end(id), "SUCCESS");
  assert.equal(await client.log(id), "Deploy to a region: 2.0, 1 replicas\n");
});
