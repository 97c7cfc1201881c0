/** Pipelines in GraphQL: the lists with their filters, one by id and by name, all fields. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, createTargets, pipelineYaml, projectYaml, SCOPE, YAML } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
/** Ids by name, of applications and pipelines. */
const ids: Record<string, string> = {};
let statements = 0;

const VARIABLES = `  variables:
    - { name: asked, type: String, value: <+input> }
    - { name: chosen, type: String, value: "<+input>.default(a).allowedValues(a,b)" }
    - { name: number, type: Number, value: <+input>, default: 3 }
    - { name: maybe, type: String, value: <+input>, required: false }
    - { name: fixed, type: Number, value: 7 }
`;

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: (text, values) => {
        statements += 1;
        return db.query(text, values);
      },
    }),
  });
  await made(create.project(platform, projectYaml()));
  await made(create.project(platform, projectYaml("depot").replace("The shop", "The depot")));
  await createTargets(platform);
  await made(
    create.pipeline(platform, pipelineYaml("one", "x", `  description: First\n  tags: { team: red }\n${VARIABLES}`)),
  );
  await made(create.pipeline(platform, pipelineYaml("two", "x", "  tags: { team: blue, urgent: '' }\n")));
  await made(
    platform.send("POST", "/pipeline/api/pipelines?orgIdentifier=default&projectIdentifier=depot", {
      contentType: YAML,
      body: pipelineYaml("three").replace("projectIdentifier: shop", "projectIdentifier: depot"),
    }),
  );
  const data = await ask("{ applications { nodes { id name } } pipelines { nodes { id name } } }");
  for (const { id, name } of [...data.applications.nodes, ...data.pipelines.nodes]) ids[name] = id;
});
after(() => platform?.stop());

async function ask(query: string, variables: unknown = null) {
  const { body } = await platform.graphql(query, variables);
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  return body.data;
}
const refusal = async (query: string, variables: unknown = null): Promise<string> => {
  const { body } = await platform.graphql(query, variables);
  return body.errors?.[0]?.message ?? "none";
};
const filtered = async (filters: unknown): Promise<string[]> => {
  const data = await ask("query ($filters: [PipelineFilter]) { pipelines(filters: $filters) { nodes { name } } }", {
    filters,
  });
  return data.pipelines.nodes.map(({ name }: { name: string }) => name);
};

test("a pipeline with every field, by its id and by its name", async () => {
  const fields = `id name description createdAt createdBy { id name email } tags { name value }
    pipelineVariables { name type required defaultValue allowedValues allowMultipleValues fixed }`;
  const data = await ask(
    `query ($id: String!, $app: String!) { pipeline(pipelineId: $id) { ${fields} }
      pipelineByName(applicationId: $app, pipelineName: "one") { ${fields} } userByName(name: "admin") { id name email } }`,
    { id: ids["one"], app: ids["The shop"] },
  );
  const rest = { allowMultipleValues: false, allowedValues: null };
  assert.deepEqual(data.pipeline, {
    id: ids["one"],
    name: "one",
    description: "First",
    createdAt: platform.clock.now(),
    createdBy: data.userByName,
    tags: [{ name: "team", value: "red" }],
    pipelineVariables: [
      { name: "asked", type: "Text", required: true, defaultValue: null, fixed: false, ...rest },
      {
        name: "chosen",
        type: "Text",
        required: false,
        defaultValue: "a",
        fixed: false,
        ...rest,
        allowedValues: ["a", "b"],
      },
      { name: "number", type: "Number", required: false, defaultValue: "3", fixed: false, ...rest },
      { name: "maybe", type: "Text", required: false, defaultValue: null, fixed: false, ...rest },
      { name: "fixed", type: "Number", required: false, defaultValue: "7", fixed: true, ...rest },
    ],
  });
  assert.deepEqual(data.pipelineByName, data.pipeline);
});

test("all of the account's, by name, in pages; three statements with variables, however many there are", async () => {
  const data = await ask(
    "{ pipelines(limit: 2, offset: 1) { nodes { name } pageInfo { limit offset total hasMore } } }",
  );
  assert.deepEqual(data.pipelines, {
    nodes: [{ name: "three" }, { name: "two" }],
    pageInfo: { limit: 2, offset: 1, total: 3, hasMore: false },
  });
  const query =
    "{ pipelines { nodes { name description createdBy { email } tags { name } pipelineVariables { name } } } }";
  await ask(query);
  statements = 0;
  const { pipelines } = await ask(query);
  assert.equal(pipelines.nodes[0].pipelineVariables.length, 5);
  assert.ok(statements <= 4, `${statements} statements: the list's, two of variables, and the credential's`);
  assert.equal(
    await refusal("{ pipelines(limit: -1) { nodes { id } } }"),
    "Exception while fetching data (/pipelines) : limit must not be negative.",
  );
});

