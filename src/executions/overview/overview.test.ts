/** What runs, waits and has failed in all projects, over real executions. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addApprovalPipeline } from "../../../test/support/approvals.ts";
import { create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { addStagesPipeline, passLocks, queueStep, stageOf, waitStep } from "../../../test/support/locks.ts";
import { addPipelineViewer } from "../../../test/support/pipeline-viewer.ts";
import { startTestPlatform, type SendOptions, type TestPlatform } from "../../../test/support/platform.ts";
import { abortRun, addPipeline, createPipelines, startRun } from "../../../test/support/runs.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "delegate", steps: [{ id: "a", selectors: ["nowhere"] }] });
  await addPipeline(platform, { id: "expires", steps: [{ id: "a", timeout: "10s", selectors: ["nowhere"] }] });
  await addStagesPipeline(platform, { id: "runs", stages: [stageOf({ id: "s", steps: [waitStep("w")] })] });
  const steps = [queueStep("q", "key", "Pipeline"), waitStep("w")];
  await addStagesPipeline(platform, {
    id: "locks",
    stages: [stageOf({ id: "s", steps, infrastructure: { allowSimultaneousDeployments: true } })],
  });
  await addApprovalPipeline(platform, { id: "asks" });
});
after(() => platform?.stop());

const ask = (query = "", options: SendOptions = {}) =>
  platform.send("GET", `/pipeline/api/pipelines/execution/summary/overview${query}`, options);
type Shown = { readonly pipelineIdentifier: string; readonly status: string; readonly waitReason?: string | null };
const shown = (list: readonly Shown[]): readonly string[] =>
  list.map(({ pipelineIdentifier: id, status, waitReason }) => `${id} ${status}${waitReason ? `: ${waitReason}` : ""}`);

test("what waits says why and since when", async () => {
  for (const pipeline of ["delegate", "run_asks", "locks"]) await startRun(platform, pipeline);
  const since = platform.clock.now();
  await passLocks(platform, 1_000);
  await startRun(platform, "locks");
  await passLocks(platform, 1_000);
  const { running, waiting } = await made(ask());
  const [lock, approval] = waiting;
  assert.deepEqual(
    [lock.pipelineIdentifier, lock.status, lock.waitsSince],
    ["locks", "ResourceWaiting", since + 1_000],
  );
  assert.match(lock.waitReason, /key/);
  const { planExecutionId, triggeredBy, waitReason, ...rest } = approval;
  assert.match(planExecutionId, /^[\w-]{22}$/);
  assert.match(triggeredBy.email, /@/);
  assert.match(waitReason, /approvers/);
  assert.deepEqual(rest, {
    ...{ orgIdentifier: "default", projectIdentifier: "p", projectName: "P", pipelineIdentifier: "run_asks" },
    ...{ pipelineName: "run_asks", runSequence: 1, status: "ApprovalWaiting", createdAt: since, startTs: since },
    ...{ endTs: null, triggerType: "MANUAL", waitsSince: since },
  });
  const [timer, delegate] = running;
  assert.equal(timer.pipelineIdentifier, "locks");
  assert.match(delegate.waitReason, /^Waits for a delegate with all of the selectors \[nowhere\]/);
});

test("a queued execution names the limit that it waits for", async () => {
  const limit = async (value: string): Promise<unknown> => {
    const entry = {
      identifier: "concurrent_executions_per_account",
      value,
      allowOverrides: true,
      updateType: "UPDATE",
    };
    return made(platform.send("PUT", "/ng/api/settings", { contentType: JSON_TYPE, body: JSON.stringify([entry]) }));
  };
  await limit("1");
  const id = await startRun(platform, "runs");
  const [queued] = (await made(ask())).waiting;
  assert.deepEqual([queued.planExecutionId, queued.status], [id, "Queued"]);
  assert.match(queued.waitReason, /concurrent_executions_per_account/);
  await abortRun(platform, id);
  await limit("0");
});

test("failures are the newest of each kind that has failed, with their messages", async () => {
  const id = await startRun(platform, "expires");
  await passLocks(platform, 1_000);
  await passLocks(platform, 10_000);
  const { failed, running } = await made(ask());
  assert.deepEqual(
    failed.map((one: { planExecutionId: string }) => one.planExecutionId),
    [id],
  );
  assert.equal(failed[0].status, "Expired");
  assert.ok(failed[0].failure);
  assert.ok(!shown(running).some((one) => one.startsWith("expires")));
  assert.deepEqual((await made(ask("?size=1"))).running.length, 1);
  assert.equal((await ask("?size=51")).status, 400);
});

test("a caller sees the executions of the pipelines that it may see, in all projects", async () => {
  await made(create.project(platform, projectYaml("q")));
  const apiKey = await addPipelineViewer(platform, "run_asks");
  const { running, waiting, failed } = await made(ask("", { apiKey }));
  assert.deepEqual([running, failed], [[], []]);
  assert.equal(shown(waiting).length, 1);
  const elsewhere = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "q" });
  assert.deepEqual(await made(ask("", { apiKey: elsewhere })), { running: [], waiting: [], failed: [] });
  const other = await platform.addAccount();
  const foreign = await made(ask("", { apiKey: other.apiKey, account: other.accountId }));
  assert.deepEqual(foreign, { running: [], waiting: [], failed: [] });
});
