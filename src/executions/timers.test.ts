/** Step timeouts, driven by the hand clock and the sweep. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { abortRun, detailOf, createPipelines, startRun, statusesOf } from "../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { newIdentity, pretendDelegate, type Lease, type PretendDelegate } from "../../test/support/pretend-delegate.ts";
import { recordedLog } from "../../test/support/watch.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;
const log = recordedLog();
const identity = newIdentity();
let token: string;

before(async () => {
  platform = await startTestPlatform({ logTo: log.stream });
  token = await platform.delegateToken();
  await createPipelines(
    platform,
    { id: "safe", steps: [{ id: "a", timeout: "1m" }, { id: "b" }], rollback: [{ id: "undo", timeout: "30s" }] },
    { id: "plain", steps: [{ id: "a", timeout: "1m" }, { id: "b" }] },
    { id: "usual", steps: [{ id: "a" }] },
  );
  delegate = await pretendDelegate({ url: platform.url, token, identity, slots: 32 });
  await delegate.next("welcome");
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});
afterEach(() =>
  assert.deepEqual(
    delegate.waiting().filter(({ kind }) => kind !== "cancel"),
    [],
  ),
);

const cancels = new Set<string>();

/** Waits until this task's end was asked for; replicas may ask for it several times, and for others before. */
async function cancelOf({ task }: Lease): Promise<void> {
  while (!cancels.has(task)) cancels.add((await delegate.next("cancel")).task);
}

const sweep = (): Promise<void> => platform.platform.sweep();
const timers = async (): Promise<number> => {
  const rows = await platform.db.query("select 1 from execution_timers");
  return rows.length;
};

test("a step whose time is up is cancelled, has expired, and its stage rolls back", async () => {
  const id = await startRun(platform, "safe");
  const run = await delegate.next("run");
  platform.clock.advance(59_999);
  await sweep();
  assert.deepEqual(delegate.waiting(), []);
  platform.clock.advance(1);
  await sweep();
  await cancelOf(run);
  assert.equal(await statusesOf(platform, id, "a"), "Running a:Running");
  await sweep();
  delegate.cancelled(run, 1);
  await delegate.next("finishedAck");
  delegate.finish(await delegate.next("run"));
  await delegate.next("finishedAck");
  const { step } = await detailOf(platform, id);
  assert.equal(await statusesOf(platform, id, "a", "b", "undo"), "Failed a:Expired b:Skipped undo:Success");
  assert.deepEqual(step("a")["failureInfo"].failureTypeList, ["TIMEOUT_ERROR"]);
  assert.match(step("a")["failureInfo"].message, /did not end within its timeout of 60 s/);
  assert.deepEqual(step("a")["stepDetails"], { cancel: { survivors: 1 } });
  assert.equal(await timers(), 0);
});

test("without a strategy the execution has expired", async () => {
  const id = await startRun(platform, "plain");
  const run = await delegate.next("run");
  platform.clock.advance(60_000);
  await sweep();
  await cancelOf(run);
  delegate.cancelled(run);
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, id, "a", "b"), "Expired a:Expired b:Skipped");
});

test("the time of a step counts from its own start, also while it waits for a delegate; ten minutes unless it says so", async () => {
  await delegate.close();
  const id = await startRun(platform, "usual");
  platform.clock.advance(599_999);
  await sweep();
  assert.equal(await statusesOf(platform, id, "a"), "Running a:TaskWaiting");
  platform.clock.advance(1);
  await sweep();
  assert.equal(await statusesOf(platform, id, "a"), "Expired a:Expired");
  const { message } = (await detailOf(platform, id)).step("a")["failureInfo"];
  assert.equal(message, "Step 'a' did not end within its timeout of 600 s: no delegate took it");
  assert.equal(await timers(), 0);
  delegate = await pretendDelegate({ url: platform.url, token, identity, slots: 32 });
  await delegate.next("welcome");
});

