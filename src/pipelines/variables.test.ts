/** The variables of pipelines in lists: stored when a version is saved, bounded for a request, made node by node. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromWire, type Uuid } from "../core/ids.ts";
import type { Problem } from "../core/problem.ts";
import { makeListVariables } from "./list-variables.ts";
import { makeCompleteShown } from "./shown.ts";
import { grantOf } from "../../test/support/access.ts";
import { create, made, createTargets, pipelineYaml, projectYaml, SCOPE } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
});
after(() => platform?.stop());

const variable = (name: string, value = "x"): string => `{ name: ${name}, type: String, value: ${value} }`;
const save = (identifier: string, name: string): Promise<unknown> =>
  made(create.pipeline(platform, pipelineYaml(identifier, "x", `  variables: [${variable(name)}]\n`)));
/** Makes the stored YAML of a pipeline unreadable. */
const spoil = (identifier: string): Promise<unknown> =>
  platform.db.query(
    `update pipeline_versions set yaml = '[' where pipeline_id = (select id from pipelines where identifier = $1)`,
    [identifier],
  );
const forget = (identifier: string): Promise<unknown> =>
  platform.db.query(
    `update pipeline_versions set variables = null where pipeline_id = (select id from pipelines where identifier = $1)`,
    [identifier],
  );
async function named(fields = "pipelines { nodes { name pipelineVariables { name } } }") {
  const { body } = await platform.graphql(`{ ${fields} }`);
  return body;
}
const namesOf = async (pipeline: string): Promise<string[]> => {
  const { data, errors } = await named();
  assert.equal(errors, undefined, JSON.stringify(errors));
  const node = data.pipelines.nodes.find(({ name }: { name: string }) => name === pipeline);
  return node.pipelineVariables.map(({ name }: { name: string }) => name);
};

test("no list reads YAML: the variables of a version are stored with it", async () => {
  await save("stored", "first");
  await spoil("stored");
  assert.deepEqual(await namesOf("stored"), ["first"]);
  const body = pipelineYaml("stored", "x", `  variables: [${variable("second")}]\n`);
  await made(
    platform.send("PUT", `/pipeline/api/pipelines/stored?${SCOPE}`, { contentType: "application/yaml", body }),
  );
  await spoil("stored");
  assert.deepEqual(await namesOf("stored"), ["second"], "of the newest version");
  await made(platform.send("DELETE", `/pipeline/api/pipelines/stored?${SCOPE}`));
});

test("what an older server has saved is computed once, for variables and for the names of stages", async () => {
  await save("former", "kept");
  await forget("former");
  assert.deepEqual(await namesOf("former"), ["kept"]);
  await spoil("former");
  assert.deepEqual(await namesOf("former"), ["kept"]);
  await save("staged", "kept");
  await forget("staged");
  await platform.db.query("update pipelines set stage_names = null where identifier = 'staged'");
  const stages = async (): Promise<unknown> =>
    (await made(platform.send("GET", `/pipeline/api/pipelines/summary/staged?${SCOPE}`))).stageNames;
  assert.deepEqual(await stages(), ["Build"]);
  await spoil("staged");
  assert.deepEqual(await stages(), ["Build"]);
  assert.deepEqual(await namesOf("staged"), ["kept"], "both are stored at once");
});

test("large pipelines take no variables from the others of a list, wherever they stand in it", async () => {
  for (let nth = 0; nth < 10; nth += 1) await save(`a_large_${nth}`, "x");
  const one = { ...{ name: "x", type: "Text", required: false, allowedValues: null, fixed: true }, defaultValue: "" };
  const defaultValue = "d".repeat(1024 * 1024 - JSON.stringify([one]).length);
  await platform.db.query(
    `update pipeline_versions set variables = $1
      where pipeline_id in (select id from pipelines where identifier like 'a_large_%')`,
    [JSON.stringify([{ ...one, defaultValue }])],
  );
  const { data, errors } = await named();
  for (let nth = 0; nth < 10; nth += 1)
    await made(platform.send("DELETE", `/pipeline/api/pipelines/a_large_${nth}?${SCOPE}`));
  const { nodes } = data.pipelines;
  for (const { name, pipelineVariables } of nodes)
    if (!name.includes("large")) assert.equal(pipelineVariables.length, 1, name);
  const missing = [...nodes.keys()].filter((at) => nodes[at].pipelineVariables === null);
  assert.equal(missing.length, 3, "of eleven large ones, eight have room beside the others");
  assert.deepEqual(
    errors.map(({ path }: { path: unknown }) => path),
    missing.map((at) => ["pipelines", "nodes", at, "pipelineVariables"]),
  );
  for (const { message } of errors) assert.match(message, /more than 8 MiB/);
});

