/** What one connection may send at once. The bound of its requests is tested in open-answers.test.ts. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { refuseTinyParts } from "./connections.ts";

const PARTS = 21_000;
const server = createServer((request, response) => {
  let bytes = 0;
  const refuseTiny = refuseTinyParts(request);
  request.on("data", (part: Buffer) => {
    refuseTiny(part);
    bytes += part.length;
  });
  request.on("end", () => response.end(String(bytes)));
});
before(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
});
after(() => server.close());

/** Sends a body in parts of this size; returns all that comes back until the connection ends. */
async function send(size: number): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const part = `${size.toString(16)}\r\n${"a".repeat(size)}\r\n`;
  socket.write("POST / HTTP/1.1\r\nhost: test\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n");
  socket.write(`${part.repeat(PARTS)}0\r\n\r\n`);
  let text = "";
  socket.on("data", (data) => (text += String(data))).on("error", () => undefined);
  await once(socket, "close");
  return text;
}

test("a client that sends a body in parts of a few bytes is disconnected; parts of nine bytes are read", async () => {
  assert.equal(await send(7), "");
  assert.ok((await send(9)).endsWith(`\r\n\r\n${PARTS * 9}`));
});
