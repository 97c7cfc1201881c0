/** One delegate over REST: the tasks that it runs, approval and deletion. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSON_TYPE, made } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { addPipeline, createPipelines, SCOPE, startRun } from "../../../test/support/runs.ts";
import { serviceToken } from "../../../test/support/service-accounts.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;
let id: string;
let token: string;

before(async () => {
  platform = await startTestPlatform();
  token = await platform.delegateToken();
  delegate = await pretendDelegate({ url: platform.url, token, slots: 8 });
  id = (await delegate.next("welcome")).delegate;
  await createPipelines(platform, { id: "one", steps: [{ id: "first" }] }, { id: "two", steps: [{ id: "second" }] });
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

const ONE = "/ng/api/delegate-setup/delegates";
const post = (path: string, body: object): Promise<unknown> =>
  made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));
const tasks = (query = "", apiKey = platform.apiKey): Promise<Answer> =>
  platform.send("GET", `${ONE}/${id}/tasks${query}`, { apiKey });

/** A service account that may view delegates, and one pipeline. */
async function createLimitedViewer(): Promise<string> {
  const identifier = "limited";
  const place = { orgIdentifier: "default", projectIdentifier: "p" };
  await post("/ng/api/serviceaccount", { identifier, name: identifier });
  await post("/authz/api/roles", { identifier, name: identifier, permissions: ["core_delegate_view"] });
  const principal = { identifier, type: "SERVICE_ACCOUNT", scopeLevel: "account" };
  await post("/authz/api/roleassignments", {
    ...{ principal, roleIdentifier: identifier },
    resourceGroupIdentifier: "_all_account_level_resources",
  });
  const resourceFilter = { resources: [{ resourceType: "PIPELINE", identifiers: ["two"] }] };
  await post(`/authz/api/v2/resourcegroup?${SCOPE}`, {
    resourceGroup: { identifier, name: identifier, ...place, resourceFilter },
  });
  await post(`/authz/api/roleassignments?${SCOPE}`, {
    ...{ principal, roleIdentifier: "_project_viewer", resourceGroupIdentifier: identifier },
  });
  const apiKey = await serviceToken(platform, identifier);
  platform.clock.advance(1_000);
  return apiKey;
}

test("the tasks of a delegate name the steps of executions that the caller may see, and count the others", async () => {
  const begun = platform.clock.now();
  const first = await startRun(platform, "one");
  const runs = [await delegate.next("run")];
  platform.clock.advance(5_000);
  const second = await startRun(platform, "two");
  runs.push(await delegate.next("run"));
  const { resource } = (await tasks()).body;
  const step = { orgIdentifier: "default", projectIdentifier: "p", runSequence: 1 };
  const [one, two] = resource.content;
  assert.deepEqual(
    [one.taskId, two.taskId],
    runs.map(({ task }) => task),
  );
  assert.deepEqual([one.startedAt, two.startedAt], [begun, begun + 5_000]);
  const { nodeExecutionId } = one.step;
  assert.deepEqual(one.step, {
    ...{ planExecutionId: first, nodeExecutionId, stepName: "first", pipelineIdentifier: "one", pipelineName: "one" },
    ...step,
  });
  assert.deepEqual([two.type, two.cancelling, two.step.planExecutionId], ["STEP", false, second]);
  const paged = (await tasks("?pageIndex=1&pageSize=1")).body.resource;
  assert.deepEqual([paged.totalItems, paged.content], [2, [two]]);
  const limited = await createLimitedViewer();
  assert.deepEqual((await tasks("", limited)).body.resource.content, [{ ...one, step: null }, two]);
  const read = (await platform.send("GET", `${ONE}/${id}`)).body.resource;
  assert.deepEqual([read.delegateName, read.slots, read.slotsInUse], ["pretend", 8, 2]);
  for (const run of runs) delegate.finish(run);
  for (const _ of runs) await delegate.next("finishedAck");
  assert.deepEqual((await tasks()).body.resource.content, []);
});

