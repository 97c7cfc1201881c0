/** Downloads and event streams over real sockets: how many are open, and what becomes of those that nothing reads. */
// Runs in a process of its own: it counts the requests that have begun when their connection is closed, which are
// fewer after other tests.
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, beforeEach, test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { handClock } from "../../../test/support/platform.ts";
import { until } from "../../../test/support/until.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { createLog } from "../log/log.ts";
import { createFormRooms } from "./request/form.ts";
import { createOpenAnswers, type OpenAnswers } from "./response/open-answers.ts";
import type { EventSink } from "./response/events.ts";
import { text } from "./response/answers.ts";
import { route } from "./routes.ts";
import { createHttp, type Http } from "./server.ts";

const MINUTE_MS = 60_000;
const PART = Buffer.alloc(64 * 1024, "a");
/** More than the buffers of both ends of a connection take. */
const MUCH = 32 * 1024 * 1024;

const LARGE = "a".repeat(MUCH);
const SMALL = "a".repeat(60 * 1024);

const accountId = randomUUIDv7() as Uuid;
const ids = new Map<string, Uuid>();
let http: Http;
let openAnswers: OpenAnswers;
let port = 0;
const clock = handClock();
/** A handler has begun; it answers when the test says so. */
let [handler, handle] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
/** Gets what lets a handler answer. */
let later: (answer: () => void) => void = () => undefined;
/** Parts that were read for all downloads, and event streams that have begun and ended. */
let [parts, begun, ended] = [0, 0, 0];

before(async () => {
  openAnswers = createOpenAnswers(clock.elapsed);
  http = await createHttp({
    trustedProxies: [],
    log: createLog("silent"),
    authenticate: async (name) => {
      const id = ids.get(name) ?? (randomUUIDv7() as Uuid);
      ids.set(name, id);
      return { kind: "delegate", accountId, id, name };
    },
    watch: () => () => undefined,
    checkBeforeCommit: () => async () => undefined,
    explain: () => undefined,
    count: () => undefined,
    now: clock.now,
    openAnswers,
    maxFrame: 1024,
    forms: createFormRooms(1024),
    stopping: new AbortController().signal,
  });
  const shared = { method: "GET", access: { permission: "test" }, query: z.object({}), doc: "refused" } as const;
  http.add([
    route({ ...shared, path: "/download", operation: "test.download", handle: async () => text(endless()) }),
    route({ ...shared, path: "/large", operation: "test.large", handle: async () => text(LARGE) }),
    route({ ...shared, path: "/small", operation: "test.small", handle: async () => text(SMALL) }),
    route({
      ...shared,
      path: "/large-later",
      operation: "test.large-later",
      handle: async () => {
        await new Promise<void>((resolve) => later(resolve));
        return { kind: "json", status: 200, body: LARGE, version: 1 };
      },
    }),
    route({
      ...shared,
      path: "/small-later",
      operation: "test.small-later",
      handle: async () => {
        await new Promise<void>((resolve) => later(resolve));
        return { kind: "json", status: 200, body: "small", version: 1 };
      },
    }),
    route({ ...shared, path: "/pause", operation: "test.pause", handle: async () => text(pause()) }),
    route({
      ...shared,
      path: "/events",
      operation: "test.events",
      handle: async () => ({
        kind: "events",
        run: stream,
      }),
    }),
    route({
      ...shared,
      path: "/late",
      operation: "test.late",
      handle: async () => {
        handle = Promise.withResolvers();
        handler.resolve();
        await handle.promise;
        return { kind: "events", run: stream };
      },
    }),
    route({
      ...shared,
      path: "/quiet",
      operation: "test.quiet",
      handle: async () => ({
        kind: "events",
        run: async ({ send, closed }) => {
          await send({ event: "begun", data: "1" });
          await new Promise((resolve) => closed.addEventListener("abort", resolve));
        },
      }),
    }),
  ]);
  port = Number(new URL(await http.app.listen({ host: "127.0.0.1", port: 0 })).port);
});
after(() => http?.app.close());
beforeEach(() => ([parts, begun, ended] = [0, 0, 0]));

async function* endless(): AsyncGenerator<Buffer> {
  for (; ; parts += 1) yield PART;
}

async function stream({ send, closed }: EventSink): Promise<void> {
  begun += 1;
  await send({ event: "begun", data: "1" });
  for (const data = PART.toString(); !closed.aborted;) await send({ event: "part", data });
  ended += 1;
}

async function* pause(): AsyncGenerator<Buffer> {
  yield Buffer.from("a part");
  await new Promise<never>(() => undefined);
}

const requestTo = (path: string, caller: string): string =>
  `GET ${path}?accountIdentifier=${toWire(accountId)} HTTP/1.1\r\nhost: x\r\nx-api-key: ${caller}\r\n\r\n`;

/** Sends a request and reads the beginning of the answer. The rest is not read. */
async function open(t: TestContext, path: string, caller: string): Promise<{ socket: Socket; head: string }> {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.write(requestTo(path, caller));
  await once(socket, "readable");
  return { socket, head: String(socket.read()) };
}

