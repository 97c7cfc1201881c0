/** Abort: asked once, carried out by the delegates, over when all of them have answered. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import {
  abortRun,
  detailOf,
  waitForEnd,
  createPipelines,
  logOf,
  startRun,
  statusesOf,
} from "../../test/support/runs.ts";
import { passTime } from "../../test/support/pass-time.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  type PretendDelegate,
  type PretendOptions,
} from "../../test/support/pretend-delegate.ts";
import { recordedLog } from "../../test/support/watch.ts";

let platform: TestPlatform;
let token: string;
const log = recordedLog();
const opened: PretendDelegate[] = [];

before(async () => {
  platform = await startTestPlatform({ logTo: log.stream });
  token = await platform.delegateToken();
  await createPipelines(platform, { id: "two", steps: [{ id: "a" }, { id: "b" }], rollback: [{ id: "undo" }] });
});
after(() => platform?.stop());
afterEach(async () => {
  for (const delegate of opened.splice(0)) await delegate.cut();
  assert.deepEqual(log.errors(), []);
});

async function connect(options: Partial<PretendOptions> = {}): Promise<PretendDelegate> {
  const delegate = await pretendDelegate({ url: platform.url, token, name: `d-${newIdentity()}`, ...options });
  opened.push(delegate);
  await delegate.next("welcome");
  return delegate;
}

const abort = (id: string): Promise<Answer> => abortRun(platform, id);
const all = (id: string): Promise<string> => statusesOf(platform, id, "a", "b", "undo");
const ABORTED = "Aborted a:Aborted b:Skipped undo:Skipped";
const leftovers = () =>
  platform.db.query("select 1 from execution_timers union all select 1 from tasks where status <> 'finished'");

test("what no delegate has taken ends here and now", async () => {
  const id = await startRun(platform, "two");
  const answer = await abort(id);
  assert.deepEqual(answer.body.data, { id, type: "AbortAll", planExecutionId: id });
  assert.equal(await all(id), ABORTED);
  assert.deepEqual((await detailOf(platform, id)).step("a")["stepDetails"], { cancel: { survivors: 0 } });
  assert.deepEqual(await leftovers(), []);
  const late = await connect();
  assert.deepEqual(late.waiting(), []);
});

test("what runs is aborted once its delegate has answered, and survivors are on record", async () => {
  const delegate = await connect();
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  delegate.log(run, 0, "begun\n");
  assert.equal((await abort(id)).status, 200);
  assert.deepEqual(await delegate.next("cancel"), { kind: "cancel", task: run.task, epoch: run.epoch });
  assert.equal(await all(id), "Running a:Running b:NotStarted undo:NotStarted");
  delegate.log(run, 6, "stopping\n");
  delegate.cancelled(run, 2, 15);
  await delegate.next("finishedAck");
  assert.equal(await all(id), ABORTED);
  assert.deepEqual((await detailOf(platform, id)).step("a")["stepDetails"], { cancel: { survivors: 2 } });
  assert.equal(await logOf(platform, id), "begun\nstopping\n");
  assert.deepEqual(await leftovers(), []);
});

test("a delegate on another replica is told", async () => {
  const other = await platform.replica();
  const delegate = await connect({ url: other.url });
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  assert.equal((await abort(id)).status, 200);
  assert.equal((await delegate.next("cancel")).task, run.task);
  delegate.cancelled(run);
  await delegate.next("finishedAck");
  assert.equal(await all(id), ABORTED);
  await delegate.cut();
  await other.stop();
});

test("a delegate that is away is told when it comes back", async () => {
  const identity = newIdentity();
  const first = await connect({ name: "away", identity });
  const id = await startRun(platform, "two");
  const run = await first.next("run");
  await first.cut();
  assert.equal((await abort(id)).status, 200);
  const second = await connect({ name: "away", identity, holds: [{ task: run.task, epoch: run.epoch }] });
  assert.equal((await second.next("cancel")).task, run.task);
  await second.cut();
  // Cut before it could answer: told again, also when the task never reached it.
  const third = await connect({ name: "away", identity });
  await third.next("run");
  assert.equal((await third.next("cancel")).task, run.task);
  third.cancelled(run);
  await third.next("finishedAck");
  assert.equal(await all(id), ABORTED);
});

test("a delegate that never comes back is lost, and the run aborted", async () => {
  const delegate = await connect();
  const id = await startRun(platform, "two");
  await delegate.next("run");
  await delegate.cut();
  assert.equal((await abort(id)).status, 200);
  await passTime(60_001, platform);
  assert.equal(await all(id), ABORTED);
  assert.deepEqual(await leftovers(), []);
});

test("a cancel that got lost is repeated by the slow poll", async () => {
  const delegate = await connect();
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  await platform.db.query("update tasks set cancelling = true where status = 'leased'");
  platform.clock.advance(10_001);
  await platform.platform.reconcile();
  assert.equal((await delegate.next("cancel")).task, run.task);
  assert.equal((await abort(id)).status, 200);
  delegate.cancelled(run);
  await delegate.next("finishedAck");
});

test("the second abort and the one after the end are refused with 402", async () => {
  const delegate = await connect();
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  await abort(id);
  const again = await abort(id);
  assert.deepEqual([again.status, again.body.code], [402, "ABORT_ALL_ALREADY"]);
  delegate.cancelled(run);
  await delegate.next("finishedAck");
  const late = await abort(id);
  assert.deepEqual([late.status, late.body.code], [402, "ENGINE_INTERRUPT_PROCESSING_EXCEPTION"]);
  assert.match(late.body.message, /has ended with status Aborted/);
});

test("of many aborts at once one is taken, and audited once", async () => {
  const delegate = await connect();
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  const audited = async (): Promise<number> => {
    const rows = await platform.db.query("select 1 from audit_entries where operation = 'execution.abort'");
    return rows.length;
  };
  const before = await audited();
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => abort(id)));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 402, 402, 402, 402],
  );
  assert.equal(await audited(), before + 1);
  delegate.cancelled(run);
  await delegate.next("finishedAck");
});

test("an abort and the end at the same moment: one order or the other, and no deadlock", async () => {
  const delegate = await connect();
  const seen = new Set<string>();
  for (let rounds = 0; rounds < 30; rounds += 1) {
    const id = await startRun(platform, "two");
    delegate.finish(await delegate.next("run"));
    const last = await delegate.next("run");
    // Both orders come about: the end is sent before the abort, or after it by some turns of the loop.
    if (rounds % 2 === 0) delegate.finish(last);
    const asked = abort(id);
    if (rounds % 2 === 1) delegate.finish(last);
    const { status } = await asked;
    await delegate.next("finishedAck");
    await delegate.next("finishedAck");
    const end = await waitForEnd(platform, id);
    assert.equal(end, status === 200 ? "ABORTED" : "SUCCESS");
    seen.add(`${status} ${end}`);
    assert.deepEqual(await leftovers(), []);
  }
  assert.equal(log.count("db.conflict") + log.count("40P01"), 0);
  for (const { kind } of delegate.waiting()) assert.equal(kind, "cancel");
});

test("a script that ended well before the request reached it has done its work; nothing follows", async () => {
  const delegate = await connect();
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  await abort(id);
  delegate.finish(run, { outputs: [{ name: "x", value: "1" }] });
  await delegate.next("finishedAck");
  assert.equal(await all(id), "Aborted a:Success b:Skipped undo:Skipped");
  assert.deepEqual(
    delegate.waiting().map(({ kind }) => kind),
    ["cancel"],
  );
});

test("others may not abort it, and hear no more of it than of what does not exist", async () => {
  const id = await startRun(platform, "two");
  const path = `/pipeline/api/pipeline/execute/interrupt/${id}?interruptType=AbortAll`;
  const viewer = await platform.send("PUT", path, { apiKey: await platform.addUser("_account_viewer") });
  assert.equal(viewer.status, 403);
  const other = await platform.addAccount();
  const foreign = await platform.send("PUT", path, { account: other.accountId, apiKey: other.apiKey });
  const nothing = await platform.send("PUT", path.replace(id, "AZMAAAAAcACAAAAAAAAAAA"), {
    account: other.accountId,
    apiKey: other.apiKey,
  });
  assert.equal(foreign.status, 404);
  assert.equal(foreign.body.message.replace(id, ""), nothing.body.message.replace("AZMAAAAAcACAAAAAAAAAAA", ""));
  const unknown = await platform.send("PUT", path.replace("AbortAll", "Explode"));
  assert.deepEqual([unknown.status, unknown.body.code], [400, "INVALID_REQUEST"]);
  assert.equal((await detailOf(platform, id)).status, "Running");
  await abort(id);
});
