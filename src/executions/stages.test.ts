/** `pipelineStageExecutions` and `memberExecutions` of runs in GraphQL. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { GraphQLObjectType } from "graphql";
import { grantOf } from "../../test/support/access.ts";
import { create, made, createTargets, pipelineYaml, projectYaml } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { adminOf } from "../../test/support/secrets.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { PLAIN_LIST } from "../platform/graphql/list-limits.ts";
import { createDocuments } from "../platform/graphql/request/documents.ts";
import { makeListStages, makeReadStages } from "./stages.ts";

let platform: TestPlatform;
let statements: string[] = [];
/** Newest first. */
let runs: readonly string[];

const VARIABLES = `        variables:
          - { name: size, type: Number, value: 3 }
          - { name: of, type: String, value: <+pipeline.identifier> }
          - { name: key, type: Secret, value: account.key }
`;

/** The sample with a second stage, and variables in the first one. */
function twoStages(identifier: string): string {
  const [head = "", stage = ""] = pipelineYaml(identifier).split("  stages:\n");
  const second = stage.replace("name: Build", "name: Ship it").replace("identifier: build", "identifier: ship");
  return `${head}  stages:\n${stage.replace("        spec:\n", `${VARIABLES}        spec:\n`)}${second}`;
}

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: (text, values) => {
        statements.push(text);
        return db.query(text, values);
      },
    }),
  });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  const secret = {
    type: "SecretText",
    name: "key",
    identifier: "key",
    spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "hidden" },
  };
  const body = JSON.stringify({ secret });
  await made(platform.send("POST", "/ng/api/v2/secrets", { contentType: "application/json", body }));
  await made(create.pipeline(platform, twoStages("one")));
  const found: string[] = [];
  for (let nth = 0; nth < 3; nth += 1) {
    platform.clock.advance(1_000);
    found.unshift((await made(create.run(platform, "one"))).planExecution.uuid);
  }
  runs = found;
  await made(platform.send("PUT", `/pipeline/api/pipeline/execute/interrupt/${runs[2]}?interruptType=AbortAll`));
});
after(() => platform?.stop());

const STAGES = `pipelineStageExecutions { pipelineStageElementId pipelineStageName pipelineStepName
  ... on ApprovalStageExecution { approvalStepType status }
  ... on WorkflowStageExecution { status workflowExecutionId inputVariables { name value } runtimeInputVariables { name } } }`;

async function ask(query: string) {
  const { body } = await platform.graphql(query);
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  return body.data;
}
type Stage = { readonly status: string; readonly pipelineStageName: string };
type Node = { readonly id: string; readonly pipelineStageExecutions: readonly Stage[] };
const statusesOf = ({ pipelineStageExecutions }: Node): string[] => pipelineStageExecutions.map(({ status }) => status);

test("the stages of a run in their order with every field, ids as REST has them; no secret among the variables", async () => {
  const { execution } = await ask(
    `{ execution(executionId: "${runs[0]}") { ... on PipelineExecution { ${STAGES} } } }`,
  );
  const scope = "orgIdentifier=default&projectIdentifier=shop";
  const { body } = await platform.send("GET", `/pipeline/api/pipelines/execution/v2/${runs[0]}?${scope}`);
  const ids = Object.keys(body.data.pipelineExecutionSummary.layoutNodeMap);
  const rest = { workflowExecutionId: null, runtimeInputVariables: [] };
  assert.deepEqual(execution.pipelineStageExecutions, [
    {
      pipelineStageElementId: ids[0],
      pipelineStageName: "Build",
      pipelineStepName: "Build",
      status: "RUNNING",
      inputVariables: [
        { name: "size", value: "3" },
        { name: "of", value: "one" },
      ],
      ...rest,
    },
    {
      pipelineStageElementId: ids[1],
      pipelineStageName: "Ship it",
      pipelineStepName: "Ship it",
      status: "QUEUED",
      inputVariables: [],
      ...rest,
    },
  ]);
});

test("a list reads the stages of all its runs by one statement, and only when they are selected", async () => {
  const query = `{ executions { nodes { id ... on PipelineExecution { ${STAGES} } } } }`;
  for (const use of ["interpreted", "compiled", "compiled"]) {
    statements = [];
    const { executions } = await ask(query);
    assert.deepEqual(
      executions.nodes.map((node: Node) => [node.id, statusesOf(node)]),
      [
        [runs[0], ["RUNNING", "QUEUED"]],
        [runs[1], ["RUNNING", "QUEUED"]],
        [runs[2], ["ABORTED", "SKIPPED"]],
      ],
      use,
    );
    assert.equal(statements.filter((text) => text.includes("e.stages")).length, 1, use);
  }
  statements = [];
  await ask("{ executions { nodes { id status } } }");
  assert.deepEqual(
    statements.filter((text) => text.includes("e.stages")),
    [],
  );
});

