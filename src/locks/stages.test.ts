/** Stages that deploy to one infrastructure take turns. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { made } from "../../test/support/contract.ts";
import {
  addStagesPipeline,
  passLocks,
  queueStep,
  stageOf,
  type StageSketch,
  waitingOf,
  waitStep,
} from "../../test/support/locks.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { fromWire } from "../core/ids.ts";
import { abortRun, createPipelines, detailOf, startRun, statusesOf } from "../../test/support/runs.ts";

const HOUR = 3_600_000;

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  await made(
    platform.send("POST", "/ng/api/connectors", {
      contentType: "application/json",
      body: JSON.stringify({ connector: CLUSTER }),
    }),
  );
});
after(() => platform?.stop());
afterEach(async () => {
  for (let nth = 0; nth < 4; nth += 1) await passLocks(platform, 24 * HOUR);
  assert.deepEqual(await platform.db.query("select key from execution_locks"), [], "a lock is left");
});

const CLUSTER = {
  name: "C",
  identifier: "c",
  orgIdentifier: "default",
  projectIdentifier: "p",
  type: "K8sCluster",
  spec: { credential: { type: "InheritFromDelegate" }, delegateSelectors: ["any"] },
};

/** The infrastructure of a namespace of the cluster. */
const within = (namespace: string, more: object = {}): object => ({
  infrastructureDefinition: { type: "KubernetesDirect", spec: { connectorRef: "c", namespace, releaseName: "r" } },
  ...more,
});

let count = 0;
async function pipeline(sketch: Partial<StageSketch>, ...others: readonly object[]): Promise<string> {
  const id = `d${(count += 1)}`;
  await addStagesPipeline(platform, {
    id,
    stages: [stageOf({ id: "deploy", steps: [waitStep("work")], ...sketch }), ...others],
  });
  return id;
}

async function started(id: string): Promise<string> {
  const execution = await startRun(platform, id);
  await passLocks(platform);
  return execution;
}

const waiting = (id: string, position: number): string =>
  `ResourceWaiting: Waits for the infrastructure, which ${id} uses. Position in the queue: ${position}.`;

test("three executions deploy one after the other, and each says for whom it waits", async () => {
  const id = await pipeline({ infrastructure: within("web") });
  const runs = [await started(id), await started(id), await started(id)];
  const [first = "", second = "", third = ""] = runs;
  const one = `execution 1 of pipeline '${id}'`;
  assert.deepEqual(
    [...(await waitingOf(platform, second, "deploy")), ...(await waitingOf(platform, third, "deploy"))],
    [waiting(one, 1), waiting(one, 2)],
  );
  assert.equal((await detailOf(platform, second)).status, "ResourceWaiting");
  await passLocks(platform, HOUR);
  assert.equal(await statusesOf(platform, first, "work"), "Success work:Success");
  assert.equal(await statusesOf(platform, second, "work"), "Running work:TimedWaiting");
  assert.deepEqual(await waitingOf(platform, third, "deploy"), [waiting(`execution 2 of pipeline '${id}'`, 1)]);
  await passLocks(platform, HOUR);
  await passLocks(platform, HOUR);
  assert.deepEqual(await Promise.all(runs.map((run) => statusesOf(platform, run))), ["Success", "Success", "Success"]);
});

test("other pipelines wait for the same infrastructure; other namespaces and allowed ones do not", async () => {
  const id = await pipeline({ infrastructure: within("shop") });
  await started(id);
  const at = async (sketch: Partial<StageSketch>): Promise<string> =>
    statusesOf(platform, await started(await pipeline(sketch)), "deploy");
  assert.equal(
    await at({ infrastructure: within("<+pipeline.name.substring(0, 0)>shop") }),
    "ResourceWaiting deploy:ResourceWaiting",
  );
  assert.equal(await at({ infrastructure: within("other") }), "Running deploy:Running");
  assert.equal(
    await at({ infrastructure: within("shop", { allowSimultaneousDeployments: true }) }),
    "Running deploy:Running",
  );
});

test("a stage with an environment alone waits if it says so", async () => {
  const id = await pipeline({ infrastructure: { allowSimultaneousDeployments: false } });
  const free = await pipeline({});
  await started(id);
  assert.equal(await statusesOf(platform, await started(id), "deploy"), "ResourceWaiting deploy:ResourceWaiting");
  await started(free);
  assert.equal(await statusesOf(platform, await started(free), "deploy"), "Running deploy:Running");
});

test("stages of one execution take turns, in parallel and in loops; keys of steps are other locks", async () => {
  const stage = (name: string, fields: object = {}): object =>
    stageOf({
      id: name,
      steps: [queueStep(`${name}_q`, "default", "Stage"), waitStep(`${name}_work`)],
      infrastructure: within("both"),
      fields,
    });
  const id = `d${(count += 1)}`;
  await addStagesPipeline(platform, {
    id,
    stages: [{ parallel: [stage("x"), stage("y", { strategy: { repeat: { times: 2 } } })] }],
  });
  const run = await started(id);
  const statuses = async () => statusesOf(platform, run, "x", "y_0", "y_1");
  assert.equal(await statuses(), "Running x:Running y_0:ResourceWaiting y_1:ResourceWaiting");
  await passLocks(platform, HOUR);
  assert.equal(await statuses(), "Running x:Success y_0:Running y_1:ResourceWaiting");
  await passLocks(platform, HOUR);
  await passLocks(platform, HOUR);
  assert.equal(await statuses(), "Success x:Success y_0:Success y_1:Success");
});

