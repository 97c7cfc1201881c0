/** A delegate is a guest (invariant 4): whatever breaks the protocol ends its connection and changes nothing. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { createDbInterceptor } from "../../test/support/db-interceptor.ts";
import { MAX_FRAME } from "../../protocol/messages.ts";
import { PROTOCOL } from "../../protocol/versions.ts";
import { createPipelines, startRun } from "../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { newIdentity, pretendDelegate, type PretendDelegate } from "../../test/support/pretend-delegate.ts";
import { until } from "../../test/support/until.ts";
import { snapshot } from "../../test/support/watch.ts";
import { MAX_WITHOUT_SESSION } from "./session/connections.ts";

let platform: TestPlatform;
let token: string;

const gate = createDbInterceptor();
/** Set by a test: the check of each token waits for it. */
let admission: { readonly arrived: () => void; readonly open: Promise<void> } | undefined;

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) =>
      gate.wrapDb({
        ...db,
        query: async (text, values) => {
          const rows = await db.query<never>(text, values);
          if (admission && text.includes("select secret_hash")) {
            admission.arrived();
            await admission.open;
          }
          return rows;
        },
      }),
  });
  token = await platform.delegateToken();
  await createPipelines(platform, { id: "one", steps: [{ id: "only" }] });
});
after(() => platform?.stop());

const lease = { task: "AZMAAAAAcACAAAAAAAAAAA", epoch: 1 };
const hello = {
  kind: "hello",
  protocol: PROTOCOL,
  identity: newIdentity(),
  name: "guest",
  tags: [],
  host: "h",
  version: "v",
  bootId: "b",
  slots: 1,
  holds: [],
};
const log = { kind: "log", ...lease, offset: 0, data: "eA==" };
const exited = { kind: "exited", exitCode: 0, outputs: [] };
const finished = { kind: "finished", ...lease, offset: 0, data: "", startedAt: 1, endedAt: 2, outcome: exited };

const bad: readonly (readonly [what: string, frame: string | Buffer])[] = [
  ["no JSON", "{"],
  ["nothing", ""],
  ["binary garbage", Buffer.from([0, 255, 254, 1, 2, 3])],
  ["no object", "[1]"],
  ["null", "null"],
  ["deep nesting", "[".repeat(100_000)],
  ["an unknown kind", '{"kind":"shutdown"}'],
  ["a kind of the prototype", '{"kind":"__proto__"}'],
  ["a further field", JSON.stringify({ kind: "heartbeat", admin: true })],
  ["a further field by the prototype", '{"kind":"heartbeat","__proto__":{"x":1}}'],
  ["a negative offset", JSON.stringify({ ...log, offset: -1 })],
  ["a fraction as offset", JSON.stringify({ ...log, offset: 0.5 })],
  ["an offset beyond all numbers", JSON.stringify(log).replace('"offset":0', '"offset":1e400')],
  ["epoch 0", JSON.stringify({ ...log, epoch: 0 })],
  ["an epoch that is a text", JSON.stringify({ ...log, epoch: "1" })],
  ["a task that is no id", JSON.stringify({ ...log, task: "../../../etc/passwd" })],
  ["data that is no base64", JSON.stringify({ ...log, data: "ä" })],
  ["data over the limit", JSON.stringify({ ...log, data: "A".repeat(100_000) })],
  ["an exit code of 256", JSON.stringify({ ...finished, outcome: { ...exited, exitCode: 256 } })],
  ["an exit code below 0", JSON.stringify({ ...finished, outcome: { ...exited, exitCode: -1 } })],
  ["survivors below 0", JSON.stringify({ ...finished, outcome: { kind: "cancelled", survivors: -1 } })],
  ["an unknown outcome", JSON.stringify({ ...finished, outcome: { kind: "succeeded" } })],
  [
    "257 outputs",
    JSON.stringify({
      ...finished,
      outcome: { ...exited, outputs: Array.from({ length: 257 }, () => ({ name: "x", value: "" })) },
    }),
  ],
  ["a second hello", JSON.stringify({ ...hello, name: "other" })],
];

