/** Laws 3 and 4: only the holder of the current lease says anything about a task, and an end counts once. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { detailOf, waitForEnd, createPipelines, logOf, startRun, statusesOf } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type Lease, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { snapshot } from "../../../test/support/watch.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;
let token: string;

before(async () => {
  platform = await startTestPlatform();
  token = await platform.delegateToken();
  delegate = await pretendDelegate({ url: platform.url, token, tags: ["first"], slots: 16 });
  await delegate.next("welcome");
  await createPipelines(
    platform,
    { id: "one", steps: [{ id: "only", selectors: ["first"] }] },
    {
      id: "two",
      steps: [
        { id: "a", selectors: ["first"] },
        { id: "b", selectors: ["first"] },
      ],
    },
  );
});

after(async () => {
  await delegate?.close();
  await platform?.stop();
});

const UNKNOWN = "AZMAAAAAcACAAAAAAAAAAA";

/** Sends every message about a task, sees each answered with `drop`, and nothing written. */
async function assertTaskUnknown(from: PretendDelegate, lease: Lease): Promise<void> {
  const before = await snapshot(platform);
  const expected = { kind: "drop", task: lease.task, epoch: lease.epoch };
  from.log(lease, 0, "intruder\n");
  assert.deepEqual(await from.next("drop"), expected);
  from.finish(lease, { output: "intruder\n" });
  assert.deepEqual(await from.next("drop"), expected);
  from.cancelled(lease);
  assert.deepEqual(await from.next("drop"), expected);
  assert.equal(await snapshot(platform), before);
}

for (const [what, other] of [
  ["an older epoch", (run: Lease) => ({ ...run, epoch: run.epoch - 1 })],
  ["a later epoch", (run: Lease) => ({ ...run, epoch: run.epoch + 1 })],
] as const) {
  test(`${what} changes nothing and is answered with drop`, async () => {
    const id = await startRun(platform, "one");
    const run = await delegate.next("run");
    // An epoch is at least 1, so that an older one needs a lease that was renewed.
    await platform.db.query("update tasks set epoch = 5 where status = 'leased'");
    await assertTaskUnknown(delegate, other({ task: run.task, epoch: 5 }));
    delegate.finish({ task: run.task, epoch: 5 }, { output: "mine\n" });
    await delegate.next("finishedAck");
    assert.equal(await logOf(platform, id), "mine\n");
  });
}

test("a task of another delegate, of another account, and of nobody: no effect", async () => {
  const id = await startRun(platform, "one");
  const run = await delegate.next("run");
  const neighbour = await pretendDelegate({ url: platform.url, token, name: "neighbour" });
  const other = await platform.addAccount();
  const made = await platform.send("POST", "/ng/api/delegate-token-ng?tokenName=theirs", {
    account: other.accountId,
    apiKey: other.apiKey,
  });
  // The name of the task's holder helps nobody in another account.
  const foreign = await pretendDelegate({
    url: platform.url,
    token: made.body.resource.value,
    name: "pretend",
    tags: ["first"],
  });
  for (const guest of [neighbour, foreign]) {
    await guest.next("welcome");
    await assertTaskUnknown(guest, run);
    await assertTaskUnknown(guest, { task: UNKNOWN, epoch: 1 });
    await guest.close();
  }
  assert.equal(await statusesOf(platform, id, "only"), "Running only:Running");
  delegate.finish(run);
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, id, "only"), "Success only:Success");
});

test("an end that is said twice is acked twice and counts once", async () => {
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  for (let times = 0; times < 3; times += 1) delegate.finish(run, { output: "once\n" });
  for (let times = 0; times < 3; times += 1)
    assert.deepEqual(await delegate.next("finishedAck"), { kind: "finishedAck", task: run.task, epoch: run.epoch });
  const second = await delegate.next("run");
  // Another end than the first one comes too late as well.
  const before = await snapshot(platform);
  delegate.finish(run, { exitCode: 1, output: "once\nmore\n" });
  await delegate.next("finishedAck");
  assert.equal(await snapshot(platform), before);
  delegate.finish(second);
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, id, "a", "b"), "Success a:Success b:Success");
  assert.equal(await logOf(platform, id), "once\n");
  assert.deepEqual(delegate.waiting(), []);
});

test("output after the end is dropped", async () => {
  const id = await startRun(platform, "one");
  const run = await delegate.next("run");
  delegate.finish(run, { output: "all\n" });
  await delegate.next("finishedAck");
  const before = await snapshot(platform);
  delegate.log(run, 4, "late\n");
  await delegate.next("drop");
  assert.equal(await snapshot(platform), before);
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
});

test("what a script printed as outputs is data, whatever its name and its characters", async () => {
  const id = await startRun(platform, "two");
  const outputs = [
    { name: "__proto__", value: "polluted" },
    { name: "constructor", value: "c" },
    { name: "text", value: "\u0000 \ud800 ü" },
  ];
  delegate.finish(await delegate.next("run"), { outputs });
  delegate.finish(await delegate.next("run"));
  await delegate.next("finishedAck");
  await delegate.next("finishedAck");
  const { step } = await detailOf(platform, id);
  const shown = step("a")["outcomes"].output.outputVariables;
  assert.deepEqual(
    Object.entries(shown).map(([name]) => name),
    ["__proto__", "constructor", "text"],
  );
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.equal(shown.text, "\u0000 \ud800 ü");
});
