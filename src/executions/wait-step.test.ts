/** Steps of type Wait: the clock lets them go on, an abort ends them. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addStepsPipeline } from "../../test/support/approvals.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { abortRun, createPipelines, detailOf, startRun, statusesOf } from "../../test/support/runs.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
});
after(() => platform?.stop());

const wait = (identifier: string, duration: string, timeout?: string): object => ({
  step: { type: "Wait", name: identifier, identifier, ...(timeout && { timeout }), spec: { duration } },
});

async function started(id: string, steps: readonly object[]): Promise<string> {
  await addStepsPipeline(platform, { id }, steps);
  return startRun(platform, `run_${id}`);
}

async function pass(ms: number): Promise<void> {
  platform.clock.advance(ms);
  await platform.platform.sweep();
}

const timers = (): Promise<readonly object[]> => platform.db.query("select purpose from execution_timers");

test("a step waits for its duration, whatever the usual timeout", async () => {
  const id = await started("two", [
    wait("a", "2h"),
    wait("b", "<+pipeline.stages.release.spec.serviceConfig.serviceRef>"),
  ]);
  const { step } = await detailOf(platform, id);
  const until = new Date(platform.clock.now() + 2 * 3_600_000).toISOString();
  assert.deepEqual([step("a")["status"], step("a")["waitReason"]], ["TimedWaiting", `Waits until ${until}.`]);
  await pass(2 * 3_600_000 - 1);
  assert.equal(await statusesOf(platform, id, "a"), "Running a:TimedWaiting");
  await pass(1);
  // The service is called s, which is no duration.
  assert.equal(await statusesOf(platform, id, "a", "b"), "Failed a:Success b:Failed");
  assert.match((await detailOf(platform, id)).step("b")["failureInfo"].message, /its duration is 's'\. A duration is/);
  assert.deepEqual(await timers(), []);
});

test("a timeout of its own ends it before, and so does an abort", async () => {
  const id = await started("short", [wait("a", "2h", "1h")]);
  await pass(3_600_000);
  assert.equal(await statusesOf(platform, id, "a"), "Expired a:Expired");
  const aborted = await startRun(platform, "run_short");
  await abortRun(platform, aborted);
  assert.equal(await statusesOf(platform, aborted, "a"), "Aborted a:Aborted");
  assert.deepEqual(await timers(), []);
});
