/** The example of a retry, on a real server and its delegate. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "../../support/clients/client.ts";
import { startExampleServer, type ExampleServer } from "../../support/processes/example-server.ts";

const SCOPE = "orgIdentifier=default&projectIdentifier=quickstart";

let server: ExampleServer;
let client: Client;
before(async () => {
  server = await startExampleServer("retry");
  ({ client } = server);
});
after(() => server?.stop());

test("the example fails, and its retry goes on at the step that failed", async () => {
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
