/** Final states are sinks in SQL as well: these statements refuse even what the engine would have allowed (invariant 2). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { State, Status } from "../../engine/index.ts";
import type { Store } from "../../platform/db/db.ts";
import { createPipelines, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { snapshot } from "../../../test/support/watch.ts";
import { lockHeader, saveTransition } from "./advance.ts";
import { takeTimer, type TimerChanges } from "./timers.ts";

let platform: TestPlatform;
let run: { readonly accountId: Uuid; readonly id: Uuid };
let revision: number;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
});
after(() => platform?.stop());

async function begin(): Promise<State> {
  const [accountId, id] = [fromWire(platform.accountId), fromWire(await startRun(platform, "one"))];
  assert.ok(accountId && id);
  run = { accountId, id };
  const stored = await lockHeader(platform.db, run);
  assert.ok(stored);
  ({ revision } = stored);
  return stored.header as State;
}

const NOTHING: TimerChanges = { started: [], stopped: [] };

/** Saves a state as the next revision. */
const save = (db: Store, to: State, timers = NOTHING, of = run): Promise<void> =>
  saveTransition(db, of, {
    state: to,
    revision: (revision += 1),
    recent: [],
    nodes: [],
    timers,
    stageStates: undefined,
  });
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
    await save(platform.db, { ...state, status, endedAt: 7 });
    const before = await snapshot(platform);
    const timers: TimerChanges = { started: [{ node: run.id, purpose: "wait", at: 1 }], stopped: [] };
    const again = platform.db.transaction((tx) => save(tx, { ...state, status: "running" }, timers));
    await assert.rejects(again, /has ended, or another event has changed it/);
    assert.equal(await snapshot(platform), before);
  });
}

for (const status of open) {
  test(`an execution that is ${status} may go on`, async () => {
    const state = await begin();
    await save(platform.db, { ...state, status });
    await save(platform.db, { ...state, status: "succeeded" });
  });
}

test("another account's execution is not found, let alone changed", async () => {
  const state = await begin();
  const before = await snapshot(platform);
  const other = fromWire((await platform.addAccount()).accountId);
  assert.ok(other);
  const foreign = { ...run, accountId: other };
  assert.equal(await lockHeader(platform.db, foreign), undefined);
  await assert.rejects(save(platform.db, { ...state, status: "failed" }, NOTHING, foreign));
  assert.equal(await snapshot(platform), before);
});

test("a state that is not the next one is refused: another event has come between", async () => {
  const state = await begin();
  revision += 1;
  await assert.rejects(save(platform.db, state), /another event has changed it/);
});

test("a timer is taken once", async () => {
  await begin();
  const [timer] = await platform.db.query<{ nodeId: Uuid; at: number }>(
    `select node_id as "nodeId", due_at as at from execution_timers where execution_id = $1`,
    [run.id],
  );
  assert.ok(timer);
  const due = { ...timer, accountId: run.accountId, executionId: run.id, purpose: "timeout" as const };
  const earlier = { ...due, at: due.at - 1 };
  assert.equal(await platform.db.transaction((tx) => takeTimer(tx, earlier)), false, "started anew since it was found");
  const taken = await Promise.all([1, 2, 3].map(() => platform.db.transaction((tx) => takeTimer(tx, due))));
  assert.deepEqual(taken.filter(Boolean), [true]);
});
