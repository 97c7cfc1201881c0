/** Pipelines over REST beside their creation: versions, deletion, lists, validation. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  clusterYaml,
  create,
  JSON_TYPE,
  made,
  createTargets,
  onCluster,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
});
after(() => platform?.stop());

const BASE = "/pipeline/api/pipelines";
const ask = (method: string, path: string, body?: string, version?: number, type = YAML): Promise<Answer> =>
  platform.send(method, `${BASE}${path}${path.includes("?") ? "&" : "?"}${SCOPE}`, {
    ...(body === undefined ? {} : { body, contentType: type }),
    ...(version === undefined ? {} : { headers: { "if-match": String(version) } }),
  });
const list = async (query: string, filter?: object) =>
  made(ask("POST", `/list?${query}`, filter && JSON.stringify(filter), undefined, JSON_TYPE));
const names = (page: { content: { identifier: string }[] }): string[] => page.content.map((one) => one.identifier);
const auditOf = (id: string) =>
  platform.db.query("select operation from audit_entries where resource_id = $1 order by id", [id]);

test("saving anew makes the next version; a run keeps the one that it began with", async () => {
  const first = pipelineYaml("kept", "one");
  await made(create.pipeline(platform, first));
  const run = await made(create.run(platform, "kept"));
  platform.clock.advance(1_000);
  const second = `# second\n${pipelineYaml("kept", "two", "  description: New\n  tags: { a: b }\n")}`;
  assert.equal(await made(ask("PUT", "/kept", second, 1)), "kept");
  const read = await made(ask("GET", "/kept"));
  assert.deepEqual([read.version, read.yamlPipeline], [2, second]);
  const again = await made(ask("PUT", "/v2/kept", first));
  assert.deepEqual(again, { identifier: "kept", governanceMetadata: null });
  const later = await made(create.run(platform, "kept"));
  const versions = await platform.db.query("select pipeline_version as v from executions order by created_at, id");
  assert.deepEqual(versions, [{ v: 1 }, { v: 3 }]);
  assert.notEqual(run.planExecution.uuid, later.planExecution.uuid);
  assert.deepEqual(await auditOf("kept"), [
    { operation: "pipeline.create" },
    { operation: "execution.start" },
    { operation: "pipeline.update" },
    { operation: "pipeline.update" },
    { operation: "execution.start" },
  ]);
});

test("the history: every version's text, who saved it and when, newest first", async () => {
  const { content, totalElements } = await made(ask("GET", "/kept/versions?size=2"));
  assert.equal(totalElements, 3);
  assert.deepEqual(
    content.map((one: { version: number }) => one.version),
    [3, 2],
  );
  assert.match(content[0].createdBy.id, /^[A-Za-z0-9_-]{22}$/);
  const rest = await made(ask("GET", "/kept/versions?size=2&page=1"));
  assert.deepEqual(
    rest.content.map((one: { version: number }) => one.version),
    [1],
  );
  const one = await made(ask("GET", "/kept/versions/1"));
  assert.deepEqual([one.version, one.yamlPipeline], [1, pipelineYaml("kept", "one")]);
  assert.equal(content[0].createdAt, one.createdAt + 1_000);
  for (const version of ["0", "4", "99999999999999", "x", "-1"]) {
    const { status, body } = await ask("GET", `/kept/versions/${version}`);
    assert.deepEqual([status, body.code], [404, "ENTITY_NOT_FOUND"], version);
  }
  assert.equal((await ask("GET", "/none/versions")).status, 404);
});

test("a version that is not the newest is refused, and of several writers one wins", async () => {
  await made(create.pipeline(platform, pipelineYaml("raced")));
  const answers = await Promise.all([1, 2, 3, 4].map((n) => ask("PUT", "/raced", pipelineYaml("raced", `v${n}`), 1)));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 402, 402, 402],
  );
  const stale = answers.find(({ status }) => status === 402);
  assert.equal(stale?.body.code, "OPTIMISTIC_LOCKING_EXCEPTION");
  const [rows] = await platform.db.query(
    "select count(*) as n from pipeline_versions v join pipelines p on p.id = v.pipeline_id where p.identifier = 'raced'",
  );
  assert.deepEqual(rows, { n: 2 });
  assert.equal((await ask("DELETE", "/raced", undefined, 1)).status, 402);
});

test("the document's identifier is the one in the address", async () => {
  await made(create.pipeline(platform, pipelineYaml("mine")));
  const { status, body } = await ask("PUT", "/mine", pipelineYaml("yours"));
  assert.deepEqual([status, body.code], [400, "INVALID_REQUEST"]);
  const [fault] = body.metadata.schemaErrors;
  assert.deepEqual([fault.fqn, fault.line, fault.column], ["pipeline.identifier", 3, 15]);
  assert.equal((await ask("PUT", "/nobody", pipelineYaml("nobody"))).body.code, "ENTITY_NOT_FOUND");
  const wrong = await ask("PUT", "/mine", pipelineYaml("mine", "x", "  bogus: 1\n"));
  assert.deepEqual([wrong.status, wrong.body.code], [400, "SCHEMA_VALIDATION_FAILED"]);
  assert.equal((await made(ask("GET", "/mine"))).version, 1, "nothing was saved");
});

test("faults name stage and step and say what to do; all unsupported blocks are told at once", async () => {
  const yaml = pipelineYaml("blocks")
    .replace("        failureStrategies:", "        runMode: { type: Auto }\n        failureStrategies:")
    .replace(
      "                  type: ShellScript\n",
      "                  type: Policy\n                  enforce: { policySets: [] }\n",
    )
    .replace("            rollbackSteps: []", "            rollbackSteps:\n              - insert: {}");
  const { status, body } = await create.pipeline(platform, yaml);
  assert.equal(status, 400);
  type Told = {
    readonly message: string;
    readonly hintMessage: string | null;
    readonly stageInfo: { readonly identifier: string; readonly fqn: string } | null;
    readonly stepInfo: { readonly identifier: string | null } | null;
  };
  const told: readonly Told[] = body.metadata.schemaErrors;
  assert.deepEqual(
    told.map(({ message, stageInfo, stepInfo }) => [message, stageInfo?.identifier, stepInfo?.identifier]),
    [
      ["Step type 'Policy' is not supported yet", "build", "go"],
      ["'enforce' is not supported yet", "build", "go"],
      ["'insert' is not supported yet", "build", undefined],
      ["'runMode' is not supported yet", "build", undefined],
    ],
  );
  assert.equal(told[0]?.hintMessage, "Use a step of the type ShellScript with the commands that do the same.");
  assert.deepEqual(told[0]?.stageInfo, {
    ...{ identifier: "build", name: "Build", type: "Deployment" },
    fqn: "pipeline.stages[0].stage",
  });
  assert.ok(told.every(({ hintMessage }) => hintMessage !== null));
});

test("a script with code is refused with its place, advice, and the line as it could be written", async () => {
  const yaml = pipelineYaml("code").replace(
    "{ script: echo $VALUE } }",
    () => `{ script: ${JSON.stringify(`jq '.image = "<+pipeline.name>"' f.json`)} } }`,
  );
  const { status, body } = await create.pipeline(platform, yaml);
  assert.equal(status, 400);
  const [fault] = body.metadata.schemaErrors;
  assert.match(fault.message, /^Expression <\+pipeline\.name> cannot stand here: jq would run .* --arg v "\$v"/);
  assert.equal(fault.hintMessage, `jq --arg v "<+pipeline.name>" '.image = $v' f.json`);
  assert.equal(fault.stepInfo.identifier, "go");
});

test("deleting: gone from everything, its runs stay, its webhook leads nowhere, its identifier is free", async () => {
  await made(create.pipeline(platform, pipelineYaml("gone")));
  const { webhookUrl } = await made(create.trigger(platform, "gone", triggerYaml("gone")));
  const { planExecution } = await made(create.run(platform, "gone"));
  const { pathname } = new URL(webhookUrl);
  assert.equal(await made(ask("DELETE", "/gone")), true);
  for (const [method, path] of [
    ["GET", "/gone"],
    ["DELETE", "/gone"],
    ["GET", "/summary/gone"],
    ["GET", "/gone/versions"],
  ] as const)
    assert.equal((await ask(method, path)).status, 404, `${method} ${path}`);
  assert.equal((await create.run(platform, "gone")).status, 404);
  assert.deepEqual(names(await list("searchTerm=gone")), []);
  const detail = await made(platform.send("GET", `${BASE}/execution/${planExecution.uuid}`));
  assert.equal(detail.pipelineExecutionSummary.pipelineIdentifier, "gone");
  await made(create.pipeline(platform, pipelineYaml("gone", "reborn")));
  const call = await platform.send("POST", pathname, { body: "{}", contentType: JSON_TYPE });
  assert.equal(call.status, 404, "an old webhook must not start what has the name now");
  const trigger = await platform.send("GET", `/pipeline/api/triggers/hook?${SCOPE}&targetIdentifier=gone`);
  assert.equal(trigger.status, 404);
  assert.equal((await made(ask("GET", "/gone"))).version, 1);
  const { body } = await platform.graphql(
    `{ executions { nodes { ... on PipelineExecution { pipeline { name } } } } }`,
  );
  assert.ok(body.data.executions.nodes.some((node: { pipeline: { name: string } }) => node.pipeline.name === "gone"));
});

test("a summary: every field, and the newest runs", async () => {
  const yaml = pipelineYaml("summed", "x", "  description: Sums\n  tags: { a: b }\n");
  await made(create.pipeline(platform, yaml));
  const at = platform.clock.now();
  const runs = [];
  for (let n = 0; n < 12; n += 1) runs.push((await made(create.run(platform, "summed"))).planExecution.uuid);
  const git = { objectId: null, branch: null, repoIdentifier: null, rootFolder: null, filePath: null };
  const { recentExecutionsInfo: recent, ...rest } = await made(ask("GET", "/summary/summed"));
  assert.deepEqual(rest, {
    name: "summed",
    identifier: "summed",
    description: "Sums",
    tags: { a: "b" },
    version: 1,
    numOfStages: 1,
    numOfTriggers: 0,
    createdAt: at,
    lastUpdatedAt: at,
    modules: ["CD", "PMS"],
    executionSummaryInfo: {
      numOfErrors: [],
      deployments: [],
      lastExecutionTs: at,
      lastExecutionStatus: "Running",
      lastExecutionId: runs.at(-1),
    },
    filters: {},
    stageNames: ["Build"],
    storeType: "INLINE",
    gitDetails: git,
    entityValidityDetails: { valid: true, invalidYaml: null },
  });
  assert.deepEqual(
    recent.map((one: { planExecutionId: string }) => one.planExecutionId),
    runs.toReversed().slice(0, 10),
  );
  assert.deepEqual(recent[0], {
    planExecutionId: runs.at(-1),
    status: "Running",
    startTs: at,
    endTs: null,
    runSequence: 12,
    executorInfo: { triggerType: "MANUAL", username: "admin", email: recent[0].executorInfo.email },
  });
  await platform.db.query("update pipelines set stage_names = null where identifier = 'summed'");
  assert.deepEqual((await made(ask("GET", "/summary/summed"))).stageNames, ["Build"], "saved by an older server");
});

test("the list: pages, orders, search and filters", async () => {
  await made(create.project(platform, projectYaml("listed")));
  const scope = "orgIdentifier=default&projectIdentifier=listed";
  for (const [identifier, more] of [
    ["b", "  tags: { team: red }\n"],
    ["a", "  tags: { team: blue, urgent: '' }\n  description: Percent 100%\n"],
    ["c_d", ""],
  ] as const) {
    platform.clock.advance(1);
    const body = pipelineYaml(identifier, "x", more).replace("projectIdentifier: shop", "projectIdentifier: listed");
    await made(platform.send("POST", `${BASE}?${scope}`, { contentType: YAML, body }));
  }
  const ids = async (query: string, filter?: object): Promise<string[]> => {
    const body = filter && { body: JSON.stringify(filter), contentType: JSON_TYPE };
    return names(await made(platform.send("POST", `${BASE}/list?${scope}&${query}`, { ...body })));
  };
  assert.deepEqual(await ids(""), ["c_d", "a", "b"], "newest change first");
  for (const [sort, expected] of [
    ["name,ASC", ["a", "b", "c_d"]],
    ["identifier,DESC", ["c_d", "b", "a"]],
    ["createdAt,ASC", ["b", "a", "c_d"]],
    ["lastUpdatedAt,DESC", ["c_d", "a", "b"]],
  ] as const)
    assert.deepEqual(await ids(`sort=${sort}`), expected, sort);
  assert.deepEqual(await ids("sort=name,ASC&size=2&page=1"), ["c_d"]);
  assert.deepEqual(await ids("searchTerm=C_"), ["c_d"]);
  assert.deepEqual(await ids("searchTerm=%25"), [], "a percent sign is a percent sign");
  assert.deepEqual(await ids("module=CI"), []);
  assert.deepEqual((await ids("module=cd")).length, 3);
  for (const [filter, expected] of [
    [{ name: "B" }, ["b"]],
    [{ description: "100%" }, ["a"]],
    [{ pipelineIdentifiers: ["a", "none"] }, ["a"]],
    [{ pipelineTags: [{ key: "team", value: "red" }] }, ["b"]],
    [{ pipelineTags: [{ key: "team" }] }, ["a", "b"]],
    [{ pipelineTags: [{ key: "team", value: "blue" }, { key: "urgent" }] }, ["a"]],
    [{ pipelineTags: [{ key: "team", value: "green" }] }, []],
    [{ pipelineIdentifiers: [], pipelineTags: [], moduleProperties: {} }, ["a", "b", "c_d"]],
  ] as const)
    assert.deepEqual(
      await ids("sort=name,ASC", { filterType: "PipelineSetup", ...filter }),
      expected,
      JSON.stringify(filter),
    );
  const page = await list("size=2&sort=name,ASC");
  assert.deepEqual([page.first, page.last, page.numberOfElements, page.size], [true, false, 2, 2]);
  for (const query of ["sort=name", "size=1001", "page=-1", "filterIdentifier=x"])
    assert.equal((await platform.send("POST", `${BASE}/list?${scope}&${query}`)).status, 400, query);
  const unknown = await ask("POST", "/list", JSON.stringify({ repoName: "x" }), undefined, JSON_TYPE);
  assert.match(unknown.body.message, /'repoName' is not supported yet/);
});

test("validating says what saving would, and saves nothing", async () => {
  assert.equal(await made(ask("POST", "/validate-yaml-with-schema", pipelineYaml("draft"))), "draft");
  assert.equal((await ask("GET", "/draft")).status, 404);
  const { status, body } = await ask("POST", "/validate-yaml-with-schema", pipelineYaml("draft", "x", "  bogus: 1\n"));
  assert.deepEqual([status, body.code], [400, "SCHEMA_VALIDATION_FAILED"]);
  const [fault] = body.metadata.schemaErrors;
  assert.deepEqual([fault.fqn, fault.line, fault.column], ["pipeline.bogus", 6, 3]);
  assert.equal(await made(ask("POST", "/validate-pipeline-with-schema?pipelineIdentifier=mine")), "mine");
  assert.equal((await ask("POST", "/validate-pipeline-with-schema?pipelineIdentifier=none")).status, 404);
  assert.equal((await ask("POST", "/validate-pipeline-with-schema")).status, 400);
});

test("POST /v2 answers the identifier in an object; templates resolved are the pipeline itself", async () => {
  const yaml = pipelineYaml("second_form");
  const answer = await made(ask("POST", "/v2", yaml));
  assert.deepEqual(answer, { identifier: "second_form", governanceMetadata: null });
  const plain = await made(ask("GET", "/second_form"));
  assert.equal(plain.resolvedTemplatesPipelineYaml, null);
  const resolved = await made(ask("GET", "/second_form?getTemplatesResolvedPipeline=true"));
  assert.equal(resolved.resolvedTemplatesPipelineYaml, yaml);
});

test("nothing of another account is read, changed or deleted", async () => {
  const { accountId, apiKey } = await platform.addAccount();
  const other = { account: accountId, apiKey, contentType: YAML };
  await made(platform.send("POST", "/ng/api/projects?orgIdentifier=default", { ...other, body: projectYaml() }));
  for (const [method, path, body] of [
    ["GET", "/mine"],
    ["PUT", "/mine", pipelineYaml("mine")],
    ["DELETE", "/mine"],
    ["GET", "/summary/mine"],
    ["GET", "/mine/versions/1"],
  ] as const) {
    const answer = await platform.send(
      method,
      `${BASE}${path}?${SCOPE}`,
      body === undefined ? { account: accountId, apiKey } : { ...other, body },
    );
    assert.deepEqual([answer.status, answer.body.code], [404, "ENTITY_NOT_FOUND"], `${method} ${path}`);
  }
  const page = await made(platform.send("POST", `${BASE}/list?${SCOPE}`, { account: accountId, apiKey }));
  assert.equal(page.totalElements, 0);
  assert.equal((await ask("GET", "/mine")).status, 200);
});

test("a connector that a pipeline names stays until the pipeline names another, or goes", async () => {
  const inShop = "  orgIdentifier: default\n  projectIdentifier: shop\n";
  await made(create.connector(platform, clusterYaml("named", inShop)));
  const naming = (connector: string): string =>
    onCluster(pipelineYaml("names_it")).replace("connectorRef: cluster", `connectorRef: ${connector}`);
  const send = (method: string, path: string, body?: string) =>
    platform.send(method, `${path}?${SCOPE}`, body === undefined ? {} : { contentType: YAML, body });
  const remove = () => send("DELETE", "/ng/api/connectors/named");
  await made(send("POST", "/pipeline/api/pipelines", naming("named")));
  const refused = await remove();
  assert.deepEqual([refused.status, refused.body.code], [402, "ENTITY_REFERENCE_EXCEPTION"]);
  assert.match(refused.body.message, /names_it/);
  await made(send("PUT", "/pipeline/api/pipelines/names_it", naming("other")));
  assert.equal((await remove()).status, 200);
  await made(create.connector(platform, clusterYaml("named", inShop)));
  await made(send("PUT", "/pipeline/api/pipelines/names_it", naming("named")));
  assert.equal((await remove()).status, 402);
  await made(send("DELETE", "/pipeline/api/pipelines/names_it"));
  assert.equal((await remove()).status, 200);
});
