/** A task that provably never started is returned, and runs elsewhere or later under another epoch (invariant 3). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { abortRun, detailOf, waitForEnd, createPipelines, startRun, statusesOf } from "../../../test/support/runs.ts";
import { until } from "../../../test/support/until.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type Lease, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { snapshot } from "../../../test/support/watch.ts";
import { fromWire } from "../../core/ids.ts";
import { MAX_RETURNS } from "./process-returned.ts";

let platform: TestPlatform;
let token: string;

before(async () => {
  platform = await startTestPlatform();
  token = await platform.delegateToken();
  await createPipelines(platform, ...TESTS.map((id) => ({ id, steps: [{ id: "only", selectors: [id] }] })));
});
after(async () => {
  await platform?.stop();
});

/** Pipelines, each with the selector of its name: what one test leaves connected takes nothing of the next. */
const TESTS = ["again", "old", "full", "hello", "often", "abort", "strangers"] as const;
const REASON = "it was stopped before it could start the step";
const full = "is short of disk space: 0 KiB are free in /work, and 65536 KiB are needed";
const join = async (tag: (typeof TESTS)[number], name: string = tag): Promise<PretendDelegate> => {
  const delegate = await pretendDelegate({ url: platform.url, token, name, tags: [tag], slots: 1 });
  await delegate.next("welcome");
  return delegate;
};
const giveBack = (from: PretendDelegate, { task, epoch }: Lease): void =>
  from.send({ kind: "returned", task, epoch, reason: REASON });

test("a task that is given back is leased again under the next epoch, and its end counts once", async () => {
  const first = await join("again");
  const id = await startRun(platform, "again");
  const run = await first.next("run");
  giveBack(first, run);
  assert.deepEqual(await first.next("drop"), { kind: "drop", task: run.task, epoch: run.epoch });
  const again = await first.next("run");
  assert.deepEqual([again.task, again.epoch], [run.task, run.epoch + 1]);
  const before = await snapshot(platform);
  giveBack(first, run);
  first.finish(run);
  for (const _ of [1, 2])
    assert.deepEqual(await first.next("drop"), { kind: "drop", task: run.task, epoch: run.epoch });
  assert.equal(await snapshot(platform), before);
  first.finish(again);
  await waitForEnd(platform, id);
  assert.equal(await statusesOf(platform, id, "only"), "Success only:Success");
  await first.close();
});

test("a message under an old epoch does not free the slot of the lease that replaced it", async () => {
  const delegate = await join("old");
  const first = await startRun(platform, "old");
  const run = await delegate.next("run");
  giveBack(delegate, run);
  await delegate.next("drop");
  const again = await delegate.next("run");
  delegate.log(run, 0, "late");
  assert.equal((await delegate.next("drop")).epoch, run.epoch);
  const second = await startRun(platform, "old");
  const tasks = await platform.db.query(`select status from tasks where run_id = any($1::uuid[]) order by status`, [
    [first, second].map(fromWire),
  ]);
  assert.deepEqual(tasks, [{ status: "leased" }, { status: "ready" }]);
  delegate.finish(again);
  delegate.finish(await delegate.next("run"));
  for (const id of [first, second]) await waitForEnd(platform, id);
  await delegate.close();
});

test("one that takes no tasks gets none, another does, and lists and reasons for waiting say why", async () => {
  const first = await join("full", "d1");
  first.send({ kind: "heartbeat", unavailable: full });
  const said = `Delegate d1 ${full}.`;
  const list = async (): Promise<readonly { delegateName: string; unavailableReason: string | null }[]> => {
    const listed = await platform.send("POST", "/ng/api/delegate-setup/listDelegates", {
      contentType: "application/json",
      body: "{}",
    });
    return listed.body.resource;
  };
  const reasonOf = async (name: string) =>
    (await list()).find(({ delegateName }) => delegateName === name)?.unavailableReason;
  // A run that starts before would be sent to it.
  await until(
    () => reasonOf("d1"),
    (reason) => reason === said,
  );
  const id = await startRun(platform, "full");
  // The reason is stored some time after the heartbeat.
  const detail = await until(
    async () => JSON.stringify(await detailOf(platform, id)),
    (text) => text.includes(said),
  );
  assert.ok(detail.includes(`Waits for a delegate with all of the selectors [full]`), detail);
  const second = await join("full", "d2");
  const run = await second.next("run");
  giveBack(second, run);
  second.send({ kind: "heartbeat", unavailable: full });
  await second.next("drop");
  // Recovered by itself: what waits comes at once.
  first.send({ kind: "heartbeat" });
  const again = await first.next("run");
  first.finish(again);
  await waitForEnd(platform, id);
  assert.deepEqual(second.waiting(), []);
  assert.equal((await list()).filter(({ unavailableReason }) => unavailableReason !== null).length, 1);
  await first.close();
  await second.close();
});

test("a delegate that says so in its hello gets nothing", async () => {
  const delegate = await pretendDelegate({
    url: platform.url,
    token,
    name: "hello",
    tags: ["hello"],
    unavailable: full,
  });
  await delegate.next("welcome");
  const id = await startRun(platform, "hello");
  await delegate.roundTrip();
  assert.deepEqual(delegate.waiting(), []);
  delegate.send({ kind: "heartbeat" });
  delegate.finish(await delegate.next("run"));
  await waitForEnd(platform, id);
  await delegate.close();
});

test(`after ${MAX_RETURNS} times the attempt fails with the reason`, async () => {
  const delegate = await join("often");
  const id = await startRun(platform, "often");
  for (let nth = 1; nth <= MAX_RETURNS; nth += 1) {
    const run = await delegate.next("run");
    assert.equal(run.epoch, nth);
    giveBack(delegate, run);
    await delegate.next("drop");
  }
  await waitForEnd(platform, id);
  const detail = JSON.stringify(await detailOf(platform, id));
  assert.ok(
    detail.includes(`given back ${MAX_RETURNS} times before it started, at last by delegate often: ${REASON}`),
    detail,
  );
  await delegate.close();
});

test("one that is to end ends when it is given back", async () => {
  const delegate = await join("abort");
  const id = await startRun(platform, "abort");
  const run = await delegate.next("run");
  await abortRun(platform, id);
  await delegate.next("cancel");
  giveBack(delegate, run);
  await delegate.next("drop");
  await waitForEnd(platform, id);
  assert.equal(await statusesOf(platform, id, "only"), "Aborted only:Aborted");
  await delegate.close();
});

test("neither a task of another delegate nor one that has printed something can be given back", async () => {
  const holder = await join("strangers");
  const other = await join("strangers", "other");
  const id = await startRun(platform, "strangers");
  const { run, owner, stranger } = await Promise.race([
    holder.next("run").then((run) => ({ run, owner: holder, stranger: other })),
    other.next("run").then((run) => ({ run, owner: other, stranger: holder })),
  ]);
  const before = await snapshot(platform);
  giveBack(stranger, run);
  assert.deepEqual(await stranger.next("drop"), { kind: "drop", task: run.task, epoch: run.epoch });
  assert.equal(await snapshot(platform), before);
  owner.log(run, 0, "has begun\n");
  await owner.next("logAck");
  giveBack(owner, run);
  await owner.closed;
  const rows = await platform.db.query<{ status: string }>(
    "select status from tasks where status <> 'finished' and selectors = '{strangers}'",
  );
  assert.deepEqual(rows, [{ status: "leased" }]);
  assert.ok(id);
  await stranger.close();
});
