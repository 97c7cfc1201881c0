/** Pipelines in the v1 family, as clients of it ask for them. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, createTargets, pipelineYaml, projectYaml } from "../../test/support/contract.ts";
import { startTestPlatform, type Answer, type SendOptions, type TestPlatform } from "../../test/support/platform.ts";

const PIPELINES = "/v1/orgs/default/projects/shop/pipelines";
let platform: TestPlatform;

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml("older")));
});
after(() => platform?.stop());

/** The account is named by the header alone. */
const send = (method: string, path: string, body?: object, options: SendOptions = {}): Promise<Answer> =>
  platform.send(method, path, {
    account: null,
    ...options,
    headers: { "x-platform-account": platform.accountId, ...options.headers },
    ...(body ? { body: JSON.stringify(body), contentType: JSON_TYPE } : {}),
  });
const yaml = (identifier: string): string => pipelineYaml(identifier);
const nameIn = (text: string): string => /^ {2}name: (.*)$/m.exec(text)?.[1] ?? "";

for (const base of ["", "/gateway", "/pipeline/api", "/gateway/pipeline/api"])
  test(`a pipeline created, read, listed, changed, run and deleted below '${base}/v1'`, async () => {
    const at = `${base}${PIPELINES}`;
    const name = nameIn(yaml("rollout"));
    const created = await send("POST", at, { identifier: "rollout", name, pipeline_yaml: yaml("rollout") });
    assert.equal(created.status, 201, created.text);
    assert.deepEqual(created.body, { identifier: "rollout" });

    const read = await send("GET", `${at}/rollout?template_applied=true`);
    assert.equal(read.headers.get("etag"), '"1"');
    const { created: at1, updated, ...pipeline } = read.body;
    assert.deepEqual([at1, updated], [platform.clock.now(), platform.clock.now()]);
    assert.deepEqual(pipeline, {
      pipeline_yaml: yaml("rollout"),
      template_applied_pipeline_yaml: yaml("rollout"),
      identifier: "rollout",
      name,
      org: "default",
      project: "shop",
      description: "",
      tags: pipeline.tags,
      modules: ["CD", "PMS"],
      git_details: null,
      valid: true,
      yaml_error_wrapper: null,
    });

    const stale = await send(
      "PUT",
      `${at}/rollout`,
      { identifier: "rollout", name, pipeline_yaml: yaml("rollout") },
      {
        headers: { "if-match": "7" },
      },
    );
    assert.equal(stale.status, 402, stale.text);
    const changed = await send("PUT", `${at}/rollout`, {
      identifier: "rollout",
      name,
      pipeline_yaml: yaml("rollout"),
      git_details: { store_type: "INLINE" },
    });
    assert.deepEqual(changed.body, { identifier: "rollout", governance_metadata: null });

    const run = await send("POST", `${at}/rollout/execute?module=cd`, {});
    assert.equal(run.status, 200, run.text);
    const id = run.body.execution_details.execution_id;
    const { pipelineExecutionSummary } = await made(platform.send("GET", `/pipeline/api/pipelines/execution/${id}`));
    assert.equal(pipelineExecutionSummary.pipelineIdentifier, "rollout");

    const listed = await send("GET", `${at}?search_term=ROLL&limit=1`);
    assert.deepEqual(
      ["x-total-elements", "x-page-number", "x-page-size"].map((header) => listed.headers.get(header)),
      ["1", "0", "1"],
    );
    const [one] = listed.body;
    assert.equal(one.execution_summary.last_execution_id, id);
    assert.equal(one.recent_execution_info[0].run_number, 1);
    assert.deepEqual([one.identifier, one.store_type, one.git_details], ["rollout", "INLINE", null]);

    const gone = await send("DELETE", `${at}/rollout`);
    assert.deepEqual([gone.status, gone.text], [204, ""]);
    assert.equal((await send("GET", `${at}/rollout`)).status, 404);
  });

test("lists are sorted, filtered and paged", async () => {
  await made(
    create.pipeline(platform, pipelineYaml("newer").replace(/^pipeline:\n/, "pipeline:\n  tags: { team: red }\n")),
  );
  const found = async (query: string): Promise<string[]> =>
    (await send("GET", `${PIPELINES}?${query}`)).body.map(({ identifier }: { identifier: string }) => identifier);
  assert.deepEqual(await found("sort=identifier&order=ASC"), ["newer", "older"]);
  assert.deepEqual(await found("sort=identifier&order=desc&page=1&limit=1"), ["newer"]);
  assert.deepEqual(await found("pipeline_identifiers=older,none"), ["older"]);
  assert.deepEqual(await found("tags=team:red"), ["newer"]);
  assert.deepEqual(await found("tags=team:blue"), []);
  assert.deepEqual(await found("module=ci"), []);
  for (const query of ["sort=size", "order=up", "filter_identifier=x", "limit=1001"])
    assert.equal((await send("GET", `${PIPELINES}?${query}`)).status, 400, query);
});

test("fields that disagree with the YAML, and pipelines in Git, are refused by name", async () => {
  const text = yaml("refused");
  const body = { identifier: "refused", name: nameIn(text), pipeline_yaml: text };
  for (const [change, message] of [
    [{ identifier: "other" }, /The field identifier says 'other', and the pipeline in pipeline_yaml says 'refused'/],
    [{ name: "Other" }, /The field name says 'Other'/],
    [{ git_details: { store_type: "REMOTE" } }, /git_details.store_type.*INLINE/],
    [{ pipeline_yaml: "pipeline: [" }, /./],
  ] as const) {
    const { status, body: answer } = await send("POST", PIPELINES, { ...body, ...change });
    assert.equal(status, 400);
    assert.match(answer.message, message);
  }
  assert.equal((await send("GET", `${PIPELINES}/refused`)).status, 404);
});

test("the account stands in the header or in the query; another one is refused, and none, and two that differ", async () => {
  const account = `accountIdentifier=${platform.accountId}`;
  const bare = (query: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    platform.send("GET", `${PIPELINES}?${query}`, { account: null, headers });
  const other = (await platform.addAccount()).accountId;
  assert.equal((await bare(account)).status, 200);
  assert.equal((await bare(account, { "x-platform-account": platform.accountId })).status, 200);
  assert.equal((await bare("")).status, 400);
  assert.equal((await bare("", { "x-platform-account": other })).status, 403);
  assert.equal((await bare(account, { "x-platform-account": other })).status, 403);
  assert.equal((await bare(`accountIdentifier=${other}`, { "x-platform-account": platform.accountId })).status, 400);
});
