/**
 * A disk that is full at any single write: nothing is half written, nothing is
 * said that is not so (invariant 1), and the repeat does the whole.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { abortRun, createPipelines, logOf, SCOPE, startRun, statusesOf } from "../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { newIdentity, pretendDelegate, type Lease, type PretendDelegate } from "../../test/support/pretend-delegate.ts";
import { snapshot } from "../../test/support/watch.ts";

let platform: TestPlatform;
let token: string;
let delegate: PretendDelegate;
const identity = newIdentity();

before(async () => {
  platform = await startTestPlatform();
  token = await platform.delegateToken();
  await createPipelines(platform, { id: "two", steps: [{ id: "a", timeout: "1m" }, { id: "b" }] });
  await platform.db.query(
    "create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'planted' using errcode = '53100'; end $$",
  );
  await connect();
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

/** One slot, so that a slot that is not given back shows at once. */
async function connect(...holds: Lease[]): Promise<void> {
  delegate = await pretendDelegate({
    url: platform.url,
    token,
    identity,
    slots: 1,
    holds: holds.map(({ task, epoch }) => ({ task, epoch })),
  });
  const { keep } = await delegate.next("welcome");
  assert.equal(keep.length, holds.length);
}

type Fault = readonly [table: string, operation: "insert" | "update" | "delete", when?: "commit"];

/** Runs `work` while the write fails; everything that counts is as before then. */
async function during([table, operation, when]: Fault, work: () => Promise<void>): Promise<void> {
  const before = await snapshot(platform);
  const trigger = when
    ? `create constraint trigger planted after ${operation} on ${table} deferrable initially deferred for each row`
    : `create trigger planted before ${operation} on ${table} for each row`;
  await platform.db.query(`${trigger} execute function full_disk()`);
  await work();
  assert.equal(await snapshot(platform), before);
  await platform.db.query(`drop trigger planted on ${table}`);
}

const name = ([table, operation, when]: Fault): string => `${operation} of ${table}${when ? ", at the commit" : ""}`;

async function finishBoth(id: string, first: Lease): Promise<void> {
  delegate.finish(first, { output: "a\n" });
  await delegate.next("finishedAck");
  delegate.finish(await delegate.next("run"), { output: "b\n" });
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, id, "a", "b"), "Success a:Success b:Success");
  assert.equal(await logOf(platform, id), "a\nb\n");
  assert.deepEqual(delegate.waiting(), []);
}

const starting: readonly Fault[] = [
  ["execution_sequences", "insert"],
  ["executions", "insert"],
  ["audit_entries", "insert"],
  ["execution_timers", "insert"],
  ["tasks", "insert"],
  ["tasks", "insert", "commit"],
];
for (const fault of starting) {
  test(`a start: ${name(fault)}`, async () => {
    await during(fault, async () => {
      const answer = await platform.send("POST", `/pipeline/api/pipeline/execute/two?${SCOPE}`);
      assert.equal(answer.status, 503);
      assert.equal(answer.headers.get("retry-after"), "30");
      assert.deepEqual(delegate.waiting(), []);
    });
    const id = await startRun(platform, "two");
    await finishBoth(id, await delegate.next("run"));
  });
}

const ending: readonly Fault[] = [
  ["log_streams", "insert"],
  ["log_chunks", "insert"],
  ["tasks", "update"],
  ["executions", "update"],
  ["execution_timers", "delete"],
  ["execution_timers", "insert"],
  ["tasks", "insert"],
  ["executions", "update", "commit"],
  ["tasks", "insert", "commit"],
];
for (const fault of ending) {
  test(`the end of a step: ${name(fault)}`, async () => {
    const id = await startRun(platform, "two");
    const run = await delegate.next("run");
    await during(fault, async () => {
      delegate.finish(run, { output: "a\n" });
      await delegate.closed;
      assert.deepEqual(delegate.waiting(), []);
    });
    await connect(run);
    await finishBoth(id, run);
  });
}

const logging: readonly Fault[] = [
  ["log_streams", "insert"],
  ["log_chunks", "insert"],
  ["tasks", "update"],
  ["log_chunks", "insert", "commit"],
];
for (const fault of logging) {
  test(`output of a step: ${name(fault)}`, async () => {
    const id = await startRun(platform, "two");
    const run = await delegate.next("run");
    await during(fault, async () => {
      delegate.log(run, 0, "a");
      delegate.log(run, 1, "\n");
      await delegate.closed;
      assert.deepEqual(delegate.waiting(), []);
    });
    await connect(run);
    delegate.log(run, 0, "a");
    assert.equal((await delegate.next("logAck")).offset, 1);
    await finishBoth(id, run);
  });
}

const aborting: readonly Fault[] = [
  ["executions", "update"],
  ["execution_timers", "delete"],
  ["tasks", "update"],
  ["audit_entries", "insert"],
  ["executions", "update", "commit"],
];
for (const fault of aborting) {
  test(`an abort: ${name(fault)}`, async () => {
    const id = await startRun(platform, "two");
    const run = await delegate.next("run");
    await during(fault, async () => {
      assert.equal((await abortRun(platform, id)).status, 503);
      assert.deepEqual(delegate.waiting(), []);
    });
    assert.equal((await abortRun(platform, id)).status, 200);
    await delegate.next("cancel");
    delegate.cancelled(run);
    await delegate.next("finishedAck");
    assert.equal(await statusesOf(platform, id, "a", "b"), "Aborted a:Aborted b:Skipped");
  });
}

const timing: readonly Fault[] = [
  ["execution_timers", "delete"],
  ["executions", "update"],
  ["tasks", "update"],
  ["executions", "update", "commit"],
];
for (const fault of timing) {
  test(`a timeout: ${name(fault)}`, async () => {
    const id = await startRun(platform, "two");
    const run = await delegate.next("run");
    platform.clock.advance(60_000);
    await during(fault, async () => {
      await platform.platform.sweep();
      assert.deepEqual(delegate.waiting(), []);
    });
    await platform.platform.sweep();
    await delegate.next("cancel");
    delegate.cancelled(run);
    await delegate.next("finishedAck");
    assert.equal(await statusesOf(platform, id, "a"), "Expired a:Expired");
  });
}

test("a hello whose write fails leaves the delegate's tasks as they are", async () => {
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  await delegate.cut();
  await during(["delegates", "update"], async () => {
    const refused = await pretendDelegate({ url: platform.url, token, identity, slots: 1 });
    await refused.closed;
    assert.deepEqual(refused.waiting(), []);
  });
  await connect(run);
  await finishBoth(id, run);
});
