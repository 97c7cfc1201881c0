/** Two replicas, two delegates: a ready task has one winner, and a lost wake-up is made up for. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { detailOf, waitForEnd, createPipelines, startRun, statusesOf } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { until } from "../../../test/support/until.ts";

let platform: TestPlatform;
let replicas: TestPlatform[];
let delegates: PretendDelegate[];
/** Notifications of the first server, which has no delegate at first, go nowhere. */
let deaf = false;
let token: string;

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({ ...db, notify: async (...message) => (deaf ? undefined : db.notify(...message)) }),
  });
  token = await platform.delegateToken();
  replicas = [await platform.replica(), await platform.replica()];
  delegates = await Promise.all(
    replicas.map(({ url }, at) =>
      pretendDelegate({ url, token, name: `delegate-${at}`, tags: ["any", `on-${at}`], slots: 3 }),
    ),
  );
  await Promise.all(delegates.map((one) => one.next("welcome")));
  await createPipelines(
    platform,
    { id: "any", steps: [{ id: "a" }] },
    { id: "first", steps: [{ id: "a", selectors: ["on-0"] }] },
    { id: "late", steps: [{ id: "a", selectors: ["late"] }] },
  );
});
after(async () => {
  for (const one of delegates ?? []) await one.cut();
  for (const one of replicas ?? []) await one.stop();
  await platform?.stop();
});

test("each of many ready tasks runs once, on one of the two", async () => {
  const seen: string[] = [];
  const serve = async (delegate: PretendDelegate): Promise<void> => {
    for (;;) {
      const run = await delegate.next("run").catch(() => undefined);
      if (!run) return;
      seen.push(run.task);
      delegate.finish(run, { output: "x" });
    }
  };
  for (const delegate of delegates) void serve(delegate);
  for (let rounds = 0; rounds < 4; rounds += 1) {
    // The replica that starts them has no delegate, so both others hear of each at the same moment.
    const ids = await Promise.all(Array.from({ length: 10 }, () => startRun(platform, "any")));
    await Promise.all(ids.map((id) => waitForEnd(platform, id)));
  }
  assert.equal(seen.length, 40);
  assert.equal(new Set(seen).size, 40);
  const rows = await platform.db.query<{ epoch: number; delegate_id: string }>("select epoch, delegate_id from tasks");
  assert.deepEqual(new Set(rows.map(({ epoch }) => epoch)), new Set([1]));
  assert.equal(new Set(rows.map((row) => row.delegate_id)).size, 2, "one delegate did everything: nothing raced");
});

test("a lost wake-up only costs time: the slow poll finds the task", async () => {
  deaf = true;
  const id = await startRun(platform, "first");
  assert.equal((await detailOf(platform, id)).step("a")["status"], "TaskWaiting");
  await replicas[1]?.platform.reconcile();
  assert.equal((await detailOf(platform, id)).step("a")["status"], "TaskWaiting");
  await replicas[0]?.platform.reconcile();
  await until(
    () => statusesOf(platform, id),
    (status) => status === "Success",
  );
});

test("what waited before the delegate came goes on as its slots get free, without a wake-up and without a poll", async () => {
  deaf = true;
  const ids = [];
  for (let runs = 0; runs < 4; runs += 1) ids.push(await startRun(platform, "late"));
  const late = await pretendDelegate({ url: platform.url, token, name: "late", tags: ["late"], slots: 1 });
  delegates.push(late);
  for (const id of ids) {
    late.finish(await late.next("run"));
    await late.next("finishedAck");
    assert.equal(await statusesOf(platform, id), "Success");
  }
});
