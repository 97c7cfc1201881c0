/** What a failed or aborted execution says of itself. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pretendDelegate, type PretendDelegate } from "../../test/support/pretend-delegate.ts";
import { abortRun, detailOf, createPipelines, startRun } from "../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { lastLines } from "./logs/tail.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;

before(async () => {
  platform = await startTestPlatform();
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken() });
  await delegate.next("welcome");
  await createPipelines(
    platform,
    { id: "plain", steps: [{ id: "build" }] },
    { id: "undone", steps: [{ id: "build" }], rollback: [{ id: "clean" }] },
  );
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

const fail = async (output: string, exitCode = 3): Promise<void> => {
  const run = await delegate.next("run");
  delegate.log(run, 0, output.slice(0, 10));
  delegate.finish(run, { exitCode, output: output.slice(10), offset: Buffer.byteLength(output.slice(0, 10)) });
  await delegate.next("finishedAck");
};

test("the failure has the last lines of the failing step's log, for the step, its stage and the execution", async () => {
  const id = await startRun(platform, "plain");
  const lines = Array.from({ length: 30 }, (_, nth) => `line ${nth}`);
  await fail(`${lines.join("\n")}\n`);
  const { summary, step } = await detailOf(platform, id);
  const message = "Step 'build' exited with code 3";
  const logTail = lines.slice(-20).join("\n");
  assert.deepEqual(summary.executionErrorInfo, { message, logTail });
  const { failureInfo } = step("build");
  assert.deepEqual([failureInfo.message, failureInfo.logTail], [message, logTail]);
  assert.equal(step("stage")["failureInfo"].logTail, logTail);
  const [node] = (
    await platform.graphql("{ executions(limit: 1) { nodes { ... on PipelineExecution { failureDetails } } } }")
  ).body.data.executions.nodes;
  assert.equal(node.failureDetails, message, "what clients compare stays as it is");
});

test("a step that ended well, or wrote nothing, has no last lines", async () => {
  const id = await startRun(platform, "plain");
  await fail("");
  const { summary } = await detailOf(platform, id);
  assert.equal(summary.executionErrorInfo.logTail, null);
});

test("a rollback that fails is told beside the failure that led to it", async () => {
  const id = await startRun(platform, "undone");
  await fail("broken\n");
  await fail("cannot clean\n", 4);
  const { summary, step } = await detailOf(platform, id);
  assert.deepEqual(summary.executionErrorInfo, {
    message: "Step 'build' exited with code 3. The rollback failed, too: Step 'clean' exited with code 4",
    logTail: "broken",
  });
  assert.equal(step("clean")["failureInfo"].logTail, "cannot clean");
});

test("an aborted execution names who aborted it, and what had failed before", async () => {
  const id = await startRun(platform, "plain");
  const run = await delegate.next("run");
  assert.equal((await abortRun(platform, id)).status, 200);
  await delegate.next("cancel");
  delegate.cancelled(run);
  await delegate.next("finishedAck");
  const plain = await detailOf(platform, id);
  assert.equal(plain.status, "Aborted");
  assert.match(plain.summary.executionErrorInfo.message, /^Aborted by [^@\s]+$/);

  const second = await startRun(platform, "undone");
  await fail("broken\n");
  const clean = await delegate.next("run");
  await abortRun(platform, second);
  await delegate.next("cancel");
  delegate.cancelled(clean);
  await delegate.next("finishedAck");
  const { message, logTail } = (await detailOf(platform, second)).summary.executionErrorInfo;
  assert.match(message, /^Aborted by .*\. Before that: Step 'build' exited with code 3$/);
  assert.equal(logTail, "broken");
});

test("the last lines are cut at lines, at 4 KiB and never within a character", () => {
  assert.equal(lastLines(Buffer.from("a\nb\n"), false), "a\nb");
  const cut = Buffer.from("é".repeat(10)).subarray(1);
  assert.equal(lastLines(cut, true), "é".repeat(9));
  assert.equal(lastLines(Buffer.from("a\0b"), false), "a\uFFFDb");
});
