/** examples/inputs with a real server and delegate. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "../../support/clients/client.ts";
import { startExampleServer, type ExampleServer } from "../../support/processes/example-server.ts";
import { until } from "../../support/until.ts";

const YAML = "application/yaml";

let server: ExampleServer;
let client: Client;
before(async () => {
  server = await startExampleServer("inputs");
  ({ client } = server);
});
after(() => server?.stop());

/** Waits until a node asks, and returns the path of its inputs. */
async function askedBy(id: string, node: string): Promise<string> {
  const { uuid } = await until(
    () => client.node(id, node),
    ({ status }) => status === "InputWaiting",
  );
  return `/pipeline/api/pipelines/execution/${uuid}/executionInput`;
}

test("a stage and a step ask while the example runs, and get what is submitted as data", async () => {
  const id = await client.run("ask_while_it_runs");
  const stage = await askedBy(id, "release");
  const { data } = (await client.send("GET", stage)).body;
  assert.match(data.inputTemplate, /^stage:\n {2}identifier: release\n/);
  const refused = await client.send("POST", stage, "stage: {variables: [{name: region, value: mars}]}", YAML);
  assert.deepEqual([refused.status, refused.body.code], [400, "INVALID_REQUEST"]);
  const taken = await client.send("POST", stage, "stage: {variables: [{name: region, value: eu}]}", YAML);
  assert.equal(taken.status, 200, taken.text);
  const step = await askedBy(id, "announce");
  const note = `it's "done" $(id) \`id\``;
  const body = { step: { spec: { environmentVariables: [{ name: "NOTE", value: note }] } } };
  const answer = await client.send("POST", step, JSON.stringify(body), "application/json");
  assert.equal(answer.status, 200, answer.text);
  assert.equal(await client.end(id), "SUCCESS");
  assert.equal(await client.log(id), `testing\nreleasing 2 replicas in eu\nreleased: ${note}\n`);
});
