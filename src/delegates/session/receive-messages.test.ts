import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { receiveMessages } from "./receive-messages.ts";

type Listening = { readonly port: number; readonly failures: unknown[]; readonly failed: Promise<void> };

async function listening(t: TestContext): Promise<Listening> {
  const failures: unknown[] = [];
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  t.after(() => server.close());
  const failed = new Promise<void>((resolve) =>
    server.on("connection", (socket) =>
      receiveMessages(
        socket,
        () => Promise.resolve(),
        (error) => {
          failures.push(error);
          socket.close();
          resolve();
        },
      ),
    ),
  );
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, failures, failed };
}

test("after the first frame that is no message no other is looked at", async (t) => {
  const { port, failures } = await listening(t);
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  await once(socket, "open");
  for (let nth = 0; nth < 50; nth += 1) socket.send("{");
  await once(socket, "close");
  assert.equal(failures.length, 1);
});

test("a connection that does not answer the close ends a second later", async (t) => {
  const { port, failed } = await listening(t);
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.resume();
  const upgrade = [
    "GET / HTTP/1.1",
    "Host: x",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
  ];
  socket.write([...upgrade, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", ""].join("\r\n"));
  await once(socket, "data");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  // A text of one character, `{`, with a mask of zeros.
  socket.write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x7b]));
  await failed;
  t.mock.timers.tick(1_000);
  await once(socket, "close");
});
