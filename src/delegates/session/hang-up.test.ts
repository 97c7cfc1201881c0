/** A delegate that hangs up while the server is at work for it: nothing is left leased to a connection that is gone. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createDbInterceptor } from "../../../test/support/db-interceptor.ts";
import { waitForEnd, createPipelines, startRun, statusesOf } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { newIdentity, pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { until } from "../../../test/support/until.ts";
import { recordedLog } from "../../../test/support/watch.ts";
import { fromWire } from "../../core/ids.ts";
import { READY_CHANNEL } from "../tasks/dispatch.ts";

let platform: TestPlatform;
let token: string;
const log = recordedLog();
const identity = newIdentity();
const { wrapDb, stopAt, afterLookup, ignore, forget } = createDbInterceptor();

before(async () => {
  platform = await startTestPlatform({ logTo: log.stream, wrapDb });
  token = await platform.delegateToken();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
});
after(() => platform?.stop());
beforeEach(() => {
  forget();
  // Each lookup of ready tasks is caused by the test: by a connection, or by an operation of this server.
  ignore(READY_CHANNEL);
});

const quitter = (bootId = "boot-1"): Promise<PretendDelegate> =>
  pretendDelegate({ url: platform.url, token, identity, name: "quitter", bootId, slots: 1 });

/** Ends the connection and waits until the server has noticed. */
async function disconnect(end: () => Promise<void>): Promise<void> {
  const before = log.count("delegate disconnected");
  await end();
  await until(
    () => log.count("delegate disconnected"),
    (now) => now > before,
  );
}
const hangUp = (delegate: PretendDelegate): Promise<void> => disconnect(delegate.cut);

const leases = async (): Promise<number> =>
  (await platform.db.query("select 1 from tasks where status = 'leased'")).length;

/** Another delegate gets the task, although no time has passed. `epoch` counts the leases, this one included. */
async function runElsewhere(id: string, epoch: number): Promise<void> {
  await until(
    () => platform.db.query<{ status: string }>("select status from tasks where run_id = $1", [fromWire(id)]),
    ([task]) => task?.status === "ready",
  );
  assert.equal(await leases(), 0);
  const heir = await pretendDelegate({ url: platform.url, token, name: "heir", identity: newIdentity() });
  const run = await heir.next("run");
  assert.equal(run.epoch, epoch);
  heir.finish(run);
  await heir.next("finishedAck");
  assert.equal(await statusesOf(platform, id, "a"), "Success a:Success");
  await disconnect(heir.close);
  await platform.db.query("update delegates set seen_at = 0 where name = 'heir'");
}

test("while what waits is leased to it", async () => {
  const id = await startRun(platform, "one");
  const lookup = stopAt(/skip locked/);
  const delegate = await quitter();
  await lookup.reached;
  assert.equal(await leases(), 1);
  await hangUp(delegate);
  lookup.open();
  await runElsewhere(id, 2);
});

test("while a task is made for it", async () => {
  const delegate = await afterLookup(quitter);
  const insert = stopAt(/insert into tasks/);
  const starting = startRun(platform, "one");
  await insert.reached;
  await hangUp(delegate);
  insert.open();
  await runElsewhere(await starting, 2);
});

test("while its lost tasks are ended: nothing more is leased to it", async () => {
  const first = await afterLookup(quitter);
  const lost = await startRun(platform, "one");
  await first.next("run");
  await hangUp(first);
  const waiting = await startRun(platform, "one");
  const closing = stopAt(/set status = 'finished'/);
  const second = await quitter("boot-2");
  await closing.reached;
  await hangUp(second);
  const looks = stopAt(/skip locked/);
  void looks.reached.then(() => assert.fail("it looked for tasks of a connection that is gone"));
  closing.open();
  assert.equal(await waitForEnd(platform, lost), "FAILED");
  forget();
  looks.open();
  await runElsewhere(waiting, 1);
});

test("while its hello is taken: it becomes no session, what waits is for others, its own leases stay its own", async () => {
  const first = await afterLookup(() => quitter("boot-2"));
  const own = await startRun(platform, "one");
  const run = await first.next("run");
  await hangUp(first);
  const waiting = await startRun(platform, "one");
  const hello = stopAt(/insert into delegates/);
  const second = await quitter("boot-2");
  await hello.reached;
  await second.cut();
  await until(
    () => platform.platform.http.app.websocketServer.clients.size,
    (open) => open === 0,
  );
  hello.open();
  const heir = await pretendDelegate({ url: platform.url, token, name: "heir", identity: newIdentity() });
  heir.finish(await heir.next("run"));
  await heir.next("finishedAck");
  assert.equal(await statusesOf(platform, waiting), "Success");
  await disconnect(heir.close);
  await platform.db.query("update delegates set seen_at = 0 where name = 'heir'");
  const third = await quitter("boot-2");
  assert.deepEqual(await third.next("run"), run);
  third.finish(run);
  await third.next("finishedAck");
  assert.equal(await statusesOf(platform, own), "Success");
  await disconnect(third.close);
});

test("a task that a hello has sent again is not given to others by the connection that could not send it", async () => {
  const first = await afterLookup(() => quitter("boot-2"));
  const waiting = await startRun(platform, "one");
  first.finish(await first.next("run"));
  await first.next("finishedAck");
  assert.equal(await statusesOf(platform, waiting), "Success");
  await hangUp(first);
  const id = await startRun(platform, "one");
  const lookup = stopAt(/skip locked/);
  const second = await quitter("boot-2");
  await lookup.reached;
  await hangUp(second);
  // Leased, and not sent yet: the delegate is back before the first connection finds that it cannot.
  const third = await quitter("boot-2");
  const run = await third.next("run");
  lookup.open();
  const rival = await pretendDelegate({ url: platform.url, token, name: "rival", identity: newIdentity() });
  await rival.next("welcome");
  await platform.platform.reconcile();
  assert.equal(await leases(), 1);
  third.finish(run);
  await third.next("finishedAck");
  assert.equal(await statusesOf(platform, id), "Success");
  assert.deepEqual(rival.waiting(), []);
  await third.close();
  await rival.close();
});
