import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { until } from "../../support/until.ts";
import { startProxy, type Proxy } from "./proxy.ts";

/** Starts a server that sends its name and then echoes each byte. */
async function startEcho(
  name: string,
): Promise<{ readonly server: Server; readonly port: number; readonly got: () => string }> {
  let got = "";
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data: Buffer) => {
      got += data.toString();
      socket.write(`${name}:${data.toString()}`);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { server, port: (server.address() as AddressInfo).port, got: () => got };
}

let a: Awaited<ReturnType<typeof startEcho>>;
let b: Awaited<ReturnType<typeof startEcho>>;
let proxy: Proxy;
const clients: Socket[] = [];

before(async () => {
  [a, b] = await Promise.all([startEcho("a"), startEcho("b")]);
  proxy = await startProxy(() => [a, b].map(({ port }) => ({ host: "127.0.0.1", port })));
});
after(async () => {
  for (const client of clients) client.destroy();
  await proxy.close();
  for (const { server } of [a, b]) server.close();
});

type Client = { readonly socket: Socket; readonly got: () => string; readonly closed: Promise<void> };

function open(): Client {
  const socket = connect(proxy.port, "127.0.0.1");
  let got = "";
  socket.on("data", (data: Buffer) => void (got += data.toString()));
  socket.on("error", () => undefined);
  clients.push(socket);
  return { socket, got: () => got, closed: new Promise((resolve) => socket.on("close", () => resolve())) };
}
const receives = (client: Client, text: RegExp): Promise<string> => until(client.got, (got) => text.test(got));
const letThrough = (): void => proxy.set("pass");

test("connections go to the targets in turn, and to the next target if one refuses", async () => {
  const two = [open(), open()];
  for (const [n, client] of two.entries()) client.socket.write(`${n}`);
  const answers = await Promise.all(two.map((client) => receives(client, /:\d$/)));
  assert.deepEqual(answers.map((text) => text.slice(0, 2)).toSorted(), ["a:", "b:"]);
  const lone = await startProxy(() => [
    { host: "127.0.0.1", port: 1 },
    { host: "127.0.0.1", port: a.port },
  ]);
  for (let n = 0; n < 2; n += 1) {
    const socket = connect(lone.port, "127.0.0.1");
    socket.write("x");
    assert.equal(String((await once(socket, "data"))[0]), "a:x");
    socket.destroy();
  }
  await lone.close();
});

test("setting the same mode again changes nothing: no byte is sent twice", async () => {
  const client = open();
  client.socket.write("before");
  await receives(client, /:before$/);
  letThrough();
  letThrough();
  client.socket.write("-after");
  assert.match(await receives(client, /-after$/), /^(.):before\1:-after$/);
});

test("cut: open and new connections are reset", async () => {
  const client = open();
  client.socket.write("x");
  await receives(client, /:x$/);
  proxy.set("cut");
  await client.closed;
  const late = open();
  await late.closed;
  assert.equal(late.got(), "");
  letThrough();
});

/** Sends other traffic to both targets and back. */
async function otherTraffic(): Promise<void> {
  for (const { port } of [a, b]) {
    const socket = connect(port, "127.0.0.1");
    socket.write("other");
    await once(socket, "data");
    socket.destroy();
  }
}

test("stall: nothing passes until the link passes again, and then everything does", async () => {
  const client = open();
  client.socket.write("1");
  await receives(client, /:1$/);
  proxy.set("stall");
  const late = open();
  client.socket.write("held-2");
  late.socket.write("held-3");
  await once(late.socket, "connect");
  await otherTraffic();
  assert.match(client.got(), /^.:1$/);
  assert.doesNotMatch(a.got() + b.got(), /held/);
  letThrough();
  assert.match(await receives(client, /:held-2$/), /^(.):1\1:held-2$/);
  await receives(late, /:held-3$/);
});

test("blackhole: data is accepted and dropped, and the connection ends afterwards", async () => {
  proxy.set("blackhole");
  const client = open();
  await once(client.socket, "connect");
  client.socket.write("swallowed");
  await otherTraffic();
  letThrough();
  await client.closed;
  assert.equal(client.got(), "");
  assert.doesNotMatch(a.got() + b.got(), /swallowed/);
});
