/** The request "Create pipeline" of docs/contract.md, and the same pipeline under its application in GraphQL. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, pipelineYaml, projectYaml, SCOPE, YAML } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const counts = async (): Promise<unknown> =>
  (
    await platform.db.query(`select (select count(*) from pipelines) as pipelines,
    (select count(*) from pipeline_versions) as versions, (select count(*) from audit_entries) as audit`)
  )[0];

test("a pipeline: the answer is its identifier, and reading gives the very text back", async () => {
  const yaml = `# kept\n${pipelineYaml("full", "x", "  description: Ships\n  tags: { a: b }\n")}`;
  const answer = await create.pipeline(platform, yaml);
  const { correlationId, ...body } = answer.body;
  assert.match(correlationId, /^[0-9a-f-]{36}$/);
  assert.deepEqual(body, { status: "SUCCESS", data: "full", metaData: null });
  for (const prefix of ["", "/gateway"]) {
    const read = await platform.send("GET", `${prefix}/pipeline/api/pipelines/full?${SCOPE}`);
    assert.deepEqual(read.body.data, {
      yamlPipeline: yaml,
      resolvedTemplatesPipelineYaml: null,
      version: 1,
      gitDetails: { objectId: null, branch: null, repoIdentifier: null, rootFolder: null, filePath: null },
      entityValidityDetails: { valid: true, invalidYaml: null },
      modules: ["CD", "PMS"],
    });
  }
});

test("JSON is laid out anew and saves the same pipeline", async () => {
  const { parse } = await import("yaml");
  const document = parse(pipelineYaml("from_json"));
  assert.equal(await made(create.pipeline(platform, JSON.stringify(document), "application/json")), "from_json");
  const read = await platform.send("GET", `/pipeline/api/pipelines/from_json?${SCOPE}`);
  assert.deepEqual(parse(read.body.data.yamlPipeline), document);
});

test("the scope: required in the query, the document's own has to be the same", async () => {
  for (const query of ["", "orgIdentifier=default", "projectIdentifier=shop", "orgIdentifier=&projectIdentifier="]) {
    const answer = await platform.send("POST", `/pipeline/api/pipelines?${query}`, {
      contentType: YAML,
      body: pipelineYaml("q"),
    });
    assert.deepEqual([answer.status, answer.body.code], [400, "INVALID_REQUEST"], query);
  }
  const elsewhere = await create.pipeline(
    platform,
    pipelineYaml("q").replace("projectIdentifier: shop", "projectIdentifier: other"),
  );
  assert.deepEqual([elsewhere.status, elsewhere.body.code], [400, "INVALID_REQUEST"]);
  assert.match(elsewhere.body.message, /projectIdentifier/);
  const none = await platform.send("POST", "/pipeline/api/pipelines?orgIdentifier=default&projectIdentifier=none", {
    contentType: YAML,
    body: pipelineYaml("q"),
  });
  assert.deepEqual([none.status, none.body.code], [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
  const missing = await platform.send("GET", `/pipeline/api/pipelines/none?${SCOPE}`);
  assert.deepEqual([missing.status, missing.body.code], [404, "ENTITY_NOT_FOUND"]);
});

test("an identifier is taken once in its project, and nothing is half written", async () => {
  await made(create.pipeline(platform, pipelineYaml("taken")));
  const earlier = await counts();
  const again = await create.pipeline(platform, pipelineYaml("taken"));
  assert.deepEqual([again.status, again.body.code], [400, "DUPLICATE_FIELD"]);
  assert.equal(again.body.message, "A pipeline with identifier [taken] already exists in project [shop].");
  assert.deepEqual(await counts(), earlier);
  const raced = await Promise.all([1, 2, 3, 4].map(() => create.pipeline(platform, pipelineYaml("raced"))));
  assert.deepEqual(
    raced.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 400, 400, 400],
  );
  const [rows] = await platform.db.query(`select count(*) as audit from audit_entries where resource_id = 'raced'`);
  assert.deepEqual(rows, { audit: 1 });
});

test("unknown fields are refused by name, with line and column, and nothing is saved", async () => {
  const earlier = await counts();
  for (const field of ["id", "accountId", "createdAt", "platformManaged", "version", "yamlPipeline"]) {
    const { status, body } = await create.pipeline(platform, pipelineYaml("mass", "x", `  ${field}: 1\n`));
    assert.deepEqual([status, body.code], [400, "SCHEMA_VALIDATION_FAILED"], field);
    const [fault] = body.metadata.schemaErrors;
    assert.deepEqual([fault.fqn, fault.line, fault.column], [`pipeline.${field}`, 6, 3]);
  }
  assert.deepEqual(await counts(), earlier);
});

test("application { pipelines }: by name, with limit, offset, description and who made it", async () => {
  const { body } = await platform.graphql(
    `{ applications { nodes { name pipelines(limit: 2, offset: 1) { nodes { id name description createdAt createdBy { id } } pageInfo { limit offset total hasMore } } } } userByName(name: "admin") { id } }`,
  );
  const [application] = body.data.applications.nodes;
  assert.equal(application.name, "The shop");
  assert.deepEqual(application.pipelines.pageInfo, { limit: 2, offset: 1, total: 4, hasMore: true });
  assert.deepEqual(
    application.pipelines.nodes.map(({ name }: { name: string }) => name),
    ["full", "raced"],
  );
  const [full] = application.pipelines.nodes;
  assert.match(full.id, /^[A-Za-z0-9_-]{22}$/);
  assert.deepEqual(
    { ...full, id: "" },
    {
      id: "",
      name: "full",
      description: "Ships",
      createdAt: platform.clock.now(),
      createdBy: { id: body.data.userByName.id },
    },
  );
});

test("pipelines: limits are cut, negative ones refused with the path of the field", async () => {
  const far = await platform.graphql(
    "{ applications(limit: 1) { nodes { pipelines(limit: 9999) { pageInfo { limit } } } } }",
  );
  assert.equal(far.body.data.applications.nodes[0].pipelines.pageInfo.limit, 1000);
  const { body } = await platform.graphql("{ applications { nodes { pipelines(limit: -1) { nodes { id } } } } }");
  assert.deepEqual(body.data, { applications: { nodes: [{ pipelines: null }] } });
  assert.equal(
    body.errors[0].message,
    "Exception while fetching data (/applications/nodes[0]/pipelines) : limit must not be negative.",
  );
});