for (const [what, frame] of bad) {
  test(`${what} ends the connection and changes nothing`, async () => {
    const delegate = await pretendDelegate({ url: platform.url, token, name: what });
    await delegate.next("welcome");
    const before = await snapshot(platform);
    const delegates = await platform.db.query("select name from delegates order by 1");
    delegate.sendRaw(frame);
    await delegate.closed;
    assert.deepEqual(delegate.waiting(), []);
    assert.equal(await snapshot(platform), before);
    assert.deepEqual(await platform.db.query("select name from delegates order by 1"), delegates);
  });
}

test("a frame over MAX_FRAME ends the connection before it is read", async () => {
  const delegate = await pretendDelegate({ url: platform.url, token, name: "big" });
  await delegate.next("welcome");
  delegate.sendRaw(Buffer.alloc(MAX_FRAME + 1, " "));
  assert.equal(await delegate.closed, 1009);
});

const early: readonly (readonly [what: string, message: Record<string, unknown>])[] = [
  ["a heartbeat", { kind: "heartbeat" }],
  ["output", log],
  ["an end", finished],
  ["a hello without a name", { ...hello, name: "" }],
  ["a hello with 0 slots", { ...hello, slots: 0 }],
  ["a hello with an escape sequence in its name", { ...hello, name: "a\u001b[2J" }],
  ["a hello with a line break in a tag", { ...hello, tags: ["a\nb"] }],
  ["a hello with a short identity", { ...hello, identity: "short" }],
  ["a hello with too many tags", { ...hello, tags: Array.from({ length: 65 }, (_, at) => `t${at}`) }],
  ["a hello with a NUL in a tag", { ...hello, tags: ["a\u0000b"] }],
];
for (const [what, message] of early) {
  test(`${what} as the first message is refused`, async () => {
    const before = await snapshot(platform);
    const delegate = await pretendDelegate({ url: platform.url, token, silent: true });
    delegate.send(message);
    await delegate.next("refused");
    await delegate.closed;
    assert.equal(await snapshot(platform), before);
    assert.deepEqual(await platform.db.query("select 1 from delegates where name = 'guest'"), []);
  });
}

test("what follows an illegal message is not taken", async () => {
  const me = { url: platform.url, token, name: "sneaky", identity: newIdentity() };
  const delegate = await pretendDelegate(me);
  await startRun(platform, "one");
  const { task, epoch } = await delegate.next("run");
  delegate.sendRaw("{");
  delegate.log({ task, epoch }, 0, "after\n");
  await delegate.closed;
  // A hello locks what is leased, so that it waits for whatever is still being taken.
  const again = await pretendDelegate({ ...me, holds: [{ task, epoch }] });
  assert.deepEqual((await again.next("welcome")).keep, [{ task, epoch, offset: 0 }]);
  again.finish({ task, epoch });
  await again.next("finishedAck");
  await again.close();
});

async function upgrade(path: string, headers: Record<string, string>): Promise<number | undefined> {
  const socket = new WebSocket(`${platform.url.replace(/^http/, "ws")}${path}`, { headers });
  const answered = once(socket, "unexpected-response");
  socket.on("error", () => undefined);
  const opened = once(socket, "open").then(() => [undefined, { statusCode: 101 }]);
  const [, response] = (await Promise.race([answered, opened])) as [unknown, { statusCode?: number }];
  socket.terminate();
  return response.statusCode;
}

test("no token, a wrong one, one of another kind: 401 at the upgrade", async () => {
  const [prefix, account, id] = token.split(".");
  const wrong = [
    undefined,
    "nonsense",
    `${prefix}.${account}.${id}.${"A".repeat(43)}`,
    `${prefix}.${platform.accountId.replace(/^./, "B")}.${id}.${token.split(".")[3]}`,
    platform.apiKey,
    token.replace(/^dlg/, "pat"),
  ];
  for (const path of ["/delegate/connect", "/gateway/delegate/connect"]) {
    for (const one of wrong) {
      const headers: Record<string, string> = one === undefined ? {} : { authorization: `Bearer ${one}` };
      assert.equal(await upgrade(path, headers), 401, String(one));
    }
    assert.equal(await upgrade(path, { authorization: `Bearer ${token}` }), 101);
  }
});

