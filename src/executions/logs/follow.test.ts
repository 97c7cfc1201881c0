/** Following a log while it grows: order, resuming, the end, other replicas, slow readers. */
import assert from "node:assert/strict";
import { get, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { after, afterEach, before, mock, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { fromWire } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import { eventsOf, type StreamEvent } from "../../../test/support/clients/event-stream.ts";
import { detailOf, createPipelines, logOf, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type Lease, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { detailOf as readDetail } from "../execution.ts";
import { makeFollowLog } from "./logs.ts";
import { LOOK_AGAIN_MS } from "../wakeups.ts";
import { findExecution } from "../store/lists.ts";

let platform: TestPlatform;
let token: string;
let delegate: PretendDelegate;
/** Lets a test stand between a follower and what it asked of the execution's status. */
let asked: () => Promise<void> = async () => {};

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => {
      const query: Query = async (text, values) => {
        const rows = await db.query<never>(text, values);
        if (text.startsWith("select status from executions")) await asked();
        return rows;
      };
      return { ...db, query };
    },
  });
  token = await platform.delegateToken();
  delegate = await pretendDelegate({ url: platform.url, token, slots: 32 });
  await delegate.next("welcome");
  await createPipelines(
    platform,
    { id: "two", steps: [{ id: "a" }, { id: "b" }] },
    { id: "one", steps: [{ id: "a" }] },
  );
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});
afterEach(() => {
  mock.restoreAll();
  asked = async () => {};
});

async function follow(
  from: TestPlatform,
  id: string,
  options: { lastEventId?: string; query?: string } = {},
): Promise<Response> {
  const { lastEventId, query = "" } = options;
  const url = `${from.url}/pipeline/api/pipelines/execution/${id}/logs/stream?accountIdentifier=${from.accountId}${query}`;
  const response = await fetch(url, {
    headers: { "x-api-key": from.apiKey, ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }) },
  });
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
  return response;
}

async function all(response: Response): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of eventsOf(response)) events.push(event);
  return events;
}

/** The next event; fails when the stream ends before it. */
async function nextOf(stream: AsyncGenerator<StreamEvent>): Promise<StreamEvent> {
  const { value, done } = await stream.next();
  assert.ok(!done, "the stream ended");
  return value;
}

async function run(pipeline: string): Promise<{ id: string; task: Lease }> {
  const id = await startRun(platform, pipeline);
  return { id, task: await delegate.next("run") };
}

async function log(task: Lease, offset: number, text: string): Promise<void> {
  delegate.log(task, offset, text);
  await delegate.next("logAck");
}

async function finish(task: Lease, offset: number, output = ""): Promise<void> {
  delegate.finish(task, { offset, output });
  await delegate.next("finishedAck");
}

test("events come in order, carry their node and the offset to resume from, and end with the status", async () => {
  const { id, task } = await run("two");
  const stream = eventsOf(await follow(platform, id));
  const { step } = await detailOf(platform, id);
  const time = new Date(platform.clock.now()).toISOString();
  await log(task, 0, "first ä\n");
  assert.deepEqual(await nextOf(stream), {
    id: "9",
    event: "log",
    data: { nodeExecutionId: step("a")["uuid"], step: "stage.a", time, line: 1, text: "first ä\n" },
  });
  await finish(task, 9, "rest\nand more\n");
  assert.deepEqual(await nextOf(stream), {
    id: "23",
    event: "log",
    data: { nodeExecutionId: step("a")["uuid"], step: "stage.a", time, line: 2, text: "rest\nand more\n" },
  });
  await finish(await delegate.next("run"), 0, "second\n");
  assert.deepEqual(await nextOf(stream), {
    id: "30",
    event: "log",
    data: { nodeExecutionId: step("b")["uuid"], step: "stage.b", time, line: 1, text: "second\n" },
  });
  assert.deepEqual(await nextOf(stream), { id: "30", event: "end", data: { status: "SUCCESS" } });
  assert.equal((await stream.next()).done, true);
});

test("a reader may come back after any event and misses nothing, gets nothing twice", async () => {
  const { id, task } = await run("two");
  let at = 0;
  for (let line = 0; line < 8; line += 1) {
    const text = `line ${line} ü\n`;
    await log(task, at, text);
    at += Buffer.byteLength(text);
  }
  await finish(task, at);
  await finish(await delegate.next("run"), 0, "other\n");
  const events = await all(await follow(platform, id));
  assert.equal(events.length, 10);
  const whole = await logOf(platform, id);
  for (const [seen, { id: lastEventId }] of events.entries()) {
    const again = await all(await follow(platform, id, { lastEventId }));
    assert.deepEqual(again, events.slice(seen + 1).length > 0 ? events.slice(seen + 1) : [events.at(-1)]);
    const before = events.slice(0, seen + 1).map(({ data }) => data.text ?? "");
    assert.equal([...before, ...again.map(({ data }) => data.text ?? "")].join(""), whole);
  }
  // The query says where to begin at first; a returning reader's own id counts more.
  assert.deepEqual(await all(await follow(platform, id, { query: `&from=${events[1]?.id}` })), events.slice(2));
  assert.deepEqual(
    await all(await follow(platform, id, { query: "&from=3", lastEventId: events[1]?.id ?? "" })),
    events.slice(2),
  );
  const { step } = await detailOf(platform, id);
  const ofNode = await all(await follow(platform, id, { query: `&nodeExecutionId=${step("b")["uuid"]}` }));
  assert.deepEqual(
    ofNode.map(({ id: offset, event }) => [offset, event]),
    [
      ["6", "log"],
      ["6", "end"],
    ],
  );
});

