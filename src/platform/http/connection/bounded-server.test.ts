/** Turns of requests, and early answers. Other bounds of a connection are tested in open-answers.test.ts and bodies.test.ts. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { setImmediate as round } from "node:timers/promises";
import { until } from "../../../../test/support/until.ts";
import { SLICE } from "./connection.ts";
import { boundedServer } from "./bounded-server.ts";
import { discardRest } from "./early-answer.ts";

const MIB = 1024 * 1024;
const timeouts = { keepAliveTimeout: 5_000, requestTimeout: 60_000, connectionTimeout: 0 };
let server: Server;
/** Requests of the crowd that were handled: now, and when the request of the other client was. */
let [handled, beforeOther] = [0, 0];
/** Parts of bodies that were read: now, and when the request of the other client was handled. */
let [parts, partsBeforeOther] = [0, 0];
/** Gets the number of parts of a body that was read to its end. */
let ended = Promise.withResolvers<number>();
/** Gets the errors of writes that are in flight when their connection ends. */
let failed = Promise.withResolvers<readonly unknown[]>();
/** A request whose body is not read. */
let unread: IncomingMessage | undefined;

const create = boundedServer({
  addressOf: ({ headers }) => String(headers["x-client"] ?? "127.0.0.1"),
  hasWebSocket: (path) => path === "/socket",
});
before(async () => {
  server = create(
    (request, response) => {
      if (request.url === "/other") {
        beforeOther = handled;
        partsBeforeOther = parts;
        return response.end("other");
      }
      if (request.url === "/early") {
        discardRest({ raw: request });
        return response.setHeader("connection", "close").end("early");
      }
      if (request.url === "/stuck") {
        const errors: unknown[] = [];
        // More than the buffers of both ends of a connection take.
        for (const part of [Buffer.alloc(32 * MIB), Buffer.alloc(1)])
          request.socket.write(part, (error) => {
            errors.push(error);
            if (errors.length === 2) failed.resolve(errors);
          });
        return setImmediate(() => request.socket.destroy());
      }
      if (request.url === "/destroyed") {
        for (const part of ["one", "two"]) request.socket.write(part);
        return request.socket.destroy();
      }
      if (request.url === "/slow") {
        let own = 0;
        request.once("end", () => ended.resolve(own));
        request.on("data", () => {
          parts += 1;
          own += 1;
          const end = performance.now() + 0.02;
          while (performance.now() < end);
        });
        return undefined;
      }
      if (request.url === "/unread") {
        unread = request;
        return undefined;
      }
      handled += 1;
      const end = performance.now() + 1;
      while (performance.now() < end);
      return response.end("ok");
    },
    { http: {}, ...timeouts },
  );
  // As the plugin for WebSockets does.
  server.on("upgrade", () => undefined);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
});
after(() => {
  server.close();
  server.closeAllConnections();
});

/** A connection that the server has accepted. */
async function open(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await Promise.all([once(socket, "connect"), once(server, "connection")]);
  return socket;
}

async function rounds(count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) await round();
}

const sockets = new Set<Socket>();
const connections = (): number => sockets.size;

async function openMany(count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) sockets.push(await open());
  return sockets;
}

/** All that comes back until the connection ends. */
async function answerOf(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (data) => (text += String(data))).on("error", () => undefined);
  await new Promise((resolve) => socket.once("close", resolve));
  return text;
}

const OTHER = "GET /other HTTP/1.1\r\nhost: test\r\nx-client: 192.0.2.9\r\nconnection: close\r\n\r\n";

test("among hundreds of requests of one network, that of another one has its turn", async () => {
  const crowd = await openMany(30);
  const other = await open();
  for (const socket of crowd) socket.resume().write("GET / HTTP/1.1\r\nhost: test\r\n\r\n".repeat(10));
  other.write(OTHER);
  assert.ok((await answerOf(other)).endsWith("other"));
  // Each takes a millisecond, and a round four. Without turns, the other request comes after all that are read with it.
  assert.ok(beforeOther < 100, String(beforeOther));
  for (const socket of crowd) socket.destroy();
});

test("a client that sends all of a large body before it reads gets the answer that came early", async () => {
  const socket = await open();
  const answer = answerOf(socket);
  const sent = Promise.withResolvers<void>();
  const much = Buffer.alloc(16 * MIB);
  socket.pause();
  socket.write(`POST /early HTTP/1.1\r\nhost: test\r\ncontent-length: ${much.length}\r\n\r\n`);
  socket.write(much, () => sent.resolve());
  await sent.promise;
  socket.resume();
  assert.ok((await answer).endsWith("early"));
});

