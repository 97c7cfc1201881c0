/** Hello and welcome: what becomes of each task that either side believes the delegate holds. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { PROTOCOL } from "../../../protocol/versions.ts";
import { detailOf, createPipelines, logOf, startRun, statusesOf } from "../../../test/support/runs.ts";
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
const opened: PretendDelegate[] = [];

before(async () => {
  platform = await startTestPlatform();
  token = await platform.delegateToken();
  await createPipelines(
    platform,
    { id: "one", steps: [{ id: "only" }] },
    { id: "safe", steps: [{ id: "only" }], rollback: [{ id: "undo" }] },
  );
});
after(() => platform?.stop());
afterEach(async () => {
  for (const delegate of opened.splice(0)) await delegate.cut();
});

async function connect(options: Partial<PretendOptions> = {}): Promise<PretendDelegate> {
  const delegate = await pretendDelegate({ url: platform.url, token, ...options });
  opened.push(delegate);
  return delegate;
}

test("a held task is kept from the committed byte on", async () => {
  const me = { name: "keeper", identity: newIdentity() };
  const first = await connect(me);
  const id = await startRun(platform, "one");
  const run = await first.next("run");
  first.log(run, 0, "12345");
  await first.next("logAck");
  await first.cut();
  const second = await connect({ ...me, holds: [{ task: run.task, epoch: run.epoch }] });
  const { keep, drop } = await second.next("welcome");
  assert.deepEqual({ keep, drop }, { keep: [{ task: run.task, epoch: run.epoch, offset: 5 }], drop: [] });
  // A delegate may answer the welcome at once, as it does with output from the time without a connection.
  second.finish(run, { offset: 5, output: "6" });
  await second.next("finishedAck");
  assert.equal(await logOf(platform, id), "123456");
  assert.deepEqual(second.waiting(), []);
});

test("a leased task that never reached its delegate is sent again with its epoch, as long as the machine did not restart", async () => {
  const me = { name: "forgetful", identity: newIdentity(), bootId: "same" };
  const first = await connect(me);
  const id = await startRun(platform, "one");
  const run = await first.next("run");
  await first.cut();
  const second = await connect(me);
  assert.deepEqual((await second.next("welcome")).keep, []);
  assert.deepEqual(await second.next("run"), run);
  second.finish(run);
  await second.next("finishedAck");
  assert.equal(await statusesOf(platform, id), "Success");
});

test("after a restart of the machine it counts as lost: no script runs twice", async () => {
  const identity = newIdentity();
  const first = await connect({ name: "rebooted", identity, bootId: "before" });
  const id = await startRun(platform, "safe");
  const run = await first.next("run");
  await first.cut();
  const second = await connect({ name: "rebooted", identity, bootId: "after" });
  const { keep, drop } = await second.next("welcome");
  assert.deepEqual({ keep, drop }, { keep: [], drop: [] });
  const undo = await second.next("run");
  assert.notEqual(undo.task, run.task);
  second.finish(undo);
  await second.next("finishedAck");
  const { status, step } = await detailOf(platform, id);
  assert.equal(status, "Failed");
  assert.deepEqual(step("only")["failureInfo"].failureTypeList, ["DELEGATE_RESTART"]);
  assert.match(step("only")["failureInfo"].message, /The machine of delegate rebooted restarted/);
  assert.equal(step("undo")["status"], "Success");
  second.finish(run, { output: "twice" });
  await second.next("finishedAck");
  assert.equal(await logOf(platform, id), "");
});

test("a server that dies while it counts a task as lost does not run it again later", async () => {
  const identity = newIdentity();
  const first = await connect({ name: "unlucky", identity, bootId: "before" });
  const id = await startRun(platform, "one");
  await first.next("run");
  await first.cut();
  // The transaction that would end the attempt fails, after the one that lets the delegate in.
  await platform.db.query(
    "create function fail() returns trigger language plpgsql as $$ begin raise exception 'planted' using errcode = '53100'; end $$",
  );
  await platform.db.query("create trigger planted before update of finished_at on tasks execute function fail()");
  const second = await connect({ name: "unlucky", identity, bootId: "after" });
  await second.closed;
  await platform.db.query("drop trigger planted on tasks");
  const third = await connect({ name: "unlucky", identity, bootId: "after" });
  await third.next("welcome");
  await until(
    () => statusesOf(platform, id),
    (status) => status !== "Running",
  );
  assert.equal(await statusesOf(platform, id), "Failed");
  assert.deepEqual(third.waiting(), []);
});

test("what nobody leased to it is dropped", async () => {
  const run = { task: "AZMAAAAAcACAAAAAAAAAAA", epoch: 1 };
  const delegate = await connect({ name: "dreamer", holds: [run] });
  const { keep, drop } = await delegate.next("welcome");
  assert.deepEqual({ keep, drop }, { keep: [], drop: [run] });
});

test("a held task with another epoch is dropped, and the lease is sent again", async () => {
  const me = { name: "stale", identity: newIdentity() };
  const first = await connect(me);
  await startRun(platform, "one");
  const run = await first.next("run");
  await first.cut();
  const second = await connect({ ...me, holds: [{ task: run.task, epoch: run.epoch + 1 }] });
  const { keep, drop } = await second.next("welcome");
  assert.deepEqual({ keep, drop }, { keep: [], drop: [{ task: run.task, epoch: run.epoch + 1 }] });
  second.finish(await second.next("run"));
  await second.next("finishedAck");
});

test("a name belongs to one identity until it is gone for good", async () => {
  const owner = await connect({ name: "taken" });
  const id = await startRun(platform, "one");
  const run = await owner.next("run");
  const row = () => platform.db.query("select * from delegates where name = 'taken'");
  const before = await row();
  const thief = await connect({ name: "taken", tags: ["attractive"] });
  assert.match((await thief.next("refused")).message, /Another delegate uses the name \[taken\]/);
  await thief.closed;
  assert.deepEqual(await row(), before);
  // Gone, but the attempt it holds is not ended yet.
  await owner.cut();
  await passTime(LOST_AFTER_MS, platform);
  const hasty = await connect({ name: "taken" });
  await hasty.next("refused");
  await passTime(1, platform);
  assert.equal(await statusesOf(platform, id), "Failed");
  const heir = await connect({ name: "taken", holds: [{ task: run.task, epoch: run.epoch }] });
  const welcome = await heir.next("welcome");
  assert.equal(welcome.drop.length, 1);
  assert.equal((await row()).length, 1);
});

test("the same name in another account is another delegate", async () => {
  const mine = await connect({ name: "shared" });
  const { delegate: id } = await mine.next("welcome");
  const other = await platform.addAccount();
  const made = await platform.send("POST", "/ng/api/delegate-token-ng?tokenName=t", {
    account: other.accountId,
    apiKey: other.apiKey,
  });
  const theirs = await connect({ name: "shared", token: made.body.resource.value });
  assert.notEqual((await theirs.next("welcome")).delegate, id);
});

test("another protocol is refused and leaves no trace", async () => {
  const { min, max } = PROTOCOL;
  const others = [min - 1, max + 1, { min: 1, max: min - 1 }, { min: max + 1, max: max + 9 }, { min: max, max: min }];
  for (const protocol of others) {
    const delegate = await connect({ name: "old", protocol });
    assert.match((await delegate.next("refused")).message, /Install a version of Railhead whose versions overlap/);
    await delegate.closed;
  }
  assert.deepEqual(await platform.db.query("select 1 from delegates where name = 'old'"), []);
});

test("a delegate that connects anew replaces its connection, also a half-open one", async () => {
  const me = { name: "twice", identity: newIdentity(), slots: 1 };
  const first = await connect(me);
  await first.next("welcome");
  const second = await connect(me);
  await second.next("welcome");
  await first.closed;
  await startRun(platform, "one");
  second.finish(await second.next("run"));
  await second.next("finishedAck");
});
