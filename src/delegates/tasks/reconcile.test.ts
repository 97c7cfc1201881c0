/** What a lost delegate, a silent one and a fresh server make of the tasks that are leased. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { detailOf, createPipelines, startRun, statusesOf } from "../../../test/support/runs.ts";
import { passTime } from "../../../test/support/pass-time.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  type PretendDelegate,
  type PretendOptions,
} from "../../../test/support/pretend-delegate.ts";
import { until } from "../../../test/support/until.ts";
import { LOST_AFTER_MS } from "../delegate.ts";

let platform: TestPlatform;
let token: string;
let databaseIsAway = false;
const opened: PretendDelegate[] = [];

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: async (text, values) => {
        if (databaseIsAway) throw new Error("the database is away");
        return db.query(text, values);
      },
    }),
  });
  token = await platform.delegateToken();
  await createPipelines(
    platform,
    { id: "one", steps: [{ id: "a" }] },
    { id: "safe", steps: [{ id: "a" }], rollback: [{ id: "undo" }] },
  );
});
after(() => platform?.stop());
afterEach(async () => {
  for (const delegate of opened.splice(0)) await delegate.cut();
});

async function connect(name: string, options: Partial<PretendOptions> = {}): Promise<PretendDelegate> {
  const delegate = await pretendDelegate({ url: platform.url, token, name, ...options });
  opened.push(delegate);
  return delegate;
}

const reconcile = (): Promise<void> => platform.platform.reconcile();

test("an attempt ends when its delegate was not heard of for a minute, and not a moment earlier", async () => {
  const identity = newIdentity();
  const delegate = await connect("lost", { identity });
  const id = await startRun(platform, "safe");
  const run = await delegate.next("run");
  await delegate.cut();
  await passTime(LOST_AFTER_MS, platform);
  assert.equal(await statusesOf(platform, id, "a"), "Running a:Running");
  await passTime(1, platform);
  const { step, status } = await detailOf(platform, id);
  assert.equal(status, "Running");
  assert.deepEqual(step("a")["failureInfo"].failureTypeList, ["DELEGATE_RESTART"]);
  assert.match(step("a")["failureInfo"].message, /Delegate lost was not heard of for 60 s/);
  assert.equal(step("undo")["status"], "TaskWaiting");
  // The delegate comes back and still runs it: what it says of it counts no more.
  const back = await connect("lost", { identity, holds: [{ task: run.task, epoch: run.epoch }] });
  assert.deepEqual((await back.next("welcome")).drop, [{ task: run.task, epoch: run.epoch }]);
  back.log(run, 0, "still here\n");
  await back.next("drop");
  back.finish(await back.next("run"));
  await back.next("finishedAck");
  assert.equal(await statusesOf(platform, id, "a", "undo"), "Failed a:Failed undo:Success");
});

test("a heartbeat keeps it, and so does one that another server has heard", async () => {
  const delegate = await connect("alive");
  const id = await startRun(platform, "one");
  const run = await delegate.next("run");
  const seen = async (): Promise<number> => {
    const [row] = await platform.db.query<{ at: number }>("select seen_at as at from delegates where name = 'alive'");
    return Number(row?.at);
  };
  const other = await platform.replica();
  for (let beats = 0; beats < 4; beats += 1) {
    await passTime(LOST_AFTER_MS / 2 - 1, platform, other);
    delegate.send({ kind: "heartbeat" });
    await until(seen, (at) => at === platform.clock.now());
  }
  await other.stop();
  assert.equal(await statusesOf(platform, id), "Running");
  delegate.finish(run);
  await delegate.next("finishedAck");
});

test("a silent connection is asked for an answer, and one that gives none gets no further task", async () => {
  const silent = await connect("silent");
  await silent.next("welcome");
  await passTime(LOST_AFTER_MS / 2, platform);
  silent.stopAnsweringPings();
  await passTime(LOST_AFTER_MS / 2, platform);
  const id = await startRun(platform, "one");
  assert.equal(await statusesOf(platform, id, "a"), "Running a:TaskWaiting");
  await silent.closed;
  const awake = await connect("awake");
  awake.finish(await awake.next("run"));
  await awake.next("finishedAck");
  assert.equal(await statusesOf(platform, id), "Success");
});

test("a connection that answers when it is asked stays, and its tasks go on", async () => {
  const quiet = await connect("quiet");
  const id = await startRun(platform, "one");
  const run = await quiet.next("run");
  for (let asked = 1; asked <= 4; asked += 1) {
    await passTime(30_001, platform);
    await until(quiet.pings, (pings) => pings === asked);
    await quiet.roundTrip();
  }
  assert.equal(await statusesOf(platform, id), "Running");
  quiet.finish(run);
  await quiet.next("finishedAck");
});

test("a server that has just started waits a minute before it counts any delegate as lost", async () => {
  const identity = newIdentity();
  const delegate = await connect("patient", { identity });
  const id = await startRun(platform, "one");
  const run = await delegate.next("run");
  await delegate.cut();
  // No server ran for a day.
  platform.clock.advance(24 * 3_600_000);
  const fresh = await platform.replica();
  await passTime(LOST_AFTER_MS, fresh);
  assert.equal(await statusesOf(platform, id), "Running");
  const back = await pretendDelegate({
    url: fresh.url,
    token,
    name: "patient",
    identity,
    holds: [{ task: run.task, epoch: run.epoch }],
  });
  assert.equal((await back.next("welcome")).keep.length, 1);
  await passTime(1, fresh);
  back.finish(run);
  await back.next("finishedAck");
  assert.equal(await statusesOf(platform, id), "Success");
  await back.close();
  await fresh.stop();
});

test("a server that was paused, or could not read the database, gives every delegate the whole minute again", async () => {
  const identity = newIdentity();
  const delegate = await connect("unheard", { identity });
  const id = await startRun(platform, "one");
  const run = await delegate.next("run");
  await delegate.cut();
  await passTime(LOST_AFTER_MS, platform);
  // Paused: no look for an hour.
  platform.clock.advance(3_600_000);
  await passTime(LOST_AFTER_MS, platform);
  assert.equal(await statusesOf(platform, id), "Running");
  // Its looks fail for longer than the grace.
  databaseIsAway = true;
  for (let looks = 0; looks < 12; looks += 1) {
    platform.clock.advance(10_000);
    await assert.rejects(reconcile(), /the database is away/);
  }
  databaseIsAway = false;
  await passTime(LOST_AFTER_MS, platform);
  assert.equal(await statusesOf(platform, id), "Running");
  const back = await connect("unheard", { identity, holds: [{ task: run.task, epoch: run.epoch }] });
  assert.equal((await back.next("welcome")).keep.length, 1);
  back.finish(run);
  await back.next("finishedAck");
  assert.equal(await statusesOf(platform, id), "Success");
});

test("a heartbeat that cannot be stored gives every delegate the whole minute again", async () => {
  const [identity, lost] = [newIdentity(), await connect("unstored", { slots: 1 })];
  const id = await startRun(platform, "one");
  const run = await lost.next("run");
  await lost.cut();
  const other = await connect("beating", { identity });
  await other.next("welcome");
  await passTime(LOST_AFTER_MS, platform);
  databaseIsAway = true;
  other.send({ kind: "heartbeat" });
  await other.closed;
  databaseIsAway = false;
  await passTime(LOST_AFTER_MS, platform);
  assert.equal(await statusesOf(platform, id), "Running");
  await passTime(1, platform);
  assert.equal(await statusesOf(platform, id), "Failed");
  assert.equal(run.epoch, 1);
});

test("of a delegate that another server hears in the moment when this one counts it as lost, nothing ends", async () => {
  const identity = newIdentity();
  const delegate = await connect("late", { identity });
  const id = await startRun(platform, "one");
  const run = await delegate.next("run");
  await delegate.cut();
  const other = await platform.replica();
  await passTime(LOST_AFTER_MS, platform);
  const opening = await platform.db.transaction(async (tx) => {
    // Holds the server up between its look and the end of the task.
    await tx.query("select 1 from executions for update");
    platform.clock.advance(1);
    const looked = reconcile();
    await until(
      () =>
        platform.db.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      (waiting) => waiting.length > 0,
    );
    const back = pretendDelegate({
      url: other.url,
      token,
      name: "late",
      identity,
      holds: [{ task: run.task, epoch: run.epoch }],
    });
    assert.equal((await (await back).next("welcome")).keep.length, 1);
    return { looked, back };
  });
  await opening.looked;
  assert.equal(await statusesOf(platform, id), "Running");
  const back = await opening.back;
  back.finish(run);
  await back.next("finishedAck");
  assert.equal(await statusesOf(platform, id), "Success");
  await back.close();
  await other.stop();
});

test("while the database does not answer, delegates are let go, so that they find a server that reaches it", async () => {
  const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const stuck = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: async (text, values) => {
        if (text.startsWith("update delegates set seen_at")) {
          reached.resolve();
          await held.promise;
        }
        return db.query(text, values);
      },
    }),
  });
  const delegate = await pretendDelegate({ url: stuck.url, token: await stuck.delegateToken() });
  await delegate.next("welcome");
  delegate.send({ kind: "heartbeat" });
  await reached.promise;
  stuck.clock.advance(30_000);
  await stuck.platform.reconcile();
  delegate.log({ task: "AZMAAAAAcACAAAAAAAAAAA", epoch: 1 }, 0, "");
  await delegate.next("drop");
  stuck.clock.advance(1);
  await stuck.platform.reconcile();
  await delegate.closed;
  held.resolve();
  await stuck.stop();
});

test("several replicas that find it lost at once end it once", async () => {
  const delegate = await connect("raced");
  const ids = [];
  for (let runs = 0; runs < 4; runs += 1) ids.push(await startRun(platform, "safe"));
  for (let runs = 0; runs < 4; runs += 1) await delegate.next("run");
  const other = await platform.replica();
  await delegate.cut();
  await passTime(LOST_AFTER_MS, platform, other);
  platform.clock.advance(1);
  await Promise.all([reconcile(), other.platform.reconcile(), reconcile(), other.platform.reconcile()]);
  const heir = await connect("heir");
  for (let runs = 0; runs < 4; runs += 1) {
    heir.finish(await heir.next("run"));
    await heir.next("finishedAck");
  }
  for (const id of ids) assert.equal(await statusesOf(platform, id, "a", "undo"), "Failed a:Failed undo:Success");
  assert.deepEqual(
    heir.waiting().map(({ kind }) => kind),
    ["welcome"],
  );
  await other.stop();
});

test("a run that cannot be advanced does not keep the others from being ended", async () => {
  const delegate = await connect("mixed");
  const [poisoned, healthy] = [await startRun(platform, "one"), await startRun(platform, "one")];
  await delegate.next("run");
  await delegate.next("run");
  await delegate.cut();
  await platform.db.query(
    `update executions set header = '[]' where id = (select run_id from tasks where status = 'leased' order by id limit 1)`,
  );
  await passTime(LOST_AFTER_MS + 1, platform);
  assert.equal(await statusesOf(platform, healthy), "Failed");
  assert.equal(await statusesOf(platform, poisoned), "Errored");
});

test("a lease that its session knows nothing of is settled by connecting anew", async () => {
  const delegate = await connect("unaware");
  await delegate.next("welcome");
  const id = await startRun(platform, "one");
  const run = await delegate.next("run");
  delegate.finish(run);
  await delegate.next("finishedAck");
  // As if another replica had given it to a half-open connection of the same delegate.
  const lease = (status: string) =>
    platform.db.query(
      "update tasks set status = $1 where delegate_id = (select id from delegates where name = 'unaware')",
      [status],
    );
  await lease("leased");
  platform.clock.advance(9_999);
  await reconcile();
  assert.equal(await statusesOf(platform, id), "Success");
  delegate.log({ ...run, epoch: 9 }, 0, "");
  await delegate.next("drop");
  platform.clock.advance(2);
  await reconcile();
  await delegate.closed;
  await lease("finished");
});
