/** One execution that cannot be advanced ends as errored, and nobody else waits for it (decision 0007). */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { fromWire } from "../../core/ids.ts";
import {
  abortRun,
  detailOf,
  waitForEnd,
  createPipelines,
  SCOPE,
  startRun,
  statusesOf,
} from "../../../test/support/runs.ts";
import { passTime } from "../../../test/support/pass-time.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  type Lease,
  type PretendDelegate,
} from "../../../test/support/pretend-delegate.ts";
import { recordedLog, snapshot } from "../../../test/support/watch.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;
let token: string;
const log = recordedLog();
const identity = newIdentity();
const lease = ({ task, epoch }: Lease): Lease => ({ task, epoch });
/** Errors that were logged and spoken of. */
let seen = 0;

before(async () => {
  platform = await startTestPlatform({ logTo: log.stream });
  token = await platform.delegateToken();
  await createPipelines(platform, { id: "two", steps: [{ id: "a", timeout: "1m" }, { id: "b" }] });
  delegate = await connect("boot-1");
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});
afterEach(() => assert.deepEqual(delegate.waiting(), []));

async function connect(bootId: string, url = platform.url): Promise<PretendDelegate> {
  const made = await pretendDelegate({ url, token, identity, bootId, slots: 8 });
  await made.next("welcome");
  return made;
}

type Started = { readonly id: string; readonly run: Lease };

async function begin(): Promise<Started> {
  const id = await startRun(platform, "two");
  return { id, run: await delegate.next("run") };
}

/** Stores what no version of the engine has written. */
async function poison(id: string, column: "header" | "plan", value: unknown): Promise<void> {
  await platform.db.query(`update executions set ${column} = $2 where id = $1`, [fromWire(id), JSON.stringify(value)]);
}

async function assertErrored(id: string): Promise<void> {
  const { summary, step } = await detailOf(platform, id);
  assert.equal(summary.status, "Errored");
  assert.match(
    summary.executionErrorInfo.message,
    /^The platform could not go on with this execution and has ended it: \w/,
  );
  for (const name of ["a", "b"]) assert.notEqual(step(name)["status"], "Running");
  const { body } = await platform.graphql(`{ execution(executionId: "${id}") { status endedAt } }`);
  assert.deepEqual(body.data.execution, { status: "ERROR", endedAt: platform.clock.now() });
  assert.deepEqual(
    await platform.db.query("select 1 from execution_timers where execution_id = $1", [fromWire(id)]),
    [],
  );
  const open = "select 1 from tasks where run_id = $1 and status <> 'finished'";
  assert.deepEqual(await platform.db.query(open, [fromWire(id)]), []);
  seen += 1;
  assert.equal(log.errors().length, seen);
  assert.match(log.errors().at(-1) ?? "", /could not be advanced/);
}

async function finishBoth({ id, run }: Started): Promise<void> {
  delegate.finish(run);
  await delegate.next("finishedAck");
  delegate.finish(await delegate.next("run"));
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, id, "a", "b"), "Success a:Success b:Success");
}

for (const state of [[], null, {}, { status: "running", nodes: { a: {} } }]) {
  test(`the end of a step of a run whose state is ${JSON.stringify(state)} is acknowledged; others go on`, async () => {
    const [bad, good] = [await begin(), await begin()];
    await poison(bad.id, "header", state);
    delegate.finish(bad.run, { output: "last words\n" });
    const ack = await delegate.next("finishedAck");
    assert.equal(ack.task, bad.run.task);
    await assertErrored(bad.id);
    const { text } = await platform.send("GET", `/pipeline/api/pipelines/execution/${bad.id}/logs`);
    assert.equal(text, "last words\n");
    // Said once more, as after a lost answer.
    delegate.finish(bad.run, { output: "last words\n" });
    await delegate.next("finishedAck");
    await finishBoth(good);
  });
}

test("a damaged execution hides neither itself nor the others of its project's list", async () => {
  const [bad, good] = [await begin(), await begin()];
  const [row] = await platform.db.query<{ state: unknown }>("select header as state from executions where id = $1", [
    fromWire(bad.id),
  ]);
  await poison(bad.id, "header", [7]);
  assert.equal((await detailOf(platform, bad.id).catch(() => undefined))?.status, "Running");
  const { status, body } = await platform.send("POST", `/pipeline/api/pipelines/execution/summary?${SCOPE}&size=2`);
  assert.equal(status, 200);
  assert.deepEqual(
    body.data.content.map((one: { planExecutionId: string }) => one.planExecutionId),
    [good.id, bad.id],
  );
  await poison(bad.id, "header", row?.state);
  await finishBoth(bad);
  await finishBoth(good);
});

