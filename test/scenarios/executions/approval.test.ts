/** examples/approval with a real server and delegate: approved, and rejected. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "../../support/clients/client.ts";
import { startExampleServer, type ExampleServer } from "../../support/processes/example-server.ts";
import { until } from "../../support/until.ts";

let server: ExampleServer;
let client: Client;
let email: string;
before(async () => {
  server = await startExampleServer("approval");
  ({ client } = server);
  const { body } = await client.send("GET", "/ng/api/user/currentUser");
  email = body.data.email;
});
after(() => server?.stop());

/** Starts the example and waits until its script has ended and it asks. */
async function asked() {
  const inputs = `pipeline:
  identifier: ask_before_a_release
  variables:
    - { name: version, type: String, value: "1.4.2" }
    - { name: pause, type: String, value: 10s }
`;
  const id = await client.run("ask_before_a_release", inputs);
  const path = `/v1/orgs/default/projects/quickstart/approvals/execution/${id}`;
  const [approval] = await until(
    async () => (await client.send("GET", path)).body,
    (approvals) => approvals.length > 0,
  );
  assert.match(approval.details.approvalMessage, /^Release 1\.4\.2\? The tests are in unit-\d+\.xml$/);
  return { id, approval };
}

async function decide(approval: { readonly id: string }, decision: object) {
  const path = `/pipeline/api/approvals/${approval.id}/platform/activity`;
  const { status, text, body } = await client.send("POST", path, JSON.stringify(decision), "application/json");
  assert.equal(status, 200, text);
  return body;
}

test("an approved release waits, and then runs with what the approver entered", async () => {
  const { id, approval } = await asked();
  const approverInputs = [
    { name: "change", value: "CHG-17" },
    { name: "region", value: "us" },
  ];
  const { data } = await decide(approval, { action: "APPROVE", comments: "go", approverInputs });
  assert.equal(data.status, "APPROVED");
  assert.deepEqual(
    [(await client.node(id, "managers")).outcomes.output.approverInputs, (await client.node(id, "pause")).status],
    [{ change: "CHG-17", region: "us" }, "TimedWaiting"],
  );
  assert.equal(await client.end(id), "SUCCESS");
  assert.equal(await client.log(id), `testing 1.4.2\nreleasing in us as CHG-17\napproved by ${email}\n`);
});

test("a rejected release is not run, and the stage for failures tells of it", async () => {
  const { id, approval } = await asked();
  const { data } = await decide(approval, { action: "REJECT", comments: "not today" });
  assert.equal(data.status, "REJECTED");
  await client.end(id);
  assert.equal((await client.node(id, "managers")).status, "ApprovalRejected");
  assert.match((await client.node(id, "managers")).failureInfo.message, /not today/);
  assert.equal((await client.node(id, "pause")).status, "Skipped");
  assert.equal(await client.log(id), "testing 1.4.2\nnot released\n");
});

test("stages without a target have their types in the answers", async () => {
  const { id, approval } = await asked();
  const { text } = await client.send("GET", `/pipeline/api/pipelines/execution/${id}`);
  const { data } = JSON.parse(text);
  const stages: readonly { nodeIdentifier: string; nodeType: string }[] = Object.values(
    data.pipelineExecutionSummary.layoutNodeMap,
  );
  assert.deepEqual(
    stages.map(({ nodeIdentifier, nodeType }) => `${nodeIdentifier} ${nodeType}`),
    ["test Custom", "ask Approval", "release Deployment", "tell Custom"],
  );
  const nodes: readonly { baseFqn: string; stepType: string }[] = Object.values(data.executionGraph.nodeMap);
  const typeOf = (fqn: string) => nodes.find(({ baseFqn }) => baseFqn === fqn)?.stepType;
  assert.equal(typeOf("pipeline.stages.test"), "CUSTOM_STAGE");
  assert.equal(typeOf("pipeline.stages.ask"), "APPROVAL_STAGE");
  await decide(approval, { action: "REJECT" });
  await client.end(id);
});