/** Resolves when the server has waited for its clients during many turns of the event loop. */
async function untilNothingMoves(): Promise<void> {
  for (let same = 0, before = -1; same < 200; same += 1, await turn()) {
    if (parts !== before) same = 0;
    before = parts;
  }
}

async function read(socket: Socket, bytes: number): Promise<void> {
  for (let got = 0; got < bytes;) {
    const data = socket.read() as Buffer | null;
    if (data) got += data.length;
    else await once(socket, "readable");
  }
}

for (const path of ["/download", "/events"])
  test(`${path}: an answer of which the client takes nothing for a minute is closed, others are not`, async (t) => {
    const stalled = await open(t, path, "slow");
    const quiet = await open(t, "/quiet", "slow");
    const reading = await open(t, path, "quick");
    for (const { head } of [stalled, quiet, reading]) assert.match(head, /^HTTP\/1\.1 200 /);
    await untilNothingMoves();
    openAnswers.closeStalled();
    clock.advance(MINUTE_MS - 1);
    await read(reading.socket, MUCH);
    openAnswers.closeStalled();
    await read(reading.socket, MUCH);
    clock.advance(1);
    openAnswers.closeStalled();
    // It has read what was sent before the end, and the connection ends in the middle of the answer.
    stalled.socket.resume();
    await until(
      () => stalled.socket.destroyed,
      (isClosed) => isClosed,
    );
    await read(reading.socket, MUCH);
    assert.equal(quiet.socket.destroyed, false);
  });

test("one caller has 16 downloads and 100 event streams open; further ones are refused until one ends", async (t) => {
  for (const [path, most, name] of [
    ["/pause", 16, "downloads"],
    ["/quiet", 100, "event streams"],
  ] as const) {
    const all: Socket[] = [];
    for (let nth = 0; nth < most; nth += 1) {
      const { socket, head } = await open(t, path, "many");
      assert.match(head, /^HTTP\/1\.1 200 /);
      all.push(socket);
    }
    const refused = await open(t, path, "many");
    assert.match(refused.head, /^HTTP\/1\.1 429 /);
    assert.match(refused.head, /\r\nretry-after: 5\r\n/);
    assert.match(refused.head, new RegExp(`You have ${most} ${name} open on this server`));
    assert.match((await open(t, path, "other")).head, /^HTTP\/1\.1 200 /);
    all[0]?.destroy();
    await until(
      async () => (await open(t, path, "many")).head,
      (head) => head.startsWith("HTTP/1.1 200 "),
    );
    for (const socket of all) socket.destroy();
  }
});

test("one caller has 256 requests in progress; further ones are refused until one is answered", async (t) => {
  const [most, each] = [256, 20];
  const sockets = Array.from({ length: 15 }, () => connect(port, "127.0.0.1"));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const waiting = Promise.withResolvers<readonly (() => void)[]>();
  const answers: (() => void)[] = [];
  later = (answer) => {
    answers.push(answer);
    if (answers.length === most) waiting.resolve(answers);
  };
  for (const socket of sockets) socket.write(requestTo("/small-later", "eager").repeat(each));
  const begun = await waiting.promise;
  const refused = await open(t, "/events", "eager");
  assert.match(refused.head, /^HTTP\/1\.1 429 /);
  assert.match(refused.head, /You have 256 requests open on this server/);
  assert.match((await open(t, "/quiet", "patient")).head, /^HTTP\/1\.1 200 /);
  for (const answer of begun) answer();
  const statuses = (await Promise.all(sockets.map((socket) => readStatuses(socket, each)))).flat();
  assert.equal(statuses.filter((status) => status === "200").length, most);
  assert.equal(statuses.filter((status) => status === "429").length, sockets.length * each - most);
  assert.match((await open(t, "/quiet", "eager")).head, /^HTTP\/1\.1 200 /);
});

/** Reads this number of answers and returns their statuses. */
async function readStatuses(socket: Socket, count: number): Promise<readonly (string | undefined)[]> {
  let text = "";
  for await (const data of socket) {
    text += String(data);
    if (text.split("HTTP/1.1 ").length > count) break;
  }
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
}

test("a connection with over twenty requests without an answer is closed", async (t) => {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  let begun = 0;
  later = () => (begun += 1);
  // What the server has not read when it closes the connection may reset it.
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.resume().write(requestTo("/small-later", "deep").repeat(30));
  await closed;
  assert.equal(begun, 20);
  assert.match((await open(t, "/quiet", "deep")).head, /^HTTP\/1\.1 200 /);
});

test("the downloads of all callers are bounded", async (t) => {
  const statuses = new Map<string, number>();
  for (let caller = 0; caller < 17; caller += 1)
    for (let nth = 0; nth < 16; nth += 1) {
      const { head } = await open(t, "/pause", `caller ${caller}`);
      const status = head.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === "503") assert.match(head, /This server has 256 downloads open; try again/);
    }
  assert.ok((statuses.get("200") ?? 0) <= 256);
  assert.ok((statuses.get("503") ?? 0) >= 16);
});

