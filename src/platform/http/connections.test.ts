/** Turns of requests, and early answers. Other bounds of a connection are tested in open-answers.test.ts and bodies.test.ts. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { boundedServer, discardRest } from "./connections.ts";

const timeouts = { keepAliveTimeout: 5_000, requestTimeout: 60_000, connectionTimeout: 0 };
let server: Server;
/** Requests of the crowd that were handled: now, and when the request of the other client was. */
let [handled, beforeOther] = [0, 0];

const create = boundedServer(({ headers }) => String(headers["x-client"] ?? "127.0.0.1"));
before(async () => {
  server = create(
    (request, response) => {
      if (request.url === "/other") {
        beforeOther = handled;
        return response.end("other");
      }
      if (request.url === "/early") {
        discardRest(request);
        return response.setHeader("connection", "close").end("early");
      }
      handled += 1;
      const end = performance.now() + 1;
      while (performance.now() < end);
      return response.end("ok");
    },
    { http: {}, ...timeouts },
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
});
after(() => server.close());

/** A connection that the server has accepted. */
async function open(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await Promise.all([once(socket, "connect"), once(server, "connection")]);
  return socket;
}

/** All that comes back until the connection ends. */
async function answerOf(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (data) => (text += String(data))).on("error", () => undefined);
  await once(socket, "close");
  return text;
}

const OTHER = "GET /other HTTP/1.1\r\nhost: test\r\nx-client: 192.0.2.9\r\nconnection: close\r\n\r\n";

test("among hundreds of requests of one network, that of another one has its turn", async () => {
  handled = 0;
  const crowd: Socket[] = [];
  while (crowd.length < 30) crowd.push(await open());
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
  const much = Buffer.alloc(16 * 1024 * 1024);
  socket.pause();
  socket.write(`POST /early HTTP/1.1\r\nhost: test\r\ncontent-length: ${much.length}\r\n\r\n`);
  socket.write(much, () => sent.resolve());
  await sent.promise;
  socket.resume();
  assert.ok((await answer).endsWith("early"));
});