test("a step of a loop has the name of its iteration, also in a plan with NUL in another text", async () => {
  await addPipeline(platform, { id: "loop", steps: [{ id: "each", script: "echo a" }] });
  const { yamlPipeline } = (await platform.send("GET", `/pipeline/api/pipelines/loop?${SCOPE}`)).body.data;
  const looped = JSON.parse(yamlPipeline);
  looped.pipeline.stages[0].stage.spec.execution.steps[0].step.strategy = { parallelism: 2 };
  const saved = await platform.send("PUT", `/pipeline/api/pipelines/loop?${SCOPE}`, {
    ...{ contentType: JSON_TYPE, body: JSON.stringify(looped) },
  });
  assert.equal(saved.status, 200, saved.text);
  await startRun(platform, "loop");
  const runs = [await delegate.next("run"), await delegate.next("run")];
  await platform.db.query(
    `update executions set plan = (replace(plan::text, 'echo', 'echo \\u0000'))::json where plan::text like '%echo%'`,
  );
  const names = (await tasks()).body.resource.content.map((one: { step: { stepName: string } }) => one.step.stepName);
  assert.deepEqual(names.toSorted(), ["each_0", "each_1"]);
  for (const run of runs) delegate.finish(run);
  for (const _ of runs) await delegate.next("finishedAck");
});

test("delegates are activated, rejected and deleted; unknown ones and those of other accounts do not exist", async () => {
  const set = async (value: string): Promise<void> => {
    const setting = { identifier: "delegate_approval_required", value, allowOverrides: false, updateType: "UPDATE" };
    const body = JSON.stringify([setting]);
    await made(platform.send("PUT", "/ng/api/settings", { contentType: JSON_TYPE, body }));
  };
  await set("true");
  const [good, bad] = await Promise.all(
    ["good", "bad"].map(async (name) => {
      const one = await pretendDelegate({ url: platform.url, token, name });
      return { ...one, id: (await one.next("welcome")).delegate };
    }),
  );
  assert.ok(good && bad);
  await set("false");
  const decide = (which: string, approval: string, apiKey = platform.apiKey): Promise<Answer> =>
    platform.send("PUT", `${ONE}/${which}/approval`, {
      ...{ apiKey, contentType: JSON_TYPE, body: JSON.stringify({ approval }) },
    });
  const viewer = await platform.addUser("_account_viewer");
  assert.equal((await decide(good.id, "ACTIVATE", viewer)).status, 403);
  assert.equal((await decide(good.id, "PERHAPS")).status, 400);
  assert.equal((await decide(good.id, "ACTIVATE")).body.resource.status, "ENABLED");
  assert.equal((await decide(good.id, "REJECT")).status, 402);
  assert.equal((await decide(bad.id, "REJECT")).body.resource.status, "DELETED");
  await bad.closed;
  assert.equal((await platform.send("DELETE", `${ONE}/${good.id}`, { apiKey: viewer })).status, 403);
  const other = await platform.addAccount();
  for (const [method, path] of [
    ["GET", `${ONE}/${good.id}`],
    ["GET", `${ONE}/${good.id}/tasks`],
    ["DELETE", `${ONE}/${good.id}`],
  ] as const) {
    const asOther = { apiKey: other.apiKey, account: other.accountId };
    assert.equal((await platform.send(method, path, asOther)).status, 404, `${method} ${path}`);
    assert.equal((await platform.send(method, path.replace(good.id, "x"))).status, 404);
  }
  assert.equal((await platform.send("DELETE", `${ONE}/${good.id}`)).body.resource, true);
  await good.closed;
  const entries = await platform.db.query<{ operation: string }>(
    "select operation from audit_entries where resource_id in ('good', 'bad') and actor_kind = 'user' and outcome = 'success' order by id",
  );
  assert.deepEqual(
    entries.map(({ operation }) => operation),
    ["delegate.approve", "delegate.reject", "delegate.delete"],
  );
});
