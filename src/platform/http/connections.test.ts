/** Turns of requests, and early answers. Other bounds of a connection are tested in open-answers.test.ts and bodies.test.ts. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { PassThrough } from "node:stream";
import { setImmediate as round } from "node:timers/promises";
import { until } from "../../../test/support/until.ts";
import { boundBody, boundedServer, discardRest } from "./connections.ts";

const MIB = 1024 * 1024;
const timeouts = { keepAliveTimeout: 5_000, requestTimeout: 60_000, connectionTimeout: 0 };
let server: Server;
/** Requests of the crowd that were handled: now, and when the request of the other client was. */
let [handled, beforeOther] = [0, 0];
/** A request whose body is not read. */
let unread: IncomingMessage | undefined;

const create = boundedServer({
  addressOf: ({ headers }) => String(headers["x-client"] ?? "127.0.0.1"),
  hasWebSocket: () => false,
});
before(async () => {
  server = create(
    (request, response) => {
      if (request.url === "/other") {
        beforeOther = handled;
        return response.end("other");
      }
      if (request.url === "/early") {
        discardRest({ raw: request, clientAddress: "127.0.0.1" });
        return response.setHeader("connection", "close").end("early");
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

test("a body without a credential is read in turns, and to its end", async () => {
  const raw = new PassThrough({ highWaterMark: 2 * MIB });
  const part = Buffer.alloc(64 * 1024);
  for (let nth = 0; nth < 20; nth += 1) raw.write(part);
  const bound = boundBody({ raw: raw as unknown as IncomingMessage, clientAddress: "192.0.2.1", actor: undefined });
  let [bytes, before, most] = [0, 0, 0];
  raw.on("data", ({ length }: Buffer) => {
    bound(part);
    bytes += length;
    // Longer than a round, so the next part but one waits.
    const end = performance.now() + 5;
    while (performance.now() < end);
  });
  while (bytes < 20 * part.length) {
    await round();
    most = Math.max(most, bytes - before);
    before = bytes;
  }
  assert.ok(most <= 5 * part.length, String(most));
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

const UPGRADE = "host: test\r\nconnection: upgrade\r\nupgrade: websocket\r\n";

for (const [name, event, request] of [
  ["requests", "request", "GET / HTTP/1.1\r\nhost: test\r\n\r\n"],
  ["unknown expectations", "checkExpectation", "GET / HTTP/1.1\r\nhost: test\r\nexpect: x\r\n\r\n"],
] as const)
  test(`of a burst of ${name}, no more are parsed than may be unanswered`, async () => {
    let parsed = 0;
    const count = (): void => void (parsed += 1);
    server.on(event, count);
    const socket = await open();
    const ended = answerOf(socket);
    socket.write(request.repeat(500));
    await ended;
    server.off(event, count);
    assert.equal(parsed, 21);
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

for (const [name, header, most] of [
  ["without", "", 4_000],
  ["with", "x-api-key: a\r\n", 16_000],
] as const)
  test(`a client ${name} a credential that sends many small parts before they are read is disconnected`, async () => {
    const socket = await open();
    const ended = answerOf(socket);
    socket.write(`POST /unread HTTP/1.1\r\nhost: test\r\n${header}transfer-encoding: chunked\r\n\r\n`);
    socket.write("1\r\na\r\n".repeat(30_000));
    await ended;
    assert.equal(unread?.readableLength, most);
  });