test("a connection ends after an answer that came before the end of the body, and only then", async (t) => {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  const head = "POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
  socket.write(requestTo("/small", "early"));
  socket.write(`${head}content-length: 2\r\n\r\n{}`);
  const [first] = await readStatuses(socket, 2);
  assert.equal(first, "200");
  const other = connect(port, "127.0.0.1");
  t.after(() => other.destroy());
  const [ended, answered] = [once(other, "close"), once(other, "data") as Promise<[Buffer]>];
  other.write(`${head}transfer-encoding: chunked\r\n\r\n1\r\na\r\n`);
  assert.match(String((await answered)[0]), /\r\nconnection: close\r\n/i);
  await ended;
});

test("an event stream behind a download of its connection ends when the connection is closed", async (t) => {
  const { socket } = await open(t, "/download", "pipelined");
  socket.write(requestTo("/events", "pipelined"));
  await until(
    () => begun,
    (count) => count === 1,
  );
  socket.destroy();
  await until(
    () => ended,
    (count) => count === 1,
  );
});

test("answers whose clients leave before them end and are not counted", async (t) => {
  for (let nth = 0; nth <= 100; nth += 1) {
    handler = Promise.withResolvers();
    const socket = connect(port, "127.0.0.1");
    const left = once(http.app.server, "connection").then(([server]) => once(server as Socket, "close"));
    socket.write(requestTo("/late", "leaves"));
    await handler.promise;
    socket.destroy();
    await left;
    handle.resolve();
  }
  await until(
    () => ended,
    (count) => count === 101,
  );
  assert.match((await open(t, "/quiet", "leaves")).head, /^HTTP\/1\.1 200 /);
});

test("a caller that has not taken 64 MB of whole answers is refused until it closes one", async (t) => {
  const all = [await open(t, "/large", "reads nothing"), await open(t, "/large", "reads nothing")];
  all.push(await open(t, "/large", "reads nothing"));
  for (const { head } of all) assert.match(head, /^HTTP\/1\.1 200 /);
  const { head } = await open(t, "/quiet", "reads nothing");
  assert.match(head, /^HTTP\/1\.1 429 /);
  assert.match(head, /You have more than 64 MB of answers that you have not read/);
  assert.match((await open(t, "/quiet", "other")).head, /^HTTP\/1\.1 200 /);
  for (const { socket } of all) socket.destroy();
  await until(
    async () => (await open(t, "/quiet", "reads nothing")).head,
    (answer) => answer.startsWith("HTTP/1.1 200 "),
  );
});

test("small answers to many requests of one connection count, too", async (t) => {
  const { socket } = await open(t, "/large", "pipelines");
  await open(t, "/large", "pipelines");
  assert.match((await open(t, "/small", "pipelines")).head, /^HTTP\/1\.1 200 /);
  socket.write(requestTo("/small", "pipelines").repeat(10));
  await until(
    async () => (await open(t, "/small", "pipelines")).head,
    (answer) => answer.includes("You have more than 64 MB of answers"),
  );
});

test("requests at once leave 64 MB of answers pending for one caller, and 256 MB for all callers", async (t) => {
  const [waiting, statuses] = [[] as (() => void)[], [] as string[]];
  const ask = async (caller: string): Promise<void> => {
    const { head } = await open(t, "/large-later", caller);
    const [, status = "", body = ""] = /^HTTP\/1\.1 (\d+) [^]*?\r\n\r\n([^]*)/.exec(head) ?? [];
    statuses.push(status);
    if (status === "200") return;
    assert.match(head, /\r\nretry-after: 5\r\n/);
    assert.doesNotMatch(head, /\r\netag: /);
    const { message } = JSON.parse(body) as { message: string };
    assert.match(message, status === "429" ? /^You have more than 64 MB / : /^This server has more than 256 MB /);
  };
  const atOnce = async (callers: readonly string[]): Promise<readonly string[]> => {
    statuses.length = 0;
    later = (answer) => waiting.push(answer);
    const all = callers.map((caller) => ask(caller));
    await until(
      () => waiting.length,
      (count) => count === callers.length,
    );
    for (const answer of waiting.splice(0)) answer();
    await Promise.all(all);
    return statuses.toSorted();
  };
  const [ok, many, busy] = ["200", "429", "503"];
  assert.deepEqual(await atOnce(Array<string>(6).fill("at once")), [ok, ok, many, many, many, many]);
  // 64 MB are pending; six further answers pass 256 MB.
  const others = ["a", "b", "c", "d", "e", "f", "g", "h"];
  assert.deepEqual(await atOnce(others), [ok, ok, ok, ok, ok, ok, busy, busy]);
  assert.match((await open(t, "/quiet", "g")).head, /^HTTP\/1\.1 200 /);
});

test("the connection of a whole answer is closed when its client takes nothing for a minute", async (t) => {
  const connection = once(http.app.server, "connection") as Promise<[Socket]>;
  const { socket } = await open(t, "/large", "stops");
  const [server] = await connection;
  assert.equal(server.timeout, MINUTE_MS);
  server.emit("timeout");
  socket.resume();
  await until(
    () => socket.destroyed,
    (isClosed) => isClosed,
  );
});
