/** Final states are sinks in SQL as well: these statements refuse even what the engine would have allowed (invariant 2). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { State, Status } from "../../engine/index.ts";
import { createPipelines, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { snapshot } from "../../../test/support/watch.ts";
import { lockState, saveState, takeTimer } from "./executions.ts";

let platform: TestPlatform;
let run: { readonly accountId: Uuid; readonly id: Uuid };

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
});
after(() => platform?.stop());

async function begin(): Promise<State> {
  const [accountId, id] = [fromWire(platform.accountId), fromWire(await startRun(platform, "one"))];
  assert.ok(accountId && id);
  run = { accountId, id };
  const state = await lockState(platform.db, accountId, id);
  assert.ok(state);
  return state as State;
}

const NOTHING = { started: [], stopped: [] };
const final: readonly Status[] = [
  "succeeded",
  "ignored",
  "failed",
  "errored",
  "aborted",
  "expired",
  "rejected",
  "skipped",
];
const open: readonly Status[] = ["queued", "running", "waiting", "paused"];

for (const status of final) {
  test(`an execution that is ${status} changes no more`, async () => {
    const state = await begin();
    await saveState(platform.db, run, { ...state, status, endedAt: 7 }, NOTHING, []);
    const before = await snapshot(platform);
    const timers = { started: [{ node: run.id, attempt: 9, at: 1 }], stopped: [] };
    const again = platform.db.transaction((tx) => saveState(tx, run, { ...state, status: "running" }, timers, []));
    await assert.rejects(again, /has ended; its state cannot change any more/);
    assert.equal(await snapshot(platform), before);
  });
}

for (const status of open) {
  test(`an execution that is ${status} may go on`, async () => {
    const state = await begin();
    await saveState(platform.db, run, { ...state, status }, NOTHING, []);
    await saveState(platform.db, run, { ...state, status: "succeeded" }, NOTHING, []);
  });
}

test("another account's execution is not found, let alone changed", async () => {
  const state = await begin();
  const before = await snapshot(platform);
  const other = fromWire((await platform.addAccount()).accountId);
  assert.ok(other);
  assert.equal(await lockState(platform.db, other, run.id), undefined);
  const foreign = { ...run, accountId: other };
  await assert.rejects(saveState(platform.db, foreign, { ...state, status: "failed" }, NOTHING, []));
  assert.equal(await snapshot(platform), before);
});

test("a timer is taken once", async () => {
  await begin();
  const [timer] = await platform.db.query<{ nodeId: Uuid }>(
    `select node_id as "nodeId" from execution_timers where execution_id = $1`,
    [run.id],
  );
  assert.ok(timer);
  const due = { accountId: run.accountId, executionId: run.id, nodeId: timer.nodeId, attempt: 1 };
  const taken = await Promise.all([1, 2, 3].map(() => platform.db.transaction((tx) => takeTimer(tx, due))));
  assert.deepEqual(taken.filter(Boolean), [true]);
});
