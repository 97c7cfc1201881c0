/** Event streams when the server stops, over real sockets: their readers are told the end, and hold nothing up. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { createLog } from "../log/log.ts";
import type { EventSink } from "./response/events.ts";
import { createFormRooms } from "./request/form.ts";
import { createOpenAnswers } from "./response/open-answers.ts";
import { createHttp } from "./server.ts";

/** A server with one event stream, and what its reader gets of it, until the end of the connection. */
async function streaming(t: TestContext, run: (sink: EventSink) => Promise<void>) {
  const stopping = new AbortController();
  const { app, add } = await createHttp({
    trustedProxies: [],
    log: createLog("silent"),
    authenticate: async () => undefined,
    watch: () => () => undefined,
    checkBeforeCommit: () => async () => undefined,
    explain: () => undefined,
    count: () => undefined,
    now: () => 0,
    openAnswers: createOpenAnswers(() => 0),
    maxFrame: 1024,
    forms: createFormRooms(1024),
    stopping: stopping.signal,
  });
  t.after(() => app.close());
  add([
    {
      doc: "refused",
      method: "GET",
      path: "/stream",
      operation: "test.stream",
      errors: "rest",
      maxBody: 1,
      access: { public: "a test" },
      query: z.object({}),
      handle: async () => ({ kind: "events" as const, run }),
    },
  ]);
  const { hostname, port } = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  let text = "";
  const begun = Promise.withResolvers<void>();
  const whole = new Promise<string>((resolve) => {
    socket.on("data", (data) => {
      text += data.toString();
      if (text.includes("event: begun")) begun.resolve();
    });
    socket.on("error", () => undefined);
    socket.once("close", () => resolve(text));
  });
  socket.write("GET /stream HTTP/1.1\r\nhost: x\r\n\r\n");
  await begun.promise;
  // The server's patience comes to its end when the test says so.
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const stop = (): Promise<void> => {
    stopping.abort();
    return app.close();
  };
  return { stop, whole };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

/** Far more turns of the event loop than the closing of a server with nothing to wait for takes. */
const MANY_TURNS = 200;

test("a stream that is asked to end has the time to, and its reader gets the end before the connection's", async (t) => {
  const { stop, whole } = await streaming(t, async ({ send, closed }) => {
    await send({ event: "begun", data: "1" });
    await aborted(closed);
    for (let nth = 0; nth < MANY_TURNS; nth++) await turn();
  });
  await stop();
  // The last chunk (RFC 9112, section 7.1): without it the connection was torn off.
  assert.match(await whole, /event: begun\ndata: 1\n\n\r\n0\r\n\r\n$/);
});

test("a stream that does not end is waited for half a second, no longer", async (t) => {
  const { stop, whole } = await streaming(t, async ({ send }) => {
    await send({ event: "begun", data: "1" });
    await new Promise<never>(() => undefined);
  });
  let isOver = false;
  const stopped = stop().then(() => (isOver = true));
  for (let nth = 0; nth < MANY_TURNS; nth++) await turn();
  t.mock.timers.tick(499);
  for (let nth = 0; nth < MANY_TURNS; nth++) await turn();
  assert.equal(isOver, false);
  t.mock.timers.tick(1);
  await stopped;
  assert.doesNotMatch(await whole, /0\r\n\r\n$/);
});
