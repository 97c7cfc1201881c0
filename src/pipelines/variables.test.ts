/** The variables of pipelines in lists: stored when a version is saved, bounded for a request, made node by node. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, makeTargets, pipelineYaml, projectYaml, SCOPE } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await makeTargets(platform);
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

test("the variables that one request asks for are bounded, counted for each node", async () => {
  await save("large", "x");
  const one = {
    ...{ name: "x", type: "Text", required: false, allowedValues: null, fixed: true },
    defaultValue: "d".repeat(1_000_000),
  };
  await platform.db.query(
    "update pipeline_versions set variables = $1 where pipeline_id = (select id from pipelines where identifier = 'large')",
    [JSON.stringify([one])],
  );
  const { data } = await named("pipelines { nodes { id name } }");
  const { id } = data.pipelines.nodes.find(({ name }: { name: string }) => name === "large");
  const asked = (times: number): Promise<{ data: unknown; errors?: { message: string }[] }> =>
    named(
      Array.from(
        { length: times },
        (_, nth) => `p${nth}: pipeline(pipelineId: "${id}") { pipelineVariables { name } }`,
      ).join(" "),
    );
  assert.equal((await asked(8)).errors, undefined);
  for (let nth = 0; nth < 9; nth += 1) await made(create.run(platform, "large"));
  const { errors: ofRuns } = await named(
    "executions { nodes { ... on PipelineExecution { pipeline { pipelineVariables { name } } } } }",
  );
  assert.match(ofRuns?.[0]?.message ?? "", /more than 8 MiB/, "nine runs of one pipeline");
  const { errors } = await asked(9);
  assert.match(
    errors?.[0]?.message ?? "",
    /The variables of the pipelines in this query have more than 8 MiB\. Ask for fewer pipelines at once\./,
  );
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
