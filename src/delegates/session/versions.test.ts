/** Versions of the protocol and kinds of work: who gets which task, and in which form. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { WebSocket } from "ws";
import { PROTOCOL } from "../../../protocol/versions.ts";
import { createPipelines, detailOf, startRun, statusesOf } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  scriptOf,
  type PretendDelegate,
  type PretendOptions,
} from "../../../test/support/pretend-delegate.ts";

let platform: TestPlatform;
let token: string;
const opened: PretendDelegate[] = [];

before(async () => {
  platform = await startTestPlatform();
  token = await platform.delegateToken();
  await createPipelines(
    platform,
    { id: "one", steps: [{ id: "only" }] },
    { id: "eu", steps: [{ id: "only", selectors: ["eu"] }] },
  );
});
after(() => platform?.stop());
afterEach(async () => {
  for (const delegate of opened.splice(0)) await delegate.cut();
  await platform.db.query("update tasks set status = 'finished' where status <> 'finished'");
  // Those of earlier tests count as gone.
  await platform.db.query("update delegates set seen_at = 0");
});

const HTTP = [{ kind: "http", versions: [1] }];

async function connect(options: Partial<PretendOptions> = {}): Promise<PretendDelegate> {
  const delegate = await pretendDelegate({ url: platform.url, token, identity: newIdentity(), ...options });
  opened.push(delegate);
  return delegate;
}

/** Starts a run without a delegate, and makes its waiting task one of this kind. */
async function startOfKind(capability: string, work: Record<string, unknown>, pipeline = "one"): Promise<string> {
  const id = await startRun(platform, pipeline);
  const rows = await platform.db.query(
    "update tasks set capability = $1, work = $2 where status = 'ready' returning id",
    [capability, JSON.stringify(work)],
  );
  assert.equal(rows.length, 1);
  return id;
}

const waitReason = async (id: string): Promise<string> => (await detailOf(platform, id)).step("only")["waitReason"];

test("a delegate of version 6 gets scripts in its form, keeps its running step, and gets no other kind", async () => {
  const me = { name: "old", identity: newIdentity(), protocol: 6, slots: 1 };
  const old = await connect(me);
  assert.equal((await old.next("welcome")).protocol, undefined);
  const id = await startRun(platform, "one");
  const run = await old.next("run");
  assert.equal("version" in run.work, false);
  assert.ok(scriptOf(run).script.length > 0);
  old.log(run, 0, "before ");
  await old.next("logAck");
  const http = await startOfKind("http/1", { kind: "http", version: 1, url: ["http://x/"] });
  await old.cut();
  // Another replica, as after the upgrade of the server.
  const replica = await platform.replica();
  const back = await connect({ ...me, url: replica.url, holds: [{ task: run.task, epoch: run.epoch }] });
  assert.deepEqual((await back.next("welcome")).keep, [{ task: run.task, epoch: run.epoch, offset: 7 }]);
  back.finish(run, { offset: 7, output: "after" });
  await back.next("finishedAck");
  assert.equal(await statusesOf(platform, id), "Success");
  await replica.platform.reconcile();
  assert.deepEqual(back.waiting(), []);
  assert.equal(
    await waitReason(http),
    "Waits for a delegate that can run 'http' version 1: none that is connected can. Update the delegate old of version test.",
  );
  const able = await connect({ name: "able", kinds: HTTP });
  assert.equal((await able.next("welcome")).protocol, PROTOCOL.max);
  assert.deepEqual((await able.next("run")).work, { kind: "http", version: 1, url: ["http://x/"] });
  assert.equal(await waitReason(http), null);
});

test("a kind and its version are matched beside the selectors", async () => {
  const id = await startOfKind("http/2", { kind: "http", version: 2 }, "eu");
  assert.match(await waitReason(id), /^Waits for a delegate with all of the selectors \[eu\]: none that is connected/);
  const delegates = [
    await connect({ name: "elsewhere", kinds: [{ kind: "http", versions: [2] }] }),
    await connect({ name: "early", tags: ["eu"], kinds: HTTP }),
    await connect({ name: "scripts", tags: ["eu"] }),
  ];
  for (const delegate of delegates) await delegate.next("welcome");
  await platform.platform.reconcile();
  assert.deepEqual(
    delegates.flatMap((one) => one.waiting()),
    [],
  );
  assert.equal(
    await waitReason(id),
    "Waits for a delegate that can run 'http' version 2 and has all of the selectors [eu]: none that is connected can. " +
      "Update the delegate early of version test, scripts of version test.",
  );
  const able = await connect({ name: "both", tags: ["eu"], kinds: [{ kind: "http", versions: [1, 2] }] });
  assert.equal((await able.next("run")).work.version, 2);
});

test("a result of another kind or version of work is refused", async () => {
  const wrong = /does not belong to this kind of work/;
  const messageOf = async (id: string): Promise<string> =>
    (await detailOf(platform, id)).step("only")["failureInfo"].message;
  for (const outcome of [
    { kind: "exited", exitCode: 0, outputs: [] },
    { kind: "tested", fault: null },
    { kind: "completed", version: 2, result: {} },
  ]) {
    const id = await startOfKind("http/1", { kind: "http", version: 1 });
    const able = await connect({ name: `for-${outcome.kind}`, kinds: HTTP });
    able.end(await able.next("run"), outcome);
    await able.next("finishedAck");
    // Otherwise it would get the next task.
    await able.close();
    assert.match(await messageOf(id), wrong, outcome.kind);
  }
  const scripts = await connect({ name: "runs-scripts" });
  const id = await startRun(platform, "one");
  scripts.end(await scripts.next("run"), { kind: "completed", version: 1, result: {} });
  await scripts.next("finishedAck");
  assert.match(await messageOf(id), wrong);
});

test("a task that a delegate has not received is returned if its program, an older one now, cannot run it", async () => {
  const me = { name: "downgraded", identity: newIdentity(), bootId: "same" };
  const able = await connect({ ...me, kinds: HTTP });
  await startOfKind("http/1", { kind: "http", version: 1 });
  await platform.platform.reconcile();
  const { task } = await able.next("run");
  await able.cut();
  const old = await connect({ ...me, protocol: 6 });
  assert.deepEqual((await old.next("welcome")).drop, []);
  const other = await connect({ name: "other", kinds: HTTP });
  const run = await other.next("run");
  assert.deepEqual([run.task, run.epoch], [task, 2]);
  assert.deepEqual(old.waiting(), []);
});

test("the handshake names the versions that the server speaks", async () => {
  const socket = new WebSocket(`${platform.url.replace(/^http/, "ws")}/delegate/connect`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const header = await new Promise((resolve) =>
    socket.once("upgrade", ({ headers }) => resolve(headers["railhead-protocol"])),
  );
  assert.equal(header, `${PROTOCOL.min}-${PROTOCOL.max}`);
  socket.terminate();
});
