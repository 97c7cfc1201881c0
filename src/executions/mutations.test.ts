/** `startExecution` and `abortExecution` of GraphQL. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, createTargets, pipelineYaml, projectYaml } from "../../test/support/contract.ts";
import { startTestPlatform, type SendOptions, type TestPlatform } from "../../test/support/platform.ts";

const NOBODY = "AAAAAAAAAAAAAAAAAAAAAA";
let platform: TestPlatform;
let ids: { readonly applicationId: string; readonly entityId: string };

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  const variables = "  variables:\n    - { name: color, type: String, value: '<+input>.allowedValues(red,blue)' }\n";
  await made(create.pipeline(platform, pipelineYaml("deploy", "<+pipeline.variables.color>", variables)));
  const { body } = await platform.graphql("{ applications { nodes { id pipelines { nodes { id } } } } }");
  const [application] = body.data.applications.nodes;
  ids = { applicationId: application.id, entityId: application.pipelines.nodes[0].id };
});
after(() => platform?.stop());

const START = `mutation ($input: StartExecutionInput!) { startExecution(input: $input) { clientMutationId warningMessage
  execution { id status notes startedAt endedAt application { id } ... on PipelineExecution { pipeline { id } } cause { ... on ExecutedByUser { user { email } } } } } }`;
const color = (value: string, type = "NAME") => [{ name: "color", variableValue: { type, value } }];
const input = (more: object = {}) => ({ ...ids, executionType: "PIPELINE", variableInputs: color("red"), ...more });
const count = async () =>
  (
    await platform.db.query(
      "select (select count(*) from executions) as runs, (select count(*) from audit_entries) as audit",
    )
  )[0];

async function ask(query: string, given: object, how: SendOptions = {}) {
  const { body } = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
    contentType: "application/json",
    body: JSON.stringify({ query, variables: { input: given } }),
    account: null,
    ...how,
  });
  return body;
}

async function refusal(query: string, given: object, how: SendOptions = {}): Promise<string> {
  const before_ = await count();
  const { errors, data } = await ask(query, given, how);
  assert.ok(errors, JSON.stringify(data));
  assert.deepEqual(await count(), before_, "nothing is written");
  return errors[0].message;
}

test("a run with notes and the values of its variables; clientMutationId comes back", async () => {
  const { data, errors } = await ask(
    START,
    input({ notes: "as agreed\0", clientMutationId: "c1", variableInputs: color("blue") }),
  );
  assert.equal(errors, undefined, JSON.stringify(errors));
  const { execution, ...rest } = data.startExecution;
  assert.deepEqual(rest, { clientMutationId: "c1", warningMessage: null });
  const { id, startedAt, cause, ...fields } = execution;
  assert.deepEqual(fields, {
    status: "RUNNING",
    notes: "as agreed\uFFFD",
    endedAt: null,
    application: { id: ids.applicationId },
    pipeline: { id: ids.entityId },
  });
  assert.equal(startedAt, platform.clock.now());
  assert.equal(typeof cause.user.email, "string");
  const { text } = await platform.send("GET", `/pipeline/api/pipelines/execution/${id}/inputset`);
  assert.deepEqual(JSON.parse(text), {
    pipeline: { identifier: "deploy", variables: [{ name: "color", value: "blue" }] },
  });
  const { data: listed } = (await platform.graphql("{ executions(limit: 1) { nodes { id notes } } }")).body;
  assert.deepEqual(listed.executions.nodes, [{ id, notes: "as agreed\uFFFD" }]);
});

test("what asks for nothing is understood: empty lists and switches that are off", async () => {
  const off = {
    serviceInputs: [],
    specificHosts: [],
    continueWithDefaultValues: false,
    targetToSpecificHosts: null,
    notes: null,
  };
  const { data } = await ask(START, input(off));
  assert.equal(data.startExecution.clientMutationId, null);
});

test("what is not supported is refused by its name", async () => {
  for (const [more, name] of [
    [{ executionType: "WORKFLOW" }, "executionType WORKFLOW"],
    [{ serviceInputs: [{ name: "web" }] }, "serviceInputs"],
    [{ specificHosts: ["a"] }, "specificHosts"],
    [{ continueWithDefaultValues: true }, "continueWithDefaultValues"],
    [{ excludeHostsWithSameArtifact: true }, "excludeHostsWithSameArtifact"],
    [{ targetToSpecificHosts: true }, "targetToSpecificHosts"],
    [{ variableInputs: color("x", "ID") }, "A variableValue of the type ID"],
  ] as const)
    assert.equal(
      await refusal(START, input(more)),
      `Exception while fetching data (/startExecution) : ${name} is not supported yet.`,
    );
});

test("variables that are missing, not allowed or not there, and notes that are too long, start nothing", async () => {
  assert.match(await refusal(START, input({ variableInputs: [] })), /pipeline\.variables\[0\]\.value/);
  assert.match(await refusal(START, input({ variableInputs: color("green") })), /not one of the allowed values/);
  const shape = [{ name: "shape", variableValue: { type: "NAME", value: "x" } }];
  assert.match(await refusal(START, input({ variableInputs: [...color("red"), ...shape] })), /shape/);
  assert.match(await refusal(START, input({ notes: "x".repeat(5_001) })), /at most 5000 characters/);
});

test("no such pipeline, one of another application or account, and nobody's: all alike; without the right: refused", async () => {
  const texts = new Set<string>();
  for (const more of [
    { entityId: NOBODY },
    { applicationId: NOBODY },
    { applicationId: ids.entityId },
    { entityId: "x" },
  ])
    texts.add((await refusal(START, input(more))).replaceAll(/\[[^\]]*\]/g, "[]"));
  const other = await platform.addAccount();
  const body = JSON.stringify({ query: START, variables: { input: input() } });
  const foreign = await platform.send("POST", `/api/graphql?accountId=${other.accountId}`, {
    account: null,
    apiKey: other.apiKey,
    contentType: "application/json",
    body,
  });
  texts.add(foreign.body.errors[0].message.replaceAll(/\[[^\]]*\]/g, "[]"));
  assert.deepEqual(
    [...texts],
    ["Exception while fetching data (/startExecution) : Pipeline [] does not exist in application []."],
  );
  const viewer = await platform.addUser("_account_viewer");
  assert.match(await refusal(START, input(), { apiKey: viewer }), /Missing permission core_pipeline_execute/);
});

const ABORT =
  "mutation ($input: AbortExecutionInput!) { abortExecution(input: $input) { clientMutationId execution { id status } } }";

test("an abort shows the execution as it is then; late, unknown and forbidden ones are refused", async () => {
  const executionId = (await ask(START, input())).data.startExecution.execution.id;
  const viewer = await platform.addUser("_account_viewer");
  assert.match(await refusal(ABORT, { executionId }, { apiKey: viewer }), /Missing permission core_pipeline_abort/);
  for (const id of ["x", NOBODY]) assert.match(await refusal(ABORT, { executionId: id }), /execution does not exist/);
  const { data } = await ask(ABORT, { executionId, clientMutationId: "c2" });
  assert.deepEqual(data.abortExecution, { clientMutationId: "c2", execution: { id: executionId, status: "ABORTED" } });
  assert.match(await refusal(ABORT, { executionId }), /has ended with status Aborted/);
});
