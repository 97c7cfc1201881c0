/** Restoring an earlier version of a pipeline, and what a change for a stale version is answered. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  createTargets,
  inputSetYaml,
  JSON_TYPE,
  made,
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

const pathOf = (identifier: string, below = ""): string => `/pipeline/api/pipelines/${identifier}${below}?${SCOPE}`;
const put = (path: string, body: string, version?: string): Promise<Answer> =>
  platform.send("PUT", path, {
    contentType: YAML,
    body,
    ...(version !== undefined && { headers: { "if-match": version } }),
  });
const restore = (identifier: string, version: string, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.send("POST", pathOf(identifier, `/versions/${version}/restore`), { headers });

/** A pipeline with three versions. */
async function createVersions(identifier: string): Promise<readonly string[]> {
  const versions = ["one", "two", "three"].map((value) => pipelineYaml(identifier, value));
  await made(create.pipeline(platform, versions[0] ?? ""));
  for (const yaml of versions.slice(1)) await made(put(pathOf(identifier), yaml));
  return versions;
}

test("an earlier version is saved as the next one, and the audit trail says so", async () => {
  const [first] = await createVersions("restored");
  const answer = await restore("restored", "1", { "if-match": "3" });
  assert.deepEqual([answer.status, answer.headers.get("etag")], [200, '"4"'], answer.text);
  assert.deepEqual(answer.body.data, { identifier: "restored", version: 4 });
  const newest = await made(platform.send("GET", pathOf("restored")));
  assert.deepEqual([newest.version, newest.yamlPipeline], [4, first]);
  const entries = await platform.db.query<{ operation: string; difference: string }>(
    "select operation, difference::text as difference from audit_entries where resource_id = 'restored' order by id desc limit 1",
  );
  assert.equal(entries[0]?.operation, "pipeline.restore");
  assert.match(entries[0]?.difference ?? "", /restoredVersion/);
});

test("JSON that was saved is restored as it is kept", async () => {
  const { parse } = await import("yaml");
  const body = JSON.stringify(parse(pipelineYaml("of_json")));
  await made(create.pipeline(platform, body, JSON_TYPE));
  const kept = await made(platform.send("GET", pathOf("of_json")));
  await made(put(pathOf("of_json"), pipelineYaml("of_json", "two")));
  await made(restore("of_json", "1"));
  const newest = await made(platform.send("GET", pathOf("of_json")));
  assert.equal(newest.yamlPipeline, kept.yamlPipeline);
});

test("a version that does not exist is 404, a stale If-Match 402, and nothing is saved", async () => {
  await createVersions("kept");
  for (const version of ["0", "9", "x"]) assert.equal((await restore("kept", version)).status, 404, version);
  const stale = await restore("kept", "1", { "if-match": "2" });
  assert.equal(stale.status, 402);
  const newest = await made(platform.send("GET", pathOf("kept")));
  assert.equal(newest.version, 3);
});

test("who may view and not edit the pipeline restores nothing, and does not learn which versions there are", async () => {
  await createVersions("guarded");
  const apiKey = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  for (const version of ["1", "9"]) {
    const { status } = await platform.send("POST", pathOf("guarded", `/versions/${version}/restore`), { apiKey });
    assert.equal(status, 403, version);
  }
});

test("what cannot be saved any more is not restored, and is answered with its faults", async () => {
  await createVersions("broken");
  await platform.db.query(
    `update pipeline_versions set yaml = replace(yaml, 'shell: Bash', 'shell: Fish') where version = 1
       and pipeline_id = (select id from pipelines where identifier = 'broken')`,
  );
  const refused = await restore("broken", "1");
  assert.equal(refused.status, 400);
  assert.match(refused.body.metadata.schemaErrors[0].fqn, /spec\.shell$/);
});

test("a stale change of a pipeline, trigger or input set says which version is current", async () => {
  await createVersions("shared");
  await made(create.trigger(platform, "shared", triggerYaml("shared")));
  await made(create.inputSet(platform, "shared", inputSetYaml("shared", "basic")));
  const trigger = `/pipeline/api/triggers/hook?${SCOPE}&targetIdentifier=shared`;
  const set = `/pipeline/api/inputSets/basic?${SCOPE}&pipelineIdentifier=shared`;
  await made(put(trigger, triggerYaml("shared")));
  await made(put(set, inputSetYaml("shared", "basic")));
  for (const [path, body, current] of [
    [pathOf("shared"), pipelineYaml("shared"), 3],
    [trigger, triggerYaml("shared"), 2],
    [set, inputSetYaml("shared", "basic"), 2],
  ] as const) {
    const { status, body: answer, text } = await put(path, body, "1");
    assert.deepEqual([status, answer.code], [402, "OPTIMISTIC_LOCKING_EXCEPTION"], text);
    assert.deepEqual(answer.responseMessages[0].additionalInfo, { currentVersion: current });
  }
});

test("a summary counts the triggers of its pipeline", async () => {
  await createVersions("counted");
  const countOf = async (): Promise<number> => {
    const { content } = await made(platform.send("POST", `/pipeline/api/pipelines/list?${SCOPE}&searchTerm=counted`));
    const summary = await made(platform.send("GET", `/pipeline/api/pipelines/summary/counted?${SCOPE}`));
    assert.equal(content[0].numOfTriggers, summary.numOfTriggers);
    return summary.numOfTriggers;
  };
  assert.equal(await countOf(), 0);
  for (const identifier of ["a", "b"])
    await made(create.trigger(platform, "counted", triggerYaml("counted", identifier)));
  assert.equal(await countOf(), 2);
  await made(platform.send("DELETE", `/pipeline/api/triggers/a?${SCOPE}&targetIdentifier=counted`));
  assert.equal(await countOf(), 1);
});
