/** Followers that read slowly, and followers of much: what is kept for them is bounded. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { abortRun, createPipelines, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import type { Actor } from "../../core/actor.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { EventSink, ServerSentEvent } from "../../platform/http/response/events.ts";
import { createExecutionFeeds } from "../following/execution-feeds.ts";
import { makeFollowExecution } from "../following/follow-execution.ts";
import { makeGetListed } from "../get.ts";
import { makeReadStages } from "../stages.ts";
import { makeFollowProject } from "./follow-project.ts";
import { createProjectFeeds } from "./project-feeds.ts";

const PLACE = { orgIdentifier: "default", projectIdentifier: "p" };
const LARGE = { ofProject: 1_000_000, ofAll: 1_000_000 };

let platform: TestPlatform;
let actor: Actor;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
  const accountId = fromWire(platform.accountId);
  assert.ok(accountId);
  actor = { kind: "system", accountId };
});
after(() => platform?.stop());

/** A reader that takes an event when the test says so. */
function createSlowSink() {
  const [sent, closed] = [[] as ServerSentEvent[], new AbortController()];
  let [taken, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let pings = 0;
  const sink: EventSink = {
    closed: closed.signal,
    ping: async () => void (pings += 1),
    send: (event) => {
      sent.push(event);
      arrived.resolve();
      return taken.promise;
    },
  };
  return {
    ...{ sink, sent, pings: () => pings },
    arrival: () => arrived.promise,
    /** Takes the event that was sent, and resolves when the next one is. */
    async next(): Promise<ServerSentEvent | undefined> {
      const before = taken;
      [taken, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      before.resolve();
      await arrived.promise;
      return sent.at(-1);
    },
    close(): void {
      closed.abort();
      taken.resolve();
    },
  };
}

/** Changes what lists show of executions, as a retry does. */
async function change(ids: readonly string[]): Promise<void> {
  await platform.db.query(
    `update executions set retried_by_id = $3, changed_xid = pg_current_xact_id() where account_id = $1 and id = any($2::uuid[])`,
    [actor.accountId, ids.map((id) => fromWire(id)), randomUUIDv7()],
  );
}

async function followProject(mostCharacters: typeof LARGE, as = actor) {
  const deps = { db: platform.db, clock: platform.clock, readStages: makeReadStages({ db: platform.db }) };
  let wake = (): void => undefined;
  const subscribe = (_id: Uuid, woken: () => void): (() => void) => {
    wake = woken;
    return () => undefined;
  };
  const projectFeeds = createProjectFeeds({ ...deps, wakeups: { subscribe }, mostCharacters });
  const [row] = await platform.db.query<{ id: Uuid }>("select id from projects where identifier = 'p'");
  assert.ok(row);
  const getProject: Parameters<typeof makeFollowProject>[0]["getProject"] = async () => ({ ...row }) as never;
  const follow = makeFollowProject({ ...deps, getProject, projectFeeds });
  const [run, reader] = [await follow(actor, PLACE, undefined), createSlowSink()];
  const following = (await follow(as, PLACE, undefined))(reader.sink);
  await reader.arrival();
  /** Another follower says when a change has been read. */
  const other = createSlowSink();
  const alongside = run(other.sink);
  await other.arrival();
  return {
    reader,
    /** Resolves when the feed has read the change. */
    change: async (ids: readonly string[]): Promise<ServerSentEvent | undefined> => {
      await change(ids);
      wake();
      return other.next();
    },
    stop: async (): Promise<void> => {
      for (const one of [reader, other]) one.close();
      projectFeeds.stop();
      await Promise.all([following, alongside]);
    },
  };
}

const idsIn = (event: ServerSentEvent | undefined): string[] =>
  JSON.parse(event?.data ?? "").content.map((one: { planExecutionId: string }) => one.planExecutionId);

test("what changes while a follower of a project does not read becomes one event with each execution once", async () => {
  const ids = [await startRun(platform, "one"), await startRun(platform, "one")] as const;
  const { reader, change: changed, stop } = await followProject(LARGE);
  assert.equal(reader.sent[0]?.event, "reset");
  for (let nth = 0; nth < 5; nth += 1) assert.deepEqual(idsIn(await changed([ids[nth % 2] ?? ""])), [ids[nth % 2]]);
  assert.equal(reader.sent.length, 1, "nothing is sent to a reader that does not read");
  assert.deepEqual(idsIn(await reader.next()), [ids[1], ids[0]]);
  await stop();
  for (const id of ids) await abortRun(platform, id);
});

test("a follower of a project that is behind what is kept begins anew; others do not", async () => {
  const ids = [await startRun(platform, "one"), await startRun(platform, "one"), await startRun(platform, "one")];
  const room = { ofProject: 1_000_000, ofAll: 2_500 };
  const { reader, change: changed, stop } = await followProject(room);
  for (let nth = 0; nth < 9; nth += 1) assert.equal((await changed([ids[nth % 3] ?? ""]))?.event, "executions");
  const event = await reader.next();
  assert.equal(event?.event, "reset");
  assert.match(event?.id ?? "", /^\d+$/);
  await stop();
  for (const id of ids) await abortRun(platform, id);
});

test("a follower that sees none of the changes of a busy project gets a comment every 15 seconds", async () => {
  const id = await startRun(platform, "one");
  const resources = new Map([["PIPELINE", new Set(["other"])]]);
  const grant = { scope: PLACE, children: true, permissions: new Set(["core_pipeline_view"]), resources };
  const facts = { id: randomUUIDv7() as Uuid, name: "Ada", email: "ada@example.com" };
  const viewer: Actor = { kind: "user", accountId: actor.accountId, ...facts, grants: [grant] };
  const { reader, change: changed, stop } = await followProject(LARGE, viewer);
  void reader.next();
  await changed([id]);
  platform.clock.advance(15_000);
  // Each change is earlier than the end of 15 further seconds of silence.
  for (let nth = 0; nth < 20 && reader.pings() === 0; nth += 1) await changed([id]);
  assert.equal(reader.pings(), 1);
  assert.equal(reader.sent.length, 1);
  await stop();
  await abortRun(platform, id);
});

async function followExecution(id: string, mostNodes = { ofAccount: 100, ofAll: 100 }) {
  const { db, clock } = platform;
  let wake = (): void => undefined;
  const feeds = createExecutionFeeds({
    ...{ db, clock, mostNodes, findQueueReason: async () => "" },
    delegates: { waitingTasks: async () => [], delegatesOf: async () => [] },
    wakeups: {
      subscribe: (_id, woken) => {
        wake = woken;
        return () => undefined;
      },
    },
  });
  const services = { findLockReasons: async () => new Map(), findDelayedMails: async () => [] };
  const follow = makeFollowExecution({ ...services, db, getListed: makeGetListed({ db }), feeds });
  return { feeds, follow: () => follow(actor, id, {}, undefined), wake: () => wake() };
}

test("what changes while a follower of an execution does not read is sent once, as it is then", async () => {
  const id = await startRun(platform, "one");
  const { feeds, follow, wake } = await followExecution(id);
  const [run, reader] = [await follow(), createSlowSink()];
  assert.ok(run !== "ended");
  const following = run(reader.sink);
  await reader.arrival();
  assert.equal(reader.sent[0]?.event, "snapshot");
  await abortRun(platform, id);
  wake();
  const events: (string | undefined)[] = [];
  while (events.at(-1) !== "end") events.push((await reader.next())?.event);
  assert.ok(events.length <= 4, events.join(" "));
  reader.close();
  await following;
  feeds.stop();
});

test("followed executions of more nodes than there is room for are refused", async () => {
  const id = await startRun(platform, "one");
  const { feeds, follow } = await followExecution(id, { ofAccount: 2, ofAll: 100 });
  await assert.rejects(follow(), { code: "execution.too_many_followed" });
  feeds.stop();
  await abortRun(platform, id);
});
