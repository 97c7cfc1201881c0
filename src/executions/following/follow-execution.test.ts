/** Following an execution over real sockets: the client's picture is the one that GET answers. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createPipelines, detailOf, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { createFollower, openStream, type Follower } from "../../../test/support/clients/follower.ts";

let platform: TestPlatform;
let replica: TestPlatform;
let delegate: PretendDelegate;

before(async () => {
  platform = await startTestPlatform();
  replica = await platform.replica();
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 8 });
  await delegate.next("welcome");
  const steps = ["a", "b"].map((id) => ({ id }));
  await createPipelines(platform, { id: "two", steps }, { id: "picky", steps: [{ id: "a", selectors: ["gpu"] }] });
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

const eventsPath = (id: string): string => `/pipeline/api/pipelines/execution/${id}/events`;

async function connected(id: string, to: TestPlatform = platform): Promise<Follower> {
  const follower = createFollower(id);
  assert.equal(await follower.connect(to), 200);
  await follower.until(() => follower.lastEventId() !== undefined);
  return follower;
}

async function assertSameAsGet(follower: Follower, id: string): Promise<void> {
  const { summary, graph } = await detailOf(platform, id);
  const { pipelineExecutionSummary, executionGraph } = follower.shown();
  assert.deepEqual(executionGraph, graph);
  assert.deepEqual(pipelineExecutionSummary, summary);
}

/** The status of a step as the follower shows it. */
const statusOf = (follower: Follower, identifier: string): string =>
  Object.values<{ identifier: string; status: string }>(follower.shown().executionGraph.nodeMap).find(
    (node) => node.identifier === identifier,
  )?.status ?? "";

async function finish(output = ""): Promise<void> {
  delegate.finish(await delegate.next("run"), { output });
  await delegate.next("finishedAck");
}

test("a snapshot, then each change with the same entries as GET, the logs' lengths, and the end", async () => {
  const id = await startRun(platform, "two");
  const task = await delegate.next("run");
  const follower = await connected(id);
  assert.equal(follower.events[0]?.event, "snapshot");
  await follower.until(() => statusOf(follower, "a") === "Running");
  await assertSameAsGet(follower, id);
  delegate.log(task, 0, "first\n");
  await delegate.next("logAck");
  const { step } = await detailOf(platform, id);
  await follower.until(() => follower.lines()[step("a")["uuid"]] === 1);
  assert.equal(follower.logs()[step("a")["uuid"]], 6);
  delegate.log(task, 6, "mo");
  await delegate.next("logAck");
  await follower.until(() => follower.lines()[step("a")["uuid"]] === 2);
  delegate.finish(task, { offset: 8, output: "re\nlast\n" });
  await delegate.next("finishedAck");
  await follower.until(() => statusOf(follower, "b") === "Running" && follower.lines()[step("a")["uuid"]] === 3);
  await assertSameAsGet(follower, id);
  await finish("x");
  await follower.read();
  assert.equal(follower.status(), "Success");
  await assertSameAsGet(follower, id);
  assert.deepEqual([follower.logs()[step("b")["uuid"]], follower.lines()[step("b")["uuid"]]], [1, 1]);
  assert.equal(await follower.connect(platform), 204, "a browser does not come again");
});

test("an execution that has ended is a snapshot and the end", async () => {
  const id = await startRun(platform, "two");
  await finish();
  await finish();
  const follower = createFollower(id);
  await follower.connect(replica);
  await follower.read();
  assert.equal(follower.status(), "Success");
  await assertSameAsGet(follower, id);
});

test("another replica sends changes without its own delegate, and resumes what the first one began", async () => {
  const id = await startRun(platform, "two");
  const follower = await connected(id);
  await finish();
  await follower.until(() => statusOf(follower, "a") === "Success");
  await follower.disconnect();
  const seen = follower.events.length;
  await follower.connect(replica);
  await finish();
  await follower.read();
  await assertSameAsGet(follower, id);
  assert.ok(!follower.events.slice(seen).some(({ event }) => event === "snapshot"));
});

test("why a task waits, and that a delegate takes it, is sent though no event of the execution says so", async () => {
  const id = await startRun(platform, "picky");
  const follower = await connected(id, replica);
  assert.equal(statusOf(follower, "a"), "TaskWaiting");
  const other = await pretendDelegate({
    ...{
      url: platform.url,
      token: await platform.delegateToken(),
      name: "d2",
      identity: "b".repeat(43),
      tags: ["gpu"],
    },
  });
  const task = await other.next("run");
  await follower.until(() => statusOf(follower, "a") === "Running");
  await assertSameAsGet(follower, id);
  other.finish(task);
  await follower.read();
  await assertSameAsGet(follower, id);
  await other.close();
});

test("a position that is none is refused, and an execution of others does not exist", async () => {
  const id = await startRun(platform, "two");
  for (const lastEventId of ["x", "1", "1.-1", "1.1.ends", "9".repeat(200)]) {
    const { response } = await openStream(platform, eventsPath(id), { lastEventId });
    assert.equal(response.status, 400, lastEventId);
  }
  const { response } = await openStream(platform, eventsPath("A".repeat(22)));
  assert.equal(response.status, 404);
  await finish();
  await finish();
});
