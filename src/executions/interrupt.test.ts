/** Interrupts of executions and nodes: each is one operation, and one that does not fit changes nothing. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { until } from "../../test/support/until.ts";
import { createPipelines, detailOf, startRun, waitForEnd } from "../../test/support/runs.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { newIdentity, pretendDelegate, type PretendDelegate } from "../../test/support/pretend-delegate.ts";

let platform: TestPlatform;
let token: string;
let delegate: PretendDelegate;

const WAITS = {
  onFailure: {
    errors: ["AllErrors"],
    action: {
      type: "ManualIntervention",
      spec: { timeout: "1h", onTimeout: { action: { type: "MarkAsFailure" } } },
    },
  },
};

before(async () => {
  platform = await startTestPlatform();
  token = await platform.delegateToken();
  const steps = [{ id: "a" }, { id: "b" }];
  await createPipelines(
    platform,
    { id: "two", steps },
    { id: "waits", steps, rollback: [{ id: "undo" }], failureStrategies: [WAITS] },
  );
  delegate = await pretendDelegate({ url: platform.url, token, name: `d-${newIdentity()}` });
  await delegate.next("welcome");
});
afterEach(async () => {
  const open = await platform.db.query("select 1 from execution_timers");
  assert.deepEqual(open, [], "an execution has left a timer");
});
after(async () => {
  await delegate?.cut();
  await platform?.stop();
});

const EXECUTE = "/pipeline/api/pipeline/execute";
const interrupt = (id: string, type: string, node = ""): Promise<Answer> =>
  platform.send("PUT", `${EXECUTE}/interrupt/${id}${node && `/${node}`}?interruptType=${type}`);
const nodeOf = async (id: string, name: string): Promise<string> =>
  (await detailOf(platform, id)).step(name)["uuid"] as string;

/** Waits until a step has this status. */
const reaches = (id: string, name: string, status: string): Promise<unknown> =>
  until(
    async () => (await detailOf(platform, id)).step(name)["status"],
    (found) => found === status,
  );

test("a pause starts nothing new until it is resumed", async () => {
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  assert.deepEqual((await interrupt(id, "PAUSE")).body.data, { id, type: "Pause", planExecutionId: id });
  delegate.finish(run);
  await reaches(id, "a", "Success");
  const { status, step } = await detailOf(platform, id);
  assert.deepEqual([status, step("b")["status"]], ["Paused", "Paused"]);
  const again = await interrupt(id, "Pause");
  assert.deepEqual(
    [again.status, again.body.message],
    [402, "Interrupt Pause does not apply: the execution is paused already."],
  );
  assert.equal((await interrupt(id, "Resume")).status, 200);
  delegate.finish(await delegate.next("run"));
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  assert.equal((await interrupt(id, "Pause")).status, 402);
});

test("a step is ended by hand, and the next one starts", async () => {
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  const a = await nodeOf(id, "a");
  const answer = await interrupt(id, "MarkAsSuccess", a);
  assert.deepEqual(answer.body.data, { id: a, type: "MarkAsSuccess", planExecutionId: id });
  await delegate.next("cancel");
  delegate.end(run, { kind: "cancelled", survivors: 0 });
  const second = await delegate.next("run");
  assert.equal((await interrupt(id, "AbortAll", await nodeOf(id, "b"))).body.data.type, "Abort");
  await delegate.next("cancel");
  delegate.end(second, { kind: "cancelled", survivors: 0 });
  assert.equal(await waitForEnd(platform, id), "ABORTED");
  assert.equal((await detailOf(platform, id)).step("a")["status"], "Success");
});

test("a failed step waits for a decision, which GraphQL and REST give", async () => {
  const id = await startRun(platform, "waits");
  delegate.finish(await delegate.next("run"), { exitCode: 1 });
  const a = await nodeOf(id, "a");
  await reaches(id, "a", "InterventionWaiting");
  const { body } = await platform.graphql(
    `mutation { interruptExecution(input: { executionId: "${id}", nodeExecutionId: "${a}", interrupt: Retry }) { execution { id } } }`,
  );
  assert.equal(body.data.interruptExecution.execution.id, id);
  delegate.finish(await delegate.next("run"), { exitCode: 1 });
  await reaches(id, "a", "InterventionWaiting");
  const decided = await platform.send(
    "PUT",
    `${EXECUTE}/manualIntervention/interrupt/${id}/${a}?interruptType=StageRollback`,
  );
  assert.equal(decided.body.data.type, "StageRollback");
  delegate.finish(await delegate.next("run"));
  assert.equal(await waitForEnd(platform, id), "FAILED");
  assert.equal((await detailOf(platform, id)).step("undo")["status"], "Success");
  const audited = await platform.db.query<{ operation: string }>(
    "select operation from audit_entries where operation = 'execution.interrupt' order by id desc limit 2",
  );
  assert.equal(audited.length, 2);
});

test("what does not fit is refused with the reason, and changes nothing", async () => {
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  const [a, stage] = [await nodeOf(id, "a"), await nodeOf(id, "stage")];
  for (const [type, node, status, message] of [
    ["Explode", "", 400, /interruptType 'Explode' is not supported; supported: AbortAll, Abort, /],
    ["Retry", "", 400, /Interrupt Retry applies to a node/],
    ["Pause", a, 400, /Interrupt Pause applies to the whole execution/],
    ["Retry", a, 402, /does not wait for a manual intervention/],
    ["MarkAsSuccess", stage, 402, /is no step that runs or waits/],
    ["Resume", "", 402, /the execution is not paused/],
    ["Abort", "AAAAAAAAAAAAAAAAAAAAAA", 402, /does not run/],
    ["Abort", "nonsense", 404, /has no node \[nonsense\]/],
  ] as const) {
    const answer = await interrupt(id, type, node);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.body.message, message);
  }
  delegate.finish(run);
  delegate.finish(await delegate.next("run"));
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
});
