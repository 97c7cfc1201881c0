/** examples/approval with a real server and delegate: approved, and rejected. */
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
import { until } from "../../support/until.ts";

const SCOPE = "orgIdentifier=default&projectIdentifier=quickstart";
const example = (name: string): Promise<string> =>
  readFile(new URL(`../../../examples/${name}`, import.meta.url), "utf8");

let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;
let server: ServerProcess;
let client: Client;
let email: string;

async function post(path: string, body: string, contentType = "application/yaml") {
  const answer = await client.send("POST", path, body, contentType);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
  server = await startServer(folder, { DATABASE_URL: database.url });
  client = createClient(await readFacts(folder));
  await post("/ng/api/projects?orgIdentifier=default", await example("quickstart/project.yaml"));
  await post("/ng/api/servicesV2", await example("quickstart/service.yaml"));
  const environment = (await example("quickstart/environment.yaml"))
    .replace("identifier: staging", "identifier: production")
    .replace("PreProduction", "Production");
  await post("/ng/api/environmentsV2", environment);
  const { body } = await client.send("GET", "/ng/api/user/currentUser");
  email = body.data.email;
  const group = { identifier: "release_managers", name: "Release managers", users: [body.data.uuid] };
  await post(`/ng/api/user-groups?${SCOPE}`, JSON.stringify(group), "application/json");
  await post(`/pipeline/api/pipelines?${SCOPE}`, await example("approval/pipeline.yaml"));
});

after(async () => {
  await server?.end("SIGTERM");
  await folder?.remove();
  await database?.drop();
});

/** Starts the example and waits until its script has ended and it asks. */
async function asked() {
  const inputs = `pipeline:
  identifier: ask_before_a_release
  variables:
    - { name: version, type: String, value: "1.4.2" }
    - { name: pause, type: String, value: 10s }
`;
  const { data } = await post(`/pipeline/api/pipeline/execute/ask_before_a_release?${SCOPE}`, inputs);
  const id: string = data.planExecution.uuid;
  const path = `/v1/orgs/default/projects/quickstart/approvals/execution/${id}`;
  const [approval] = await until(
    async () => (await client.send("GET", path)).body,
    (approvals) => approvals.length > 0,
  );
  assert.match(approval.details.approvalMessage, /^Release 1\.4\.2\? The tests are in unit-\d+\.xml$/);
  return { id, approval };
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
async function node(id: string, identifier: string): Promise<any> {
  const { body, text } = await client.send("GET", `/pipeline/api/pipelines/execution/${id}`);
  const nodes: readonly { identifier: string }[] = Object.values(body.data.executionGraph.nodeMap);
  const found = nodes.find((one) => one.identifier === identifier);
  assert.ok(found, text);
  return found;
}

const decide = (approval: { readonly id: string }, body: object) =>
  post(`/pipeline/api/approvals/${approval.id}/platform/activity`, JSON.stringify(body), "application/json");

test("an approved release waits, and then runs with what the approver entered", async () => {
  const { id, approval } = await asked();
  const approverInputs = [
    { name: "change", value: "CHG-17" },
    { name: "region", value: "us" },
  ];
  const { data } = await decide(approval, { action: "APPROVE", comments: "go", approverInputs });
  assert.equal(data.status, "APPROVED");
  assert.deepEqual(
    [(await node(id, "managers")).outcomes.output.approverInputs, (await node(id, "pause")).status],
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
  assert.equal((await node(id, "managers")).status, "ApprovalRejected");
  assert.match((await node(id, "managers")).failureInfo.message, /not today/);
  assert.equal((await node(id, "pause")).status, "Skipped");
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
