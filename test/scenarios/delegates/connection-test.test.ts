/** Connection tests by a real delegate against a real registry, and their early end. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { startDelegate } from "../../../delegate/delegate.ts";
import { createPlace, QUICK, silentLog, connectDelegate } from "../../../delegate/testing/kit.ts";
import { newTaskId, startPretendServer } from "../../../delegate/testing/pretend-server.ts";
import { systemTimers } from "../../../delegate/timers.ts";
import { connectorYaml, create, made } from "../../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { registryIsMissing, startRegistry } from "../../support/services/registry.ts";
import { until } from "../../support/until.ts";

const skip = (await registryIsMissing()) ?? false;
let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

test("a real delegate tests a real registry, also one on its own machine", { skip }, async () => {
  const [place, registry] = [createPlace(), await startRegistry()];
  const socketUrl = `${platform.url.replace("http", "ws")}/delegate/connect`;
  const settings = {
    socketUrl,
    token: await platform.delegateToken(),
    name: "near",
    tags: ["lab"],
    workDir: place.path,
  };
  const around = { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog() };
  const delegate = await startDelegate(
    { ...settings, slots: 2, stepUser: undefined, stepPath: undefined, belongsTo: undefined },
    around,
  );
  try {
    await until(
      () => platform.db.query("select 1 from delegates"),
      (rows) => rows.length > 0,
    );
    const ask = async (identifier: string, url: string) => {
      const body = connectorYaml(identifier)
        .replace("https://registry.example.com/v2/", url)
        .replace("    auth:", "    delegateSelectors: [near, lab]\n    auth:");
      await made(create.connector(platform, body));
      return (await platform.send("POST", `/ng/api/connectors/testConnection/${identifier}`)).body.data;
    };
    const good = await ask("good", registry.url);
    assert.deepEqual([good.status, good.errors], ["SUCCESS", []]);
    const bad = await ask("bad", `${registry.url.replace("/v2/", "")}/nothing/`);
    assert.deepEqual([bad.status, bad.errors[0].reason], ["FAILURE", "Not a registry"]);
    assert.equal(bad.delegateId, good.delegateId);
    assert.deepEqual(place.tasks(), [], "a test leaves nothing in the work folder");
  } finally {
    await delegate.stop();
    await registry.stop();
    place.remove();
  }
});

const connectionWork = (url: string, secrets: { reference: string; value: string }[] = []) => ({
  kind: "connection" as const,
  version: 1 as const,
  type: "ContainerRegistry",
  spec: { registryUrl: url, providerType: "Other", auth: { type: "Anonymous" }, delegateSelectors: [] },
  secrets,
  timeoutMs: 20_000,
});

test("a connection test ends when the server ends it or when its timeout passes", async () => {
  const place = createPlace();
  const registry = createServer(() => undefined);
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  const server = await startPretendServer();
  const delegate = await connectDelegate(server, place, { chance: () => 0 });
  try {
    const lease = { task: newTaskId(), epoch: 1 };
    const finished = () => server.next((message) => message.kind === "finished");
    const asked = new Promise((resolve) => registry.once("request", resolve));
    server.send({ kind: "run", ...lease, work: connectionWork(url) });
    await asked;
    const cancelled = finished();
    server.send({ kind: "cancel", ...lease });
    const end = await cancelled;
    assert.ok(end.kind === "finished");
    assert.deepEqual(end.outcome, { kind: "cancelled", survivors: 0 });
    const late = finished();
    server.send({ kind: "run", task: newTaskId(), epoch: 1, work: { ...connectionWork(url), timeoutMs: 1 } });
    const over = await late;
    assert.ok(over.kind === "finished" && over.outcome.kind === "tested");
    assert.equal(over.outcome.fault?.reason, "Timeout");
  } finally {
    await delegate.stop();
    await server.close();
    registry.closeAllConnections();
    registry.close();
    place.remove();
  }
});