test("a pipeline of an older server that cannot be listed whole leaves the list as it is", async () => {
  const long = `&long ${"v".repeat(30_000)}`;
  const many = Array.from({ length: 40 }, (_, nth) => variable(`v${nth}`, nth === 0 ? long : "*long")).join(", ");
  const lists = async () => {
    const body = JSON.stringify({ filterType: "PipelineSetup" });
    const found = await made(
      platform.send("POST", `/pipeline/api/pipelines/list?${SCOPE}`, { contentType: "application/json", body }),
    );
    const named = found.content.map((one: { identifier: string; stageNames: string[] }) => [
      one.identifier,
      one.stageNames,
    ]);
    const { data, errors } = await platform
      .graphql("{ pipelines { nodes { name pipelineVariables { name } } } }")
      .then(({ body: answer }) => answer);
    const refused = (errors ?? []).map(({ path, message }: { path: [string, string, number]; message: string }) => [
      data.pipelines.nodes[path[2]].name,
      message.split(" : ")[1],
    ]);
    const nodes = data.pipelines.nodes.filter(({ name }: { name: string }) =>
      ["overlong", "unreadable"].includes(name),
    );
    return { stages: Object.fromEntries(named), refused, nodes };
  };
  const message =
    "The variables of the pipeline cannot be listed: its document is no longer valid, or they have more than 1 MiB. Save the pipeline again.";
  const expected = {
    stages: { overlong: ["Build"], unreadable: [] },
    refused: [
      ["overlong", message],
      ["unreadable", message],
    ],
    nodes: [
      { name: "overlong", pipelineVariables: null },
      { name: "unreadable", pipelineVariables: null },
    ],
  };
  for (const [identifier, yaml] of [
    ["overlong", pipelineYaml("overlong", "x", `  variables: [${many}]\n`)],
    ["unreadable", "["],
  ] as const) {
    await save(identifier, "x");
    await platform.db.query(
      `with old as (update pipelines set stage_names = null where identifier = $1 returning id)
       update pipeline_versions set variables = null, yaml = $2 where pipeline_id = (select id from old)`,
      [identifier, yaml],
    );
  }
  const check = async (what: string): Promise<void> => {
    const found = await lists();
    assert.deepEqual(
      { ...found, stages: { overlong: found.stages["overlong"], unreadable: found.stages["unreadable"] } },
      expected,
      what,
    );
    assert.ok(Object.keys(found.stages).length > 2, "the others are listed");
  };
  await check("when it is read first");
  await spoil("overlong");
  await check("without another look at the document");
  await made(
    platform.send("PUT", `/pipeline/api/pipelines/unreadable?${SCOPE}`, {
      contentType: "application/yaml",
      body: pipelineYaml("unreadable", "x", `  variables: [${variable("again")}]\n`),
    }),
  );
  assert.deepEqual(
    (await lists()).nodes[1],
    { name: "unreadable", pipelineVariables: [{ name: "again" }] },
    "saved again",
  );
  for (const identifier of ["overlong", "unreadable"])
    await made(platform.send("DELETE", `/pipeline/api/pipelines/${identifier}?${SCOPE}`));
});

test("a pipeline that the actor may not see is missing alone", async () => {
  const { db } = platform;
  const [row] = await db.query<{ id: Uuid }>(
    "select id from pipelines where identifier = 'stored' or identifier = 'former' order by identifier limit 1",
    [],
  );
  const accountId = fromWire(platform.accountId) as Uuid;
  const listVariables = makeListVariables({ db, completeShown: makeCompleteShown({ db }) });
  const grants = [grantOf("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" })];
  const actor = { kind: "user", accountId, id: accountId, name: "", email: "", grants } as const;
  const [found, unknown] = await listVariables(actor, [row?.id as Uuid, accountId], { bytes: 0, times: 1 });
  assert.match(String(found), /"name":"kept"/);
  assert.equal((unknown as Problem).code, "pipeline.no_such_id");
});

test("a pipeline whose variables get longer than 1 MiB by aliases is not saved", async () => {
  const long = `&long ${"v".repeat(30_000)}`;
  const some = (count: number): string =>
    Array.from({ length: count }, (_, nth) => variable(`v${nth}`, nth === 0 ? long : "*long")).join(", ");
  const saved = (count: number) =>
    create.pipeline(platform, pipelineYaml("long", "x", `  variables: [${some(count)}]\n`));
  const { status, body, text } = await saved(40);
  assert.deepEqual([status, body.code], [400, "INVALID_REQUEST"], text.slice(0, 500));
  assert.match(body.message, /^The variables of the pipeline have more than 1 MiB with all aliases replaced/);
  await made(saved(30));
});

test("the variables that one request asks for are bounded; those of one pipeline are read once", async () => {
  const ids = Array.from({ length: 9 }, (_, nth) => `bound_${nth}`);
  for (const id of ids) await save(id, "x");
  const one = {
    ...{ name: "x", type: "Text", required: false, allowedValues: null, fixed: true },
    defaultValue: "d".repeat(1_000_000),
  };
  await platform.db.query(
    `update pipeline_versions set variables = $1
      where pipeline_id in (select id from pipelines where identifier = any($2))`,
    [JSON.stringify([one]), ids],
  );
  const ofRuns = (): ReturnType<typeof named> =>
    named("executions { nodes { ... on PipelineExecution { pipeline { pipelineVariables { name } } } } }");
  for (let nth = 0; nth < 9; nth += 1) await made(create.run(platform, "bound_0"));
  assert.equal((await ofRuns()).errors, undefined, "nine runs of one pipeline");
  for (const id of ids) await made(create.run(platform, id));
  const { errors } = await ofRuns();
  assert.match(
    errors?.[0]?.message ?? "",
    /The variables of the pipelines in this query have more than 8 MiB\. Ask for fewer pipelines at once\./,
  );
});
