/** Following the executions of a project over real sockets: the client's picture is the one that the list answers. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { addPipelineViewer } from "../../../test/support/pipeline-viewer.ts";
import { createPipelines, SCOPE, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { openStream } from "../../../test/support/clients/follower.ts";
import {
  createProjectFollower,
  listedExecutions,
  PROJECT_EVENTS,
  type ProjectFollower,
} from "../../../test/support/clients/project-follower.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { linkRetry } from "../store/retries.ts";

let platform: TestPlatform;
let replica: TestPlatform;
let delegate: PretendDelegate;

before(async () => {
  platform = await startTestPlatform();
  replica = await platform.replica();
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 8 });
  await delegate.next("welcome");
  await createPipelines(
    platform,
    { id: "one", steps: [{ id: "a" }] },
    { id: "two", steps: [{ id: "a" }, { id: "b" }] },
  );
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

let hasFailed = false;
// A test that fails leaves an execution that runs, for whose task those after it would wait without end.
beforeEach(() => {
  assert.ok(!hasFailed, "an earlier test has failed");
});
afterEach((context) => {
  if ("passed" in context) hasFailed ||= !context.passed;
});

async function connected(to: TestPlatform, how: { readonly apiKey?: string } = {}): Promise<ProjectFollower> {
  const follower = createProjectFollower(how);
  assert.equal(await follower.connect(to), 200);
  await follower.read();
  assert.equal(follower.events[0]?.event, "reset");
  return follower;
}

async function finish(): Promise<void> {
  delegate.finish(await delegate.next("run"));
  await delegate.next("finishedAck");
}

/** Of a pipeline of one step, while no other execution runs. */
async function runToEnd(pipeline: string): Promise<string> {
  const id = await startRun(platform, pipeline);
  await finish();
  return id;
}

const assertSameAsList = async (follower: ProjectFollower): Promise<void> =>
  assert.deepEqual(follower.shown, await listedExecutions(platform));

const hasStatus = (follower: ProjectFollower, id: string, status: string) => (): boolean =>
  follower.shown.get(id)?.status === status;

test("executions that start, change and end are sent by each replica as the list answers them", async () => {
  const followers = [await connected(platform), await connected(replica)];
  const id = await startRun(platform, "two");
  for (const follower of followers) await follower.until(hasStatus(follower, id, "Running"));
  for (const follower of followers) await assertSameAsList(follower);
  const seen = followers.map(({ events }) => events.length);
  await finish();
  await finish();
  for (const follower of followers) {
    await follower.until(hasStatus(follower, id, "Success"));
    await assertSameAsList(follower);
    await follower.disconnect();
  }
  assert.deepEqual(
    followers.map(({ events }, nth) => events.length - (seen[nth] ?? 0)),
    [1, 1],
    "the end of a step that lists do not show is no event",
  );
});

/**
 * Ends executions until the follower's position is after this one. Until then a transaction of another test file, which
 * uses the same database server, was open, and after a resumption the change would rightly be sent again.
 */
async function movePast(follower: ProjectFollower, id: string): Promise<void> {
  const [row] = await platform.db.query<{ xid: string }>(
    "select changed_xid::text as xid from executions where id = $1",
    [fromWire(id)],
  );
  while (BigInt(follower.lastEventId() ?? "0") <= BigInt(row?.xid ?? "")) {
    const next = await runToEnd("one");
    await follower.until(hasStatus(follower, next, "Success"));
  }
}

test("a client that resumes at another replica gets what has changed meanwhile, and no more", async () => {
  const follower = await connected(platform);
  const first = await runToEnd("one");
  await follower.until(hasStatus(follower, first, "Success"));
  await movePast(follower, first);
  await follower.disconnect();
  const ids = [await runToEnd("one"), await startRun(platform, "two")];
  const seen = follower.events.length;
  await follower.connect(replica);
  // The second one may come before its step has begun.
  await follower.until(hasStatus(follower, ids[0] ?? "", "Success"));
  await follower.until(hasStatus(follower, ids[1] ?? "", "Running"));
  await assertSameAsList(follower);
  const sent = follower.events.slice(seen);
  assert.ok(sent.every(({ event }) => event === "executions"));
  assert.ok(!JSON.stringify(sent).includes(first));
  await finish();
  await finish();
  await follower.until(hasStatus(follower, ids[1] ?? "", "Success"));
  await assertSameAsList(follower);
  await follower.disconnect();
});