test("the operation lists the stages of what the actor may see alone, whatever ids it gets", async () => {
  const stages = makeListStages({ readStages: makeReadStages({ db: platform.db }) });
  const accountId = fromWire(platform.accountId) as Uuid;
  const asked = [fromWire(runs[0] ?? "") as Uuid];
  for (const [projectIdentifier, expected] of [
    ["shop", 2],
    ["depot", 0],
  ] as const) {
    const grants = [grantOf("_project_viewer", { orgIdentifier: "default", projectIdentifier })];
    const actor = { kind: "user", accountId, id: accountId, name: "", email: "", grants } as const;
    assert.deepEqual(
      (await stages(actor, asked)).map((found) => !(found instanceof Problem) && found.stages.length),
      [expected],
      projectIdentifier,
    );
  }
});

test("memberExecutions: the list is there, and there are none", async () => {
  const members = "memberExecutions(limit: 5) { nodes { id } pageInfo { limit offset total hasMore } }";
  const { execution } = await ask(
    `{ execution(executionId: "${runs[0]}") { ... on PipelineExecution { ${members} } } }`,
  );
  assert.deepEqual(execution.memberExecutions, {
    nodes: [],
    pageInfo: { limit: 5, offset: 0, total: 0, hasMore: false },
  });
});

test("a run whose plan or state is damaged has no stages or no states of them, and hides none of the others", async () => {
  const [first, second] = [runs[0] ?? "", runs[1] ?? ""];
  const plans = [
    5,
    { root: "r", nodes: { r: { children: "x" } } },
    { root: "r", nodes: { r: { children: ["x", 1] } } },
  ];
  await platform.db.query(
    `update executions set header = replace(header::text, 'running', 'strolling')::json, stages = null, stage_states = null
      where id = $1`,
    [fromWire(second)],
  );
  for (const plan of plans) {
    await platform.db.query("update executions set plan = $2, stages = null, stage_states = null where id = $1", [
      fromWire(first),
      JSON.stringify(plan),
    ]);
    const { executions } = await ask(`{ executions { nodes { id ... on PipelineExecution { ${STAGES} } } } }`);
    assert.deepEqual(executions.nodes.map(statusesOf), [[], ["RUNNING", "QUEUED"], ["ABORTED", "SKIPPED"]]);
  }
});

test("runs with many stages show them in rounds of the event loop of their own: other requests are answered in between", async (t) => {
  const [head = "", stage = ""] = pipelineYaml("many").split("  stages:\n");
  const named = (nth: number): string => stage.replace("identifier: build", `identifier: build${nth}`);
  const stages = Array.from({ length: PLAIN_LIST + 1 }, (_, nth) => named(nth).replace("name: Build", `name: B${nth}`));
  await made(create.pipeline(platform, `${head}  stages:\n${stages.join("")}`));
  for (let nth = 0; nth < 3; nth += 1) {
    platform.clock.advance(1_000);
    await made(create.run(platform, "many"));
  }
  const { schema } = platform.platform;
  const fields = (schema.getType("WorkflowStageExecution") as GraphQLObjectType).getFields();
  const status = fields["status"] ?? assert.fail();
  const resolve = status.resolve ?? assert.fail();
  let round = 0;
  const rounds: number[] = [];
  status.resolve = (...given) => {
    rounds.push(round);
    return resolve(...given);
  };
  t.after(() => void (status.resolve = resolve));
  const context = { actor: adminOf(platform) };
  const query =
    "{ executions(limit: 3) { nodes { ... on PipelineExecution { pipelineStageExecutions { ... on WorkflowStageExecution { status } } } } } }";
  const prepared = createDocuments(schema).prepare(query, undefined, null);
  assert.ok("run" in prepared);
  let isOver = false;
  const result = Promise.resolve(prepared.run(context, null)).finally(() => (isOver = true));
  while (!isOver) {
    await setImmediate();
    round += 1;
  }
  assert.equal((await result).errors, undefined);
  assert.equal(rounds.length, 3 * stages.length);
  assert.equal(new Set(rounds).size, 3);
});
