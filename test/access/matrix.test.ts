/**
 * The access matrix: every REST operation, every GraphQL field and every stream for every caller. The expected cells
 * are data (rows.ts). Operations without a row and rows without an operation fail.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { GraphQLField } from "graphql";
import type { World } from "../contract/world.ts";
import { create, made, projectYaml } from "../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";
import { createExamples, samples, type Sample } from "../scenarios/attacks/requests.ts";
import { CALLERS, createCallers, type CallerName } from "./callers.ts";
import { fieldCell, graphqlCall, restCell, socketCell, type Cell } from "./cells.ts";
import { expectedCells } from "./rows.ts";

let platform: TestPlatform;
let world: World;
let keys: Readonly<Record<CallerName, string | null>>;
let cells = 0;
const wrong: string[] = [];
const found = new Map<string, string>();

before(async () => {
  platform = await startTestPlatform();
  world = await createExamples(platform);
  const org = { name: "Elsewhere", identifier: "elsewhere" };
  const body = JSON.stringify({ organization: org });
  await made(platform.send("POST", "/ng/api/organizations", { body, contentType: "application/json" }));
  await made(create.project(platform, projectYaml("bank").replace("The shop", "The bank")));
  keys = await createCallers(platform);
});
after(() => platform?.stop());

/** Sends the request as each caller and compares the row with the expected cells. */
async function row(name: string, ask: (key: string | null) => Promise<Cell>): Promise<void> {
  let text = "";
  for (const caller of CALLERS) {
    text += await ask(keys[caller]);
    cells += 1;
  }
  // Prevents responses about too many requests.
  platform.clock.advance(1_000);
  found.set(name, text);
  const expected = expectedCells.get(name);
  if (expected === undefined) wrong.push(`${name} has no row in test/access/rows.ts; it answers ${text}`);
  else if (expected !== text) wrong.push(`${name}: expected ${expected}, answers ${text}`);
}

const nameOf = ({ operation, query }: Sample): string =>
  operation.operationId + (query["inShop"] === undefined ? "" : " in a project");

/** Resources of any scope are requested in the account, as in the example, and in a project. */
function everywhere(sample: Sample): readonly Sample[] {
  const { operation, query, body } = sample;
  const isScoped = operation.parameters.some(({ name, required }) => name === "projectIdentifier" && !required);
  if (!isScoped || operation.public || "projectIdentifier" in query) return [sample];
  const scope = { orgIdentifier: "default", projectIdentifier: "shop" };
  // The documents of connectors and secrets contain their scope.
  const inside = /^(connector|secret)\.(create|update)$/.test(operation.operationId)
    ? Object.fromEntries(Object.entries(body as object).map(([root, fields]) => [root, { ...fields, ...scope }]))
    : body;
  return [sample, { ...sample, query: { ...query, ...scope, inShop: "" }, body: inside }];
}

/**
 * Orders the operations: first those that create, then those that read and change, last those that delete, higher
 * slices first.
 */
function inOrder(all: readonly Sample[]): readonly Sample[] {
  const isDelete = ({ operation }: Sample): boolean => operation.method === "DELETE";
  const rank = ({ operation }: Sample): number =>
    operation.operationId.endsWith(".create") ? 0 : ["POST", "GET", "PUT"].indexOf(operation.method) + 1;
  return [
    ...all.filter((one) => !isDelete(one)).toSorted((a, b) => rank(a) - rank(b)),
    ...all.filter(isDelete).toReversed(),
  ];
}

/** Returns arguments for the fields that find one resource. */
async function idsOf(): Promise<World> {
  const { body } = await platform.graphql(
    '{ applicationByName(name: "The shop") { id } executions(limit: 1) { nodes { id } } pipelines(limit: 1) { nodes { id name } } }',
  );
  const { applicationByName, executions, pipelines } = body.data;
  const [execution, pipeline] = [executions.nodes[0], pipelines.nodes[0]];
  const text = 'secretType: ENCRYPTED_TEXT, encryptedText: { name: "matrix", value: "v" }';
  return {
    createSecret: `input: { ${text} }`,
    abortExecution: `input: { executionId: "${execution.id}" }`,
    interruptExecution: `input: { executionId: "${execution.id}", interrupt: AbortAll }`,
    retryExecution: `input: { executionId: "${execution.id}" }`,
    startExecution: `input: { applicationId: "${applicationByName.id}", entityId: "${pipeline.id}", executionType: PIPELINE }`,
    updateApplication: `input: { applicationId: "${applicationByName.id}", description: "d" }`,
    application: `applicationId: "${applicationByName.id}"`,
    approvalDetails: `applicationId: "${applicationByName.id}", executionId: "${execution.id}"`,
    applicationByName: 'name: "The shop"',
    execution: `executionId: "${execution.id}"`,
    pipeline: `pipelineId: "${pipeline.id}"`,
    pipelineByName: `applicationId: "${applicationByName.id}", pipelineName: "${pipeline.name}"`,
  };
}

test("every query and mutation answers each caller as its row says", async () => {
  const { schema } = platform.platform;
  const ids = await idsOf();
  for (const [kind, type] of [
    ["query", schema.getQueryType()],
    ["mutation", schema.getMutationType()],
  ] as const)
    for (const field of Object.values(type?.getFields() ?? {}) as GraphQLField<unknown, unknown>[])
      await row(`${kind} ${field.name}`, (key) => fieldCell(platform, kind, graphqlCall(field, ids), key));
});

test("every stream answers each caller as its row says", async () => {
  await row("delegate session", (key) => socketCell(platform, key));
  assert.equal(await socketCell(platform, await platform.delegateToken()), "+");
});

test("every REST operation answers each caller as its row says", async () => {
  for (const sample of inOrder(samples(world).flatMap(everywhere)))
    await row(nameOf(sample), (key) => restCell(platform, sample, key));
});

test("all cells are as expected, and every row has an operation", (t) => {
  t.diagnostic(`${cells} cells in ${found.size} rows`);
  for (const name of expectedCells.keys()) if (!found.has(name)) wrong.push(`${name} is gone; take its row away`);
  assert.deepEqual(wrong, []);
});