test("the timer of a step that has ended is gone and never fires", async () => {
  const id = await startRun(platform, "plain");
  delegate.finish(await delegate.next("run"));
  const second = await delegate.next("run");
  assert.equal(await timers(), 1);
  platform.clock.advance(60_000);
  await sweep();
  assert.equal(await statusesOf(platform, id, "a", "b"), "Running a:Success b:Running");
  delegate.finish(second);
  await delegate.next("finishedAck");
  await delegate.next("finishedAck");
  assert.equal(await timers(), 0);
  platform.clock.advance(600_000);
  await sweep();
  assert.equal(await statusesOf(platform, id), "Success");
});

test("a timer that outlived its step, by whatever fault, changes nothing", async () => {
  const id = await startRun(platform, "usual");
  const run = await delegate.next("run");
  const [timer] = await platform.db.query("select * from execution_timers");
  delegate.finish(run);
  await delegate.next("finishedAck");
  await platform.db.query(
    "insert into execution_timers select * from jsonb_populate_record(null::execution_timers, $1)",
    [JSON.stringify(timer)],
  );
  platform.clock.advance(600_000);
  await sweep();
  assert.equal(await statusesOf(platform, id, "a"), "Success a:Success");
  assert.equal(await timers(), 0);
});

test("a script that ended well before the cancel reached it has succeeded, and the next step starts", async () => {
  const id = await startRun(platform, "safe");
  const run = await delegate.next("run");
  platform.clock.advance(60_000);
  await sweep();
  await cancelOf(run);
  delegate.finish(run);
  await delegate.next("finishedAck");
  delegate.finish(await delegate.next("run"));
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, id, "a", "b"), "Success a:Success b:Success");
});

test("of replicas that sweep at once one fires each timer", async () => {
  const others = [await platform.replica(), await platform.replica()];
  const ids = [];
  for (let runs = 0; runs < 8; runs += 1) ids.push(await startRun(platform, "plain"));
  const runs = await Promise.all(ids.map(() => delegate.next("run")));
  platform.clock.advance(60_000);
  await Promise.all([sweep(), ...others.map((one) => one.platform.sweep()), sweep()]);
  for (const run of runs) {
    await cancelOf(run);
    delegate.cancelled(run);
    await delegate.next("finishedAck");
  }
  for (const id of ids) assert.equal(await statusesOf(platform, id), "Expired");
  assert.deepEqual(log.errors(), []);
  for (const one of others) await one.stop();
});

test("an abort takes the timer away; an abort while a step expires leaves it expired", async () => {
  const first = await startRun(platform, "plain");
  const run = await delegate.next("run");
  await abortRun(platform, first);
  await cancelOf(run);
  assert.equal(await timers(), 0);
  platform.clock.advance(60_000);
  await sweep();
  delegate.cancelled(run);
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, first, "a"), "Aborted a:Aborted");

  const second = await startRun(platform, "safe");
  const expiring = await delegate.next("run");
  platform.clock.advance(60_000);
  await sweep();
  await cancelOf(expiring);
  await abortRun(platform, second);
  delegate.cancelled(expiring);
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, second, "a", "undo"), "Aborted a:Expired undo:Skipped");
});

test("a run that cannot be advanced does not keep the others from timing out", async () => {
  const ids = [await startRun(platform, "plain"), await startRun(platform, "plain")];
  const runs = [await delegate.next("run"), await delegate.next("run")];
  await platform.db.query(
    `update executions set header = '[]' where id = (select execution_id from execution_timers order by due_at, execution_id limit 1)`,
  );
  platform.clock.advance(60_000);
  await sweep();
  assert.equal(await timers(), 0);
  assert.equal(log.errors().length, 1);
  for (const run of runs) {
    await cancelOf(run);
    delegate.cancelled(run);
    await delegate.next("finishedAck");
  }
  const ends = await Promise.all(ids.map((id) => statusesOf(platform, id)));
  assert.deepEqual(ends.toSorted(), ["Errored", "Expired"]);
});
