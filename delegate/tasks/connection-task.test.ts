import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { connectDelegate, createPlace } from "../testing/kit.ts";
import { newTaskId, startPretendServer } from "../testing/pretend-server.ts";

test("a connection test continues across lost connections, sends its end until the ack, and runs once", async () => {
  const place = createPlace();
  const registry = createServer();
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
  const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  const server = await startPretendServer({ ackEnds: () => false });
  const delegate = await connectDelegate(server, place, { chance: () => 0 });
  const spec = { registryUrl: url, providerType: "Other", auth: { type: "Anonymous" }, delegateSelectors: [] };
  const work = { kind: "connection" as const, type: "ContainerRegistry", spec, secrets: [], timeoutMs: 20_000 };
  const lease = { task: newTaskId(), epoch: 1 };
  const finished = () => server.next((message) => message.kind === "finished");
  try {
    const asked = once(registry, "request");
    server.run(work, lease);
    const response = (await asked)[1] as ServerResponse;
    const back = server.next((message) => message.kind === "hello");
    server.cut();
    const hello = await back;
    assert.ok(hello.kind === "hello");
    assert.deepEqual(hello.holds, [lease]);
    const end = finished();
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
    const first = await end;
    assert.ok(first.kind === "finished");
    assert.deepEqual(first.outcome, { kind: "tested", fault: null });
    const again = finished();
    server.cut();
    assert.deepEqual(await again, first);
    server.send({ kind: "finishedAck", ...lease });
    const repeated = finished();
    server.run(work, lease);
    const refused = await repeated;
    assert.ok(refused.kind === "finished" && refused.outcome.kind === "lost");
    assert.match(refused.outcome.message, /has started this task before/);
  } finally {
    registry.closeAllConnections();
    registry.close();
    await delegate.stop();
    await server.close();
    place.remove();
  }
});