test("an id that is none is refused", async () => {
  const { id, task } = await run("one");
  for (const bad of ["x", "-1", "1.5", "1".repeat(16)]) {
    const path = `/pipeline/api/pipelines/execution/${id}/logs/stream`;
    assert.equal((await platform.send("GET", path, { headers: { "last-event-id": bad } })).status, 400, bad);
  }
  await finish(task, 0);
});

/** From here on a follower that is not woken does not look again after its second: it would hang. */
function noLookOfItsOwn(): void {
  const real = globalThis.setTimeout;
  mock.method(globalThis, "setTimeout", (work: () => void, ms?: number) =>
    ms === LOOK_AGAIN_MS ? real(work, 2 ** 31 - 1).unref() : real(work, ms),
  );
}

test("a follower on another replica is woken", async () => {
  const other = await platform.replica();
  const { id, task } = await run("one");
  const response = await follow(other, id);
  const stream = eventsOf(response);
  await log(task, 0, "a\n");
  assert.equal((await nextOf(stream)).data.text, "a\n");
  noLookOfItsOwn();
  await log(task, 2, "b\n");
  assert.equal((await nextOf(stream)).data.text, "b\n");
  await finish(task, 4);
  assert.equal((await nextOf(stream)).event, "end");
  await other.stop();
});

test("an end that comes while the follower looks is not overslept", async () => {
  const { id, task } = await run("one");
  const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  asked = () => {
    reached.resolve();
    return go.promise;
  };
  noLookOfItsOwn();
  const stream = eventsOf(await follow(platform, id));
  await reached.promise;
  asked = async () => {};
  await finish(task, 0);
  go.resolve();
  assert.equal((await nextOf(stream)).event, "end");
});

test("a follower that nobody wakes looks for itself", async () => {
  const { id, task } = await run("one");
  const stream = eventsOf(await follow(platform, id));
  await log(task, 0, "a\n");
  await nextOf(stream);
  const { step } = await detailOf(platform, id);
  // Written behind the platform's back: nobody is woken.
  await platform.db.query(
    `insert into log_chunks select account_id, execution_id, 2, node_id, 2, 'b' from log_chunks where node_id = $1`,
    [fromWire(step("a")["uuid"])],
  );
  assert.equal((await nextOf(stream)).data.text, "b");
  await finish(task, 2);
  await stream.return(undefined);
});

test("streams end when the server stops, also for a reader that does not read", async () => {
  const replica = await platform.replica();
  const { id, task } = await run("one");
  for (let at = 0; at < 200; at += 1) delegate.log(task, at * 65_536, Buffer.alloc(65_536, "x"));
  for (let at = 0; at < 200; at += 1) await delegate.next("logAck");
  const reading = eventsOf(await follow(replica, id, { query: `&from=${200 * 65_536 - 1}` }));
  await nextOf(reading);
  const request = get(
    `${replica.url}/pipeline/api/pipelines/execution/${id}/logs/stream?accountIdentifier=${replica.accountId}`,
    {
      headers: { "x-api-key": replica.apiKey },
    },
  );
  const [stalled] = (await once(request, "response")) as [IncomingMessage];
  stalled.on("error", () => undefined);
  await replica.stop();
  // Ended, not torn off: a reader that is told so comes back to another server with its offset.
  assert.equal((await reading.next()).done, true);
  stalled.destroy();
  await finish(task, 200 * 65_536);
});

test("a slow reader is waited for: at most one page of the log is read ahead", async () => {
  const { id, task } = await run("one");
  for (let at = 0; at < 100; at += 1) delegate.log(task, at, "x");
  for (let at = 0; at < 100; at += 1) await delegate.next("logAck");
  await finish(task, 100);
  const accountId = fromWire(platform.accountId);
  const executionId = fromWire(id);
  assert.ok(accountId && executionId);
  const execution = await findExecution(platform.db, accountId, executionId);
  assert.ok(execution);
  let read = 0;
  const query: Query = async (text, values) => {
    const rows = await platform.db.query<never>(text, values);
    if (text.includes("from log_chunks")) read += rows.length;
    return rows;
  };
  const wakeups = { wake: () => {}, next: async () => {} };
  const followLog = makeFollowLog({ db: { ...platform.db, query }, get: async () => readDetail(execution), wakeups });
  const actor = { kind: "system", accountId } as never;
  let sent = 0;
  const closed = new AbortController();
  await (
    await followLog(actor, id, {}, { from: 0 })
  )({
    closed: closed.signal,
    ping: async () => {},
    send: async ({ event }) => {
      assert.ok(read - sent <= 32, `${read} read, ${sent} sent`);
      // A reader that needs its time for each event.
      await setImmediate();
      await platform.db.query("select 1");
      if (event === "log") sent += 1;
    },
  });
  assert.deepEqual([sent, read], [100, 100]);
});
