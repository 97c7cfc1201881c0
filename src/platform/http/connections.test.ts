/** Turns of requests, and early answers. Other bounds of a connection are tested in open-answers.test.ts and bodies.test.ts. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { setImmediate as round } from "node:timers/promises";
import { until } from "../../../test/support/until.ts";
import { boundBody, boundedServer, discardRest } from "./connections.ts";

const MIB = 1024 * 1024;
const timeouts = { keepAliveTimeout: 5_000, requestTimeout: 60_000, connectionTimeout: 0 };
let server: Server;
/** Requests of the crowd that were handled and bytes of its bodies that were read. */
const crowded = { requests: 0, bytes: 0 };
/** A request whose body is not read. */
let unread: IncomingMessage | undefined;
/** The same when the request of the other client was handled. */
let beforeOther = crowded;

const create = boundedServer({
  addressOf: ({ headers }) => String(headers["x-client"] ?? "127.0.0.1"),
  hasWebSocket: () => false,
});
before(async () => {
  server = create(
    (request, response) => {
      if (request.url === "/other") {
        beforeOther = { ...crowded };
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
      if (request.url === "/read") {
        const bound = boundBody({ raw: request, clientAddress: "127.0.0.1", actor: undefined });
        request.on("data", (part: Buffer) => {
          bound(part);
          crowded.bytes += part.length;
        });
        return request.on("end", () => response.end("read"));
      }
      crowded.requests += 1;
      const end = performance.now() + 1;
      while (performance.now() < end);
      return response.end("ok");
    },
    { http: {}, ...timeouts },
  );
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
});
after(() => server.close());

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
  assert.ok(beforeOther.requests < 100, String(beforeOther.requests));
  for (const socket of crowd) socket.destroy();
});

test("bodies without a credential are read in turns, and to their ends", async () => {
  const crowd = await openMany(8);
  const body = Buffer.alloc(4 * MIB);
  const answers = Promise.all(crowd.map((socket) => once(socket, "data")));
  for (const socket of crowd) {
    socket.write(`POST /read HTTP/1.1\r\nhost: test\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  }
  let [most, before] = [0, 0];
  while (crowded.bytes < crowd.length * body.length) {
    await round();
    most = Math.max(most, crowded.bytes - before);
    before = crowded.bytes;
  }
  // In one round, 64 KiB are read in the turn of a connection, and as much fills its buffer behind. Without turns, all
  // that the system holds is read: 3 MB.
  assert.ok(most < 2 * MIB, String(most));
  for (const [answer] of await answers) assert.ok(String(answer).endsWith("read"));
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