test("a delegate's token opens no interface for people", async () => {
  const answer = await platform.send("GET", "/pipeline/api/pipelines/execution/x", { apiKey: token });
  assert.equal(answer.status, 401);
});

test("a plain request to the delegates' address is told what speaks there", async () => {
  const answer = await platform.send("GET", "/delegate/connect", {
    apiKey: null,
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(answer.status, 400);
  assert.match(answer.body.message, /speaks WebSocket/);
});

test("hundreds of messages at once are all answered, in order for each task", async () => {
  const delegate = await pretendDelegate({ url: platform.url, token, name: "busy" });
  await delegate.next("welcome");
  await startRun(platform, "one");
  const run = await delegate.next("run");
  for (let at = 0; at < 300; at += 1) {
    delegate.send({ kind: "heartbeat" });
    delegate.log(run, at, "x");
    delegate.log({ ...lease, epoch: at + 1 }, 0, "x");
  }
  for (let at = 0; at < 300; at += 1) {
    assert.equal((await delegate.next("logAck")).offset, at + 1);
    assert.equal((await delegate.next("drop")).epoch, at + 1);
  }
  delegate.finish(run, { offset: 300 });
  await delegate.next("finishedAck");
  await delegate.close();
});

const newToken = async (name: string): Promise<string> =>
  (await platform.send("POST", `/ng/api/delegate-token-ng?tokenName=${name}`)).body.resource.value;
const connections = (): number => platform.platform.http.app.websocketServer.clients.size;
const connect = (own: string): Promise<number | undefined> =>
  upgrade("/delegate/connect", { authorization: `Bearer ${own}` });

test("of a token 20 connections have no session at most; others get 429 at the upgrade until one has", async () => {
  const own = await newToken("opens-many");
  const open: PretendDelegate[] = [];
  for (let n = 0; n < MAX_WITHOUT_SESSION; n += 1)
    open.push(await pretendDelegate({ url: platform.url, token: own, silent: true }));
  assert.equal(await connect(own), 429);
  assert.equal(await connect(await newToken("opens-one")), 101);
  const [first, second] = open as [PretendDelegate, PretendDelegate];
  const saved = gate.stopAt(/insert into delegates/);
  first.send({ ...hello, name: "first", identity: newIdentity() });
  await saved.reached;
  assert.equal(await connect(own), 429, "its hello is being taken");
  saved.open();
  await first.next("welcome");
  const next = await pretendDelegate({ url: platform.url, token: own, silent: true });
  assert.equal(await connect(own), 429);
  await second.cut();
  await until(
    () => connect(own),
    (status) => status === 101,
  );
  await Promise.all([...open, next].map(({ cut }) => cut()));
});

test("of a token 20 connections have no session at most, also if many are admitted at once", async () => {
  await until(connections, (open) => open === 0);
  const headers = { authorization: `Bearer ${await newToken("opens-at-once")}` };
  const [all, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let arrived = 0;
  admission = { arrived: () => (arrived += 1) === 3 * MAX_WITHOUT_SESSION && all.resolve(), open: released.promise };
  let refused = 0;
  const sockets = Array.from({ length: 3 * MAX_WITHOUT_SESSION }, () => {
    const socket = new WebSocket(`${platform.url.replace(/^http/, "ws")}/delegate/connect`, { headers });
    socket.on("error", () => undefined);
    socket.on("close", () => (refused += 1));
    return socket;
  });
  await all.promise;
  admission = undefined;
  released.resolve();
  await until(
    () => refused,
    (count) => count >= 2 * MAX_WITHOUT_SESSION,
  );
  assert.deepEqual([refused, connections()], [2 * MAX_WITHOUT_SESSION, MAX_WITHOUT_SESSION]);
  for (const socket of sockets) socket.terminate();
});