test("LIKE takes 20 values in all filters of pipelines", async () => {
  const texts = Array.from({ length: 11 }, (_, index) => `x${index}`);
  const like = `{ operator: LIKE, values: ${JSON.stringify(texts)} }`;
  const listed = (filter: string): string => `{ pipelines(filters: [${filter}]) { nodes { name } } }`;
  assert.deepEqual((await ask(listed(`{ pipeline: ${like} }`))).pipelines.nodes, []);
  assert.match(
    await refusal(listed(`{ application: ${like} }, { pipeline: ${like} }`)),
    / : The filter 'pipeline' has too many values: /,
  );
});

test("the filters: each with its operators, ANDed in a list and in an object", async () => {
  const application = (operator: string, ...values: (string | undefined)[]) => ({ application: { operator, values } });
  const pipeline = (operator: string, ...values: (string | undefined)[]) => ({ pipeline: { operator, values } });
  const tag = (...tags: { name: string; value?: string }[]) => ({ tag: { entityType: "PIPELINE", tags } });
  const shop = ids["The shop"];
  for (const [filters, expected] of [
    [[application("EQUALS", shop)], ["one", "two"]],
    [[application("IN", shop, ids["The depot"])], ["one", "three", "two"]],
    [[application("NOT_IN", shop)], ["three"]],
    [[application("LIKE", "DEPOT")], ["three"]],
    [[application("NOT_NULL")], ["one", "three", "two"]],
    [[application("EQUALS", "none")], []],
    [[pipeline("EQUALS", ids["two"])], ["two"]],
    [[pipeline("NOT_IN", ids["two"], "none")], ["one", "three"]],
    [[pipeline("LIKE", "T")], ["three", "two"]],
    [[pipeline("LIKE", "%")], []],
    [[tag({ name: "team" })], ["one", "two"]],
    [[tag({ name: "team", value: "red" })], ["one"]],
    [[tag({ name: "team" }, { name: "urgent" })], ["two"]],
    [[application("EQUALS", shop), pipeline("LIKE", "two")], ["two"]],
    [[{ ...application("EQUALS", shop), ...pipeline("LIKE", "three") }], []],
    [{ ...application("EQUALS", shop) }, ["one", "two"]],
    [[], ["one", "three", "two"]],
    [
      [null, {}],
      ["one", "three", "two"],
    ],
  ] as const)
    assert.deepEqual(await filtered(filters), expected, JSON.stringify(filters));
  const many = Array.from({ length: 21 }, () => ({}));
  const query = "query ($filters: [PipelineFilter]) { pipelines(filters: $filters) { nodes { name } } }";
  assert.match(await refusal(query, { filters: many }), /at most 20/);
});

test("what is not there, what was deleted and what is somebody else's answer alike", async () => {
  await made(create.pipeline(platform, pipelineYaml("passing")));
  const { pipelines } = await ask("{ pipelines { nodes { id name } } }");
  const passing = pipelines.nodes.find(({ name }: { name: string }) => name === "passing").id;
  await made(create.run(platform, "passing"));
  await made(platform.send("DELETE", `/pipeline/api/pipelines/passing?${SCOPE}`));
  const byId = (id: string) => refusal("query ($id: String!) { pipeline(pipelineId: $id) { name } }", { id });
  for (const id of [passing, "AAAAAAAAAAAAAAAAAAAAAA", "x"])
    assert.equal(await byId(id), `Exception while fetching data (/pipeline) : Pipeline [${id}] does not exist.`);
  const byName = (app: string | undefined) =>
    refusal('query ($app: String!) { pipelineByName(applicationId: $app, pipelineName: "passing") { name } }', { app });
  for (const app of [ids["The shop"], "x"])
    assert.match(
      await byName(app),
      /^Exception while fetching data \(\/pipelineByName\) : Pipeline \[passing\] does not exist/,
    );
  const { executions } = await ask(
    "{ executions { nodes { ... on PipelineExecution { pipeline { name description } } } } }",
  );
  assert.deepEqual(executions.nodes, [{ pipeline: { name: "passing", description: "" } }], "its run still knows it");
  // Its identifier is another's now, whom its id must not start.
  await made(create.pipeline(platform, pipelineYaml("passing")));
  const start = `mutation ($app: String!, $id: String!) { startExecution(
    input: { applicationId: $app, entityId: $id, executionType: PIPELINE }) { clientMutationId } }`;
  assert.match(await refusal(start, { app: ids["The shop"], id: passing }), /\(\/startExecution\) : .* does not exist/);
  const { accountId, apiKey } = await platform.addAccount();
  const other = await platform.send("POST", `/api/graphql?accountId=${accountId}`, {
    account: null,
    apiKey,
    contentType: "application/json",
    body: JSON.stringify({ query: `{ pipelines { nodes { id } } pipeline(pipelineId: "${ids["one"]}") { name } }` }),
  });
  assert.match(other.body.errors[0].message, /does not exist/);
  assert.deepEqual(other.body.data?.pipelines ?? { nodes: [] }, { nodes: [] });
});
