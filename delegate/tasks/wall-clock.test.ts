/** The wall clock of the delegate's machine is set while steps run. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileHolds, createSignal, connectDelegate, createPlace } from "../testing/kit.ts";
import { type Finished, startPretendServer } from "../testing/pretend-server.ts";
import type { DelegateDeps } from "../delegate.ts";
import { systemTimers } from "../timers.ts";

const HOUR = 3_600_000;
/** Of its own a step takes this long at least. */
const LEAST_MS = 20;
/** The end of a task takes no longer, however slow the machine is. */
const MOST_MS = 15_000;
const SCRIPT = "echo begun; until [ -e go ]; do sleep 0.01; done; sleep 0.02";

/** A delegate in this process, whose wall clock can be set. */
async function begin(t: TestContext, more: Partial<DelegateDeps> = {}) {
  const real = Date.now;
  let ahead = 0;
  t.mock.method(Date, "now", () => real() + ahead);
  const place = createPlace();
  const server = await startPretendServer();
  let delegate = await connectDelegate(server, place, more);
  t.after(async () => {
    await delegate.stop();
    await server.close();
    place.remove();
  });
  return {
    place,
    server,
    set: (by: number): void => void (ahead = by),
    stop: () => delegate.stop(),
    start: async () => void (delegate = await connectDelegate(server, place)),
  };
}

function assertLasted({ startedAt, endedAt }: Finished, wallMs: number): void {
  const lasted = endedAt - startedAt;
  assert.ok(lasted >= LEAST_MS && lasted <= wallMs + 1, `it lasted ${lasted} ms, not ${LEAST_MS} to ${wallMs}`);
}

for (const by of [HOUR, -HOUR]) {
  const named = by > 0 ? "forward" : "back";

  test(`a clock that is set ${named} by an hour does not change how long a step lasted`, async (t) => {
    const { place, server, set } = await begin(t);
    const before = systemTimers.elapsed();
    const task = server.run({ script: SCRIPT });
    await task.printed("begun");
    set(by);
    createSignal(place, task, "go");
    assertLasted(await task.finished, systemTimers.elapsed() - before);
  });

  test(`nor that of a step which the next delegate takes up, or finds ended (${named})`, async (t) => {
    const { place, server, set, stop, start } = await begin(t);
    const before = systemTimers.elapsed();
    const [ended, running] = [server.run({ script: SCRIPT }), server.run({ script: SCRIPT })];
    await Promise.all([ended.printed("begun"), running.printed("begun")]);
    await stop();
    set(by);
    createSignal(place, ended, "go");
    await fileHolds(join(place.path, "tasks", `${ended.task}.1`, "journal"), "\nexit 0 ");
    await start();
    createSignal(place, running, "go");
    for (const { finished } of [ended, running]) assertLasted(await finished, systemTimers.elapsed() - before);
  });

  test(`nor that of a test of a connection (${named})`, async (t) => {
    const { server, set } = await begin(t);
    const registry = createServer();
    registry.listen(0, "127.0.0.1");
    await once(registry, "listening");
    t.after(() => registry.close());
    const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
    const spec = { registryUrl: url, providerType: "Other", auth: { type: "Anonymous" }, delegateSelectors: [] };
    const before = systemTimers.elapsed();
    const asked = once(registry, "request");
    const task = server.run({ kind: "connection", type: "ContainerRegistry", spec, secrets: [], timeoutMs: 20_000 });
    const response = (await asked)[1] as ServerResponse;
    set(by);
    await new Promise((resolve) => systemTimers.after(LEAST_MS + 1, () => resolve(undefined)));
    response.writeHead(200, { "content-type": "application/json", connection: "close" }).end("{}");
    assertLasted(await task.finished, systemTimers.elapsed() - before);
  });

  test(`a clock that is set ${named} between TERM and KILL does not hold up the end of a task`, async (t) => {
    // Longer than the trap takes on a busy machine.
    const { place, server, set } = await begin(t, { graceMs: 2_000 });
    // Without the monotonic clock the delegate waits for an hour, and so does everything after it.
    const late = AbortSignal.timeout(MOST_MS);
    late.addEventListener("abort", () => set(0));
    const before = systemTimers.elapsed();
    const task = server.run({
      script: "trap 'touch termed' TERM; echo begun; while :; do sleep 0.01; done",
    });
    await task.printed("begun");
    const work = join(place.path, "tasks", `${task.task}.1`, "work");
    server.send({ kind: "cancel", task: task.task, epoch: 1 });
    await Promise.race([fileHolds(join(work, "termed"), ""), task.finished]);
    assert.equal(existsSync(join(work, "termed")), true, "it ended before TERM arrived");
    set(by);
    const end = await task.finished;
    assert.equal(late.aborted, false, "the end waited for the wall clock");
    assert.equal(end.outcome.kind, "cancelled");
    assertLasted(end, systemTimers.elapsed() - before);
  });
}