const POST_IN_PARTS = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n`;
const PART = "1\r\na\r\n";
const PARTS_OF_SLICE = Math.floor(SLICE / PART.length);
const UPGRADE = "host: test\r\nconnection: upgrade\r\nupgrade: websocket\r\n";

for (const [name, event, request] of [
  ["requests", "request", "GET / HTTP/1.1\r\nhost: test\r\n\r\n"],
  ["unknown expectations", "checkExpectation", "GET / HTTP/1.1\r\nhost: test\r\nexpect: x\r\n\r\n"],
] as const)
  test(`of a burst of ${name}, no more than a slice is parsed when the connection ends`, async () => {
    let parsed = 0;
    const count = (): void => void (parsed += 1);
    server.on(event, count);
    const socket = await open();
    const ended = answerOf(socket);
    socket.write(request.repeat(500));
    await ended;
    server.off(event, count);
    assert.equal(parsed, Math.floor(SLICE / request.length));
  });

test("an unknown expectation gets 417", async () => {
  const socket = await open();
  const answer = answerOf(socket);
  socket.write("GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\nexpect: x\r\n\r\n");
  assert.match(await answer, /^HTTP\/1\.1 417 /);
});

test("a request for an upgrade of a path without a WebSocket is a usual request, and leaves no connection", async () => {
  const socket = await open();
  const answered = once(socket, "data");
  socket.write(`GET / HTTP/1.1\r\n${UPGRADE}\r\n`);
  assert.match(String((await answered)[0]), /^HTTP\/1\.1 200 /);
  socket.end();
  await until(connections, (count) => count === 0);
});

test("a request for an upgrade with a body is a usual request", async () => {
  const socket = await open();
  const answered = once(socket, "data");
  socket.write(`GET /socket HTTP/1.1\r\n${UPGRADE}transfer-encoding: chunked\r\n\r\n${PART}0\r\n\r\n`);
  assert.match(String((await answered)[0]), /^HTTP\/1\.1 200 /);
  socket.destroy();
});

test("a body that nothing reads is parsed no further than a slice, and goes on when it is read", async () => {
  const socket = await open();
  socket.write(POST_IN_PARTS("/unread"));
  const sent = Promise.withResolvers<void>();
  socket.write(`${PART.repeat(30_000)}0\r\n\r\n`, () => sent.resolve());
  await sent.promise;
  await until(
    () => unread,
    (request) => request !== undefined,
  );
  await rounds(20);
  const request = unread ?? assert.fail();
  const parsed = request.readableLength;
  assert.ok(parsed > 0 && parsed <= PARTS_OF_SLICE + 1, String(parsed));
  let bytes = 0;
  for await (const part of request) bytes += (part as Buffer).length;
  assert.equal(bytes, 30_000);
  socket.destroy();
});

test("nothing more is read of a connection that is paused", async () => {
  const [socket, [source]] = await Promise.all([open(), once(server, "connection") as Promise<[Socket]>]);
  socket.setNoDelay(true).write(POST_IN_PARTS("/unread"));
  await until(
    () => source.bytesRead,
    (bytes) => bytes > 0,
  );
  const before = source.bytesRead;
  for (let nth = 0; nth < 50; nth += 1) {
    await new Promise((resolve) => socket.write(PART, resolve));
    await rounds(2);
  }
  // One read that waits to be parsed, and one behind it.
  assert.ok(source.bytesRead - before <= 10 * PART.length, String(source.bytesRead - before));
  socket.destroy();
});

test("what was written before a connection is destroyed is sent", async () => {
  const socket = await open();
  const answer = answerOf(socket);
  socket.write("GET /destroyed HTTP/1.1\r\nhost: test\r\n\r\n");
  assert.equal(await answer, "onetwo");
});

test("a write in flight fails when its connection ends", { timeout: 20_000 }, async () => {
  const socket = await open();
  socket.pause();
  failed = Promise.withResolvers();
  socket.write("GET /stuck HTTP/1.1\r\nhost: test\r\n\r\n");
  const errors = await failed.promise;
  assert.equal(errors.length, 2);
  for (const error of errors) assert.ok(error instanceof Error);
});

test("a body in parts of one byte leaves others their turn", async () => {
  const [sender, other] = [await open(), await open()];
  sender.write(POST_IN_PARTS("/slow"));
  sender.write(PART.repeat(10_000));
  other.write(OTHER);
  assert.ok((await answerOf(other)).endsWith("other"));
  assert.ok(partsBeforeOther > 0 && partsBeforeOther <= 4 * PARTS_OF_SLICE, String(partsBeforeOther));
  sender.destroy();
});

test("a body is read to its end when the client ends the connection behind it", { timeout: 20_000 }, async () => {
  const socket = await open();
  ended = Promise.withResolvers();
  socket.write(POST_IN_PARTS("/slow"));
  socket.end(`${PART.repeat(3 * PARTS_OF_SLICE)}0\r\n\r\n`);
  assert.equal(await ended.promise, 3 * PARTS_OF_SLICE);
});
