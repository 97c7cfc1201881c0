/** Bodies over real sockets: how many bytes of them are in memory at once, of unknown senders and of each caller. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import Fastify from "fastify";
import { rawRequest } from "../../../../test/support/clients/raw-http.ts";
import { until } from "../../../../test/support/until.ts";
import type { Problem } from "../../../core/problem.ts";
import type { Uuid } from "../../../core/ids.ts";
import { readBodiesAsBytes } from "./read-bytes.ts";

const KIB = 1024;
const MOST = 64 * KIB;

const [KNOWN, OTHER] = [randomUUIDv7() as Uuid, randomUUIDv7() as Uuid];

const app = Fastify();
const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
let begun = 0;
let url = "";

before(async () => {
  app.decorateRequest("actor", undefined);
  app.addHook("onRequest", async (request) => {
    const id = request.headers["x-api-key"] === "other" ? OTHER : KNOWN;
    if (request.headers["x-api-key"]) request.actor = { kind: "delegate", accountId: id, id, name: "known" };
  });
  readBodiesAsBytes(app, { unknown: MOST, ofCaller: MOST });
  app.setErrorHandler((error: Problem, _request, reply) =>
    reply
      .code(error.status ?? 400)
      .header("retry-after", String(error.retryAfter))
      .send({ code: error.code }),
  );
  app.post("/", async () => "read");
  app.post("/echo", (request, reply) => void reply.send((request.body as { readonly bytes: Buffer }).bytes));
  app.post("/slow", async () => {
    begun += 1;
    await answered;
    return "read";
  });
  url = await app.listen({ host: "127.0.0.1", port: 0 });
});
after(() => app.close());

const headOf = (path: string, ...more: readonly string[]): readonly string[] => [
  `POST ${path} HTTP/1.1`,
  ...["host: test", "content-type: application/json", ...more],
];

/** Sends a body of this size and returns the status. */
async function post(size: number, ...more: readonly string[]): Promise<number> {
  const { status, head, body } = await rawRequest(url, headOf("/", `content-length: ${size}`, ...more), [
    Buffer.alloc(size),
  ]);
  if (status === 503) {
    assert.match(head, /^retry-after: 5$/im);
    assert.match(head, /^connection: close$/im);
    assert.match(body, /http\.too_many_bodies/);
  }
  if (status === 429) assert.match(body, /http\.too_many_own_bodies/);
  return status;
}

/** Sends a request, or its beginning, and reads no answer. */
function begin(t: TestContext, head: readonly string[], body: string | Buffer): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(body);
  return socket;
}

const untilStatus = (wanted: number): Promise<number> =>
  until(
    () => post(30 * KIB),
    (status) => status === wanted,
  );

test("bodies without an actor are bounded together while they arrive; small ones and those of actors are read", async (t) => {
  assert.equal(await post(30 * KIB), 200);
  const half = begin(t, headOf("/", `content-length: ${60 * KIB}`), Buffer.alloc(50 * KIB));
  await untilStatus(503);
  assert.equal(await post(8 * KIB), 200);
  assert.equal(await post(30 * KIB, "x-api-key: known"), 200);
  half.destroy();
  await untilStatus(200);
  // Each request gave back what it had counted.
  for (let nth = 0; nth < 4; nth += 1) assert.equal(await post(50 * KIB), 200);
});

test("a body without an actor is counted until its request is answered, also if its client has left", async (t) => {
  const connection = once(app.server, "connection") as Promise<[Socket]>;
  const socket = begin(t, headOf("/slow", `content-length: ${50 * KIB}`), Buffer.alloc(50 * KIB));
  const [server] = await connection;
  await until(
    () => begun,
    (count) => count === 1,
  );
  const left = once(server, "close");
  socket.destroy();
  await left;
  assert.equal(await post(30 * KIB), 503);
  answer();
  await untilStatus(200);
});

test("a body arrives whole in whatever parts it is sent", async () => {
  const numbers = Array.from({ length: 5_000 }, (_, nth) => String(nth).padStart(10));
  const parts = numbers.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join("");
  const request = headOf("/echo", "transfer-encoding: chunked", "connection: close", "x-api-key: known");
  const { body } = await rawRequest(url, request, [Buffer.from(`${parts}0\r\n\r\n`)]);
  assert.equal(body, numbers.join(""));
});

test("the bodies of one caller are bounded together; those of others are read", async (t) => {
  const key = "x-api-key: known";
  assert.equal(await post(30 * KIB, key), 200);
  const half = begin(t, headOf("/", `content-length: ${60 * KIB}`, key), Buffer.alloc(50 * KIB));
  const untilStatusOf = (wanted: number): Promise<number> =>
    until(
      () => post(30 * KIB, key),
      (status) => status === wanted,
    );
  await untilStatusOf(429);
  assert.equal(await post(8 * KIB, key), 200);
  assert.equal(await post(30 * KIB, "x-api-key: other"), 200);
  half.destroy();
  await untilStatusOf(200);
  for (let nth = 0; nth < 4; nth += 1) assert.equal(await post(50 * KIB, key), 200);
});
