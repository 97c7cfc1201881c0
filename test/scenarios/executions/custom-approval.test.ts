/** CustomApproval steps on a real delegate: runs in turns, a run that takes too long, and a rejection. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Delegate } from "../../../delegate/delegate.ts";
import { createPlace } from "../../../delegate/testing/kit.ts";
import { addStepsPipeline } from "../../support/approvals.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { startRealDelegate } from "../../support/real-delegate.ts";
import { abortRun, createPipelines, detailOf, logOf, startRun, waitForEnd } from "../../support/runs.ts";
import { until } from "../../support/until.ts";

let platform: TestPlatform;
let delegate: Delegate;
const place = createPlace();
const state = join(place.path, "state");

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  delegate = await startRealDelegate(platform, place);
});

after(async () => {
  await delegate?.stop();
  await platform?.stop();
  place.remove();
});

const jexl = (wanted: string): object => ({
  type: "Jexl",
  spec: { expression: `<+output.outputVariables.state> == "${wanted}"` },
});

async function started(id: string, script: string): Promise<string> {
  const spec = {
    ...{ shell: "Bash", source: { type: "Inline", spec: { script } }, retryInterval: "1m", scriptTimeout: "10s" },
    outputVariables: [{ name: "state", type: "String", value: "state" }],
    ...{ approvalCriteria: jexl("yes"), rejectionCriteria: jexl("no") },
  };
  await addStepsPipeline(platform, { id }, [
    { step: { type: "CustomApproval", name: "ask", identifier: "ask", spec } },
  ]);
  return startRun(platform, `run_${id}`);
}

const step = async (id: string) => (await detailOf(platform, id)).step("ask");

async function pass(ms: number): Promise<void> {
  platform.clock.advance(ms);
  await platform.platform.sweep();
}

const waits = (id: string, why: RegExp): Promise<unknown> =>
  until(
    async () => (await step(id))["waitReason"],
    (reason) => why.test(reason ?? ""),
  );

test("the script runs until it decides; one attempt has all runs and their logs", async () => {
  writeFileSync(state, "open\n");
  const id = await started("asks", `read -r state < '${state}'; echo "it is $state"; [ "$state" != broken ] || exit 3`);
  await waits(id, /^Waits for its approval criteria: run 1 of the script met no criteria\. The next run begins at /);
  assert.equal((await step(id))["status"], "ApprovalWaiting");
  writeFileSync(state, "broken\n");
  await pass(59_999);
  assert.match((await step(id))["waitReason"], /run 1 /);
  await pass(1);
  await waits(id, /run 2 of the script exited with code 3/);
  writeFileSync(state, "no\n");
  await pass(60_000);
  assert.equal(await waitForEnd(platform, id), "REJECTED");
  const node = await step(id);
  assert.deepEqual([node["status"], node["failureInfo"].failureTypeList], ["ApprovalRejected", ["APPROVAL_REJECTION"]]);
  assert.equal(node["failureInfo"].message, "Step 'ask' was rejected: its script met the rejection criteria");
  assert.deepEqual(node["outcomes"].output.outputVariables, { state: "no" });
  assert.deepEqual(node["earlierAttempts"], []);
  const range = `?nodeExecutionId=${node["uuid"]}&attempt=1`;
  for (const log of [await logOf(platform, id), await logOf(platform, id, range)])
    assert.equal(log, "it is open\nit is broken\nit is no\n");
});

test("a run that takes too long is stopped, and another one follows", async () => {
  const id = await started("hangs", "echo begun; exec sleep 1000");
  await until(
    () => logOf(platform, id),
    (log) => log === "begun\n",
  );
  await pass(10_000);
  await waits(id, /run 1 of the script did not end within its scriptTimeout of 10 s/);
  await pass(60_000);
  await until(
    () => logOf(platform, id),
    (log) => log === "begun\nbegun\n",
  );
  await abortRun(platform, id);
  assert.equal(await waitForEnd(platform, id), "ABORTED");
  assert.deepEqual(await platform.db.query("select purpose from execution_timers"), []);
});