/** Changes what lists show of an execution, in a transaction that commits when the function that it returns is called. */
async function changeLate(id: string): Promise<() => Promise<void>> {
  const [changed, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [accountId, parentId] = [fromWire(platform.accountId), fromWire(id)];
  assert.ok(accountId && parentId);
  const transaction = platform.db.transaction(async (tx) => {
    assert.ok(await linkRetry(tx, accountId, { parentId, id: randomUUIDv7() as Uuid }));
    changed.resolve();
    await commit.promise;
  });
  await changed.promise;
  return async () => {
    commit.resolve();
    await transaction;
  };
}

test("of two transactions that commit in reverse order a client that resumes in between loses nothing", async () => {
  const old = await runToEnd("one");
  const follower = await connected(platform);
  const stays = await connected(replica);
  const commit = await changeLate(old);
  const later = await runToEnd("one");
  for (const each of [follower, stays]) await each.until(hasStatus(each, later, "Success"));
  await follower.disconnect();
  assert.equal(follower.shown.get(old).showRetryHistory, false);
  await commit();
  await replica.platform.sweep();
  for (const each of [stays, follower]) {
    if (each === follower) await follower.connect(replica);
    await each.until(() => each.shown.get(old).showRetryHistory === true);
    await assertSameAsList(each);
  }
  for (const each of [stays, follower]) await each.disconnect();
});

test("a follower gets the executions of the pipelines that it may see, also when it resumes", async () => {
  const apiKey = await addPipelineViewer(platform, "two");
  const follower = await connected(replica, { apiKey });
  const [hidden, ids]: [string[], string[]] = [[], []];
  for (const nth of [0, 1]) {
    hidden.push(await runToEnd("one"));
    const id = await startRun(platform, "two");
    ids.push(id);
    if (nth === 1) await follower.connect(replica);
    await follower.until(hasStatus(follower, id, "Running"));
    if (nth === 1) break;
    await finish();
    await finish();
    await follower.until(hasStatus(follower, id, "Success"));
    await follower.disconnect();
  }
  assert.deepEqual(follower.shown, await listedExecutions(platform, apiKey));
  for (const id of hidden) assert.ok(!JSON.stringify(follower.events).includes(id));
  await follower.disconnect();
  await finish();
  await finish();
});

test("a lost notification delays a change until the next poll", async () => {
  const id = await runToEnd("one");
  const follower = await connected(platform);
  await (
    await changeLate(id)
  )();
  await platform.platform.sweep();
  await follower.until(() => follower.shown.get(id).showRetryHistory === true);
  await follower.disconnect();
});

test("a position of the future, as after the restoration of a database, begins anew", async () => {
  const { response, abort } = await openStream(platform, PROJECT_EVENTS, { lastEventId: "9".repeat(18) });
  const { value } = (await response.body?.pipeThrough(new TextDecoderStream()).getReader().read()) ?? {};
  assert.match(value ?? "", /event: reset/);
  abort();
});

test("a position that is none is refused, and so is a project that does not exist", async () => {
  for (const lastEventId of ["x", "0", "-1", "1.1", "9".repeat(20)]) {
    const { response } = await openStream(platform, PROJECT_EVENTS, { lastEventId });
    assert.equal(response.status, 400, lastEventId);
  }
  const { response } = await openStream(
    platform,
    PROJECT_EVENTS.replace(SCOPE, "orgIdentifier=default&projectIdentifier=x"),
  );
  assert.equal(response.status, 404);
});