test("a plan that this server cannot run: the engine throws, the execution has errored", async () => {
  const bad = await begin();
  await poison(bad.id, "plan", { root: "a", nodes: { a: { kind: "hologram" } } });
  // Another replica has not read the plan yet.
  const replica = await platform.replica();
  await delegate.cut();
  delegate = await pretendDelegate({
    url: replica.url,
    token,
    identity,
    bootId: "boot-1",
    slots: 8,
    holds: [lease(bad.run)],
  });
  await delegate.next("welcome");
  delegate.finish(bad.run);
  await delegate.next("finishedAck");
  const { status, summary } = await detailOf(platform, bad.id);
  assert.equal(status, "Errored");
  assert.match(summary.executionErrorInfo.message, /could not go on/);
  seen += 1;
  await delegate.close();
  await replica.stop();
  delegate = await connect("boot-1");
});

test("a timer that fires: the running task is cancelled, other timers fire", async () => {
  const [bad, good] = [await begin(), await begin()];
  await poison(bad.id, "header", []);
  platform.clock.advance(60_000);
  await platform.platform.sweep();
  const cancels = [await delegate.next("cancel"), await delegate.next("cancel")].map(({ task }) => task);
  assert.deepEqual(cancels.toSorted(), [bad.run.task, good.run.task].toSorted());
  for (const { run } of [bad, good]) {
    delegate.cancelled(run);
    await delegate.next("finishedAck");
  }
  await assertErrored(bad.id);
  assert.equal(await statusesOf(platform, good.id, "a", "b"), "Expired a:Expired b:Skipped");
});

test("a delegate that comes back without its tasks is let in, and both runs end", async () => {
  const [bad, good] = [await begin(), await begin()];
  await poison(bad.id, "header", []);
  await delegate.cut();
  delegate = await connect("boot-2");
  // Its tasks are counted lost after the welcome.
  assert.equal(await waitForEnd(platform, good.id), "FAILED");
  assert.equal(await waitForEnd(platform, bad.id), "ERROR");
  await assertErrored(bad.id);
  await finishBoth(await begin());
});

test("a delegate that is not heard of any more", async () => {
  const [bad, good] = [await begin(), await begin()];
  await poison(bad.id, "header", []);
  await delegate.cut();
  await passTime(60_000, platform);
  assert.equal(await statusesOf(platform, good.id, "a"), "Running a:Running");
  await passTime(1, platform);
  assert.equal(await statusesOf(platform, good.id, "a"), "Failed a:Failed");
  await assertErrored(bad.id);
  delegate = await connect("boot-2");
});

test("an abort ends it, and its task that waits for a delegate", async () => {
  await delegate.close();
  const id = await startRun(platform, "two");
  await poison(id, "header", []);
  assert.equal((await abortRun(platform, id)).status, 200);
  await assertErrored(id);
  const again = await abortRun(platform, id);
  assert.notEqual(again.status, 200);
  assert.match(again.body.message, /Errored/);
  delegate = await connect("boot-2");
});

/** What the statement that saves the state says, for this execution alone. */
async function whileSaving(code: string, work: () => Promise<void>): Promise<void> {
  await platform.db.query(
    `create function planted() returns trigger language plpgsql as $$ begin
       if new.status <> 'errored' then raise exception 'planted' using errcode = '${code}'; end if; return new; end $$`,
  );
  await platform.db.query("create trigger planted before update on executions for each row execute function planted()");
  try {
    await work();
  } finally {
    await platform.db.query("drop trigger planted on executions");
    await platform.db.query("drop function planted");
  }
}

for (const code of ["22003", "22021", "23514"]) {
  test(`data that a statement cannot take (${code}) is the execution's own`, async () => {
    const bad = await begin();
    await whileSaving(code, async () => {
      delegate.finish(bad.run);
      await delegate.next("finishedAck");
    });
    await assertErrored(bad.id);
  });
}

for (const code of ["42703", "08006", "53100"]) {
  test(`a database that is at fault (${code}) ends nothing: the delegate says it again`, async () => {
    const one = await begin();
    const before = await snapshot(platform);
    await whileSaving(code, async () => {
      delegate.finish(one.run);
      await delegate.closed;
    });
    assert.equal(await snapshot(platform), before);
    seen = log.errors().length;
    delegate = await pretendDelegate({
      url: platform.url,
      token,
      identity,
      bootId: "boot-2",
      slots: 8,
      holds: [lease(one.run)],
    });
    await delegate.next("welcome");
    await finishBoth(one);
  });
}