test("a stage keeps its lock while it rolls back, and what undoes it after its end asks for the lock again", async () => {
  const fail = { step: { type: "Wait", name: "bad", identifier: "bad", spec: { duration: "<+pipeline.name>" } } };
  const rollsBack = (type: string) => ({
    failureStrategies: [{ onFailure: { errors: ["AllErrors"], action: { type } } }],
  });
  const infrastructure = within("undo");
  const sketch = { infrastructure, rollbackSteps: [waitStep("undo")] };
  const first = await started(await pipeline({ ...sketch, steps: [fail], fields: rollsBack("StageRollback") }));
  const next = await pipeline({ infrastructure });
  const second = await started(next);
  assert.equal(await statusesOf(platform, first, "undo"), "Running undo:TimedWaiting");
  assert.equal(await statusesOf(platform, second, "deploy"), "ResourceWaiting deploy:ResourceWaiting");
  await passLocks(platform, HOUR);
  await passLocks(platform, HOUR);
  const later = stageOf({ id: "later", steps: [waitStep("pause"), fail], fields: rollsBack("PipelineRollback") });
  const third = await started(await pipeline({ ...sketch, steps: [waitStep("quick", "10s")] }, later));
  await passLocks(platform, 10_000);
  const fourth = await started(next);
  assert.equal(await statusesOf(platform, fourth, "deploy"), "Running deploy:Running");
  // The stage that failed has ended, and what undoes the first one waits for the fourth execution.
  await passLocks(platform, HOUR - 10_000);
  await passLocks(platform, 10_000);
  assert.equal(await statusesOf(platform, fourth, "deploy"), "Success deploy:Success");
  const undone = async (): Promise<readonly object[]> =>
    platform.db.query("select status from execution_nodes where execution_id = $1 and path like '%(%/deploy)/undo'", [
      fromWire(third),
    ]);
  assert.deepEqual(await undone(), [{ status: "waiting" }]);
  const fifth = await started(next);
  assert.equal(await statusesOf(platform, fifth, "deploy"), "ResourceWaiting deploy:ResourceWaiting");
  await passLocks(platform, HOUR);
  assert.deepEqual(await undone(), [{ status: "succeeded" }]);
});

test("who waits can be aborted, and expires by the timeouts around it", async () => {
  const infrastructure = within("late");
  await started(await pipeline({ infrastructure }));
  const slow = await pipeline({ infrastructure, fields: { timeout: "10m" } });
  const [aborted, expired] = [await started(slow), await started(slow)];
  await abortRun(platform, aborted);
  assert.equal(await statusesOf(platform, aborted, "deploy"), "Aborted deploy:Aborted");
  await passLocks(platform, 10 * 60_000);
  assert.equal(await statusesOf(platform, expired, "deploy"), "Expired deploy:Expired");
});

test("an infrastructure that cannot be told fails the stage before its steps, and undoes nothing", async () => {
  const strategy = [{ onFailure: { errors: ["AllErrors"], action: { type: "StageRollback" } } }];
  const before = stageOf({ id: "before", steps: [waitStep("first", "10s")] });
  const bad = stageOf({
    id: "bad",
    steps: [waitStep("work")],
    rollbackSteps: [waitStep("undo")],
    infrastructure: within("<+pipeline.stages.before.status>"),
    fields: { failureStrategies: strategy },
  });
  const id = `d${(count += 1)}`;
  await addStagesPipeline(platform, { id, stages: [before, bad] });
  const run = await started(id);
  await passLocks(platform, 10_000);
  const { step } = await detailOf(platform, run);
  assert.equal(await statusesOf(platform, run, "bad", "work", "undo"), "Failed bad:Failed work:Skipped undo:Skipped");
  assert.match(step("bad")["failureInfo"].message, /infra\.namespace has come to 'SUCCEEDED'/);
});

test("what is taken back in the transaction of its request leaves no lock", async () => {
  const infrastructure = within("brief");
  const abort = [{ onFailure: { errors: ["AllErrors"], action: { type: "Abort" } } }];
  const fail = { step: { type: "Wait", name: "bad", identifier: "bad", spec: { duration: "<+pipeline.name>" } } };
  const stages = [
    stageOf({ id: "deploy", steps: [waitStep("work")], infrastructure }),
    stageOf({ id: "failing", steps: [fail], fields: { failureStrategies: abort } }),
  ];
  const id = `d${(count += 1)}`;
  await addStagesPipeline(platform, { id, stages: [{ parallel: stages }] });
  const run = await started(id);
  assert.equal(await statusesOf(platform, run, "deploy", "work"), "Aborted deploy:Aborted work:Skipped");
  assert.deepEqual(await platform.db.query("select key from execution_locks"), []);
  assert.equal(await statusesOf(platform, await started(await pipeline({ infrastructure }))), "Running");
});
