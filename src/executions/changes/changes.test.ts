/** What differs from the last success, over real executions. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, eventually, JSON_TYPE, made, projectYaml, triggerYaml, YAML } from "../../../test/support/contract.ts";
import { addStagesPipeline, passLocks, stageOf, waitStep } from "../../../test/support/locks.ts";
import { addPipelineViewer } from "../../../test/support/pipeline-viewer.ts";
import { startTestPlatform, type SendOptions, type TestPlatform } from "../../../test/support/platform.ts";
import { abortRun, createPipelines, SCOPE, startRun } from "../../../test/support/runs.ts";

const pipeline = {
  id: "ship",
  stages: [stageOf({ id: "s", steps: [waitStep("w", "10s")] })],
  fields: { variables: ["color", "size"].map((name) => ({ name, type: "String", value: "<+input>" })) },
};

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  await addStagesPipeline(platform, pipeline);
  await addStagesPipeline(platform, { id: "other", stages: pipeline.stages });
});
after(() => platform?.stop());

const given = (color: string, size: string): SendOptions => ({
  contentType: YAML,
  body: `pipeline: { identifier: ship, variables: [{ name: color, type: String, value: ${color} }, { name: size, type: String, value: ${size} }] }`,
});

async function succeed(how: SendOptions): Promise<string> {
  const id = await startRun(platform, "ship", how);
  await passLocks(platform, 10_000);
  return id;
}

const ask = (id: string, options: SendOptions = {}, scope = SCOPE) =>
  platform.send("GET", `/pipeline/api/pipelines/execution/${id}/changes?${scope}`, options);

test("the first execution has none to be compared with", async () => {
  const id = await startRun(platform, "ship", given("red", "1"));
  const { execution, ...changes } = await made(ask(id));
  assert.deepEqual(changes, {
    ...{ previous: null, isPipelineChanged: false, isCommitChanged: false, inputs: [], hasMoreInputs: false },
  });
  const startTs = platform.clock.now();
  assert.deepEqual(execution, {
    ...{ planExecutionId: id, runSequence: 1, status: "Running", pipelineVersion: 1, startTs, endTs: null },
    ...{ stagesExecuted: null, commitId: null, committedAt: null },
  });
  await abortRun(platform, id);
});

test("inputs and version are compared with the last success, whatever failed since", async () => {
  const good = await succeed(given("red", "1"));
  await abortRun(platform, await startRun(platform, "ship", given("blue", "1")));
  const id = await startRun(platform, "ship", given("green", "1"));
  const first = await made(ask(id));
  assert.equal(first.previous.planExecutionId, good);
  assert.equal(first.isPipelineChanged, false);
  const change = { path: "pipeline.variables.color", before: "red", after: "green", isSecret: false };
  assert.deepEqual(first.inputs, [change]);
  await abortRun(platform, id);
  const place = { orgIdentifier: "default", projectIdentifier: "p" };
  const body = { name: "ship again", identifier: "ship", ...place, ...pipeline.fields, stages: pipeline.stages };
  const changed = { contentType: JSON_TYPE, body: JSON.stringify({ pipeline: body }) };
  await made(platform.send("PUT", `/pipeline/api/pipelines/ship?${SCOPE}`, changed));
  const again = await startRun(platform, "ship", given("red", "1"));
  const second = await made(ask(again));
  assert.deepEqual([second.inputs, second.isPipelineChanged], [[], true]);
  assert.deepEqual([second.previous.pipelineVersion, second.execution.pipelineVersion], [1, 2]);
  await passLocks(platform, 10_000);
});

test("the commits that webhooks name are compared", async () => {
  const inputs =
    "    variables: [{ name: color, type: String, value: red }, { name: size, type: String, value: '1' }]\n";
  const body = `${triggerYaml("ship").replace("projectIdentifier: shop", "projectIdentifier: p")}  inputYaml: |
    pipeline:
      identifier: ship
  ${inputs}`;
  const { webhookUrl } = await made(
    platform.send("POST", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=ship`, { contentType: YAML, body }),
  );
  const push = async (id: string): Promise<string> => {
    const payload = { head_commit: { id, timestamp: "2026-03-01T09:00:00Z" } };
    const list = async () =>
      (await made(platform.send("POST", `/pipeline/api/pipelines/execution/summary?${SCOPE}`))).content;
    const [before] = await list();
    await fetch(webhookUrl, { method: "POST", body: JSON.stringify(payload) });
    return eventually(async () => {
      await platform.platform.sweep();
      const [newest] = await list();
      return newest.planExecutionId === before.planExecutionId ? undefined : newest.planExecutionId;
    });
  };
  const first = await push("a1");
  assert.equal((await made(ask(first))).isCommitChanged, false);
  await passLocks(platform, 10_000);
  const { execution, previous, isCommitChanged } = await made(ask(await push("b2")));
  assert.deepEqual([previous.commitId, execution.commitId, isCommitChanged], ["a1", "b2", true]);
  assert.equal(execution.committedAt, Date.UTC(2026, 2, 1, 9));
  await passLocks(platform, 10_000);
});

test("an execution that the caller may not see is not found", async () => {
  const id = await startRun(platform, "ship", given("red", "1"));
  assert.equal((await ask(id, { apiKey: await addPipelineViewer(platform, "other") })).status, 404);
  await made(create.project(platform, projectYaml("q")));
  assert.equal((await ask(id, {}, "orgIdentifier=default&projectIdentifier=q")).status, 404);
  const other = await platform.addAccount();
  assert.equal((await ask(id, { apiKey: other.apiKey, account: other.accountId })).status, 404);
  assert.equal((await ask("x")).status, 404);
});
