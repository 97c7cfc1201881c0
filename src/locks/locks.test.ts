/** Locks on a real database: order, scopes, ends, lost replicas, and what readers see. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { addStagesPipeline, passLocks, queueStep, stageOf, waitingOf, waitStep } from "../../test/support/locks.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { abortRun, createPipelines, detailOf, startRun, statusesOf } from "../../test/support/runs.ts";
import { adminOf } from "../../test/support/secrets.ts";
import { until } from "../../test/support/until.ts";
import { fromWire } from "../core/ids.ts";
import type { GetListed } from "../executions/index.ts";
import type { LockKey } from "./lock.ts";
import { createServing, type ServeDeps } from "./serve.ts";
import { findLockReasons } from "./reasons.ts";
import { lockKey } from "./store.ts";

const HOUR = 3_600_000;

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
});
after(() => platform?.stop());
afterEach(async () => {
  await passLocks(platform, 24 * HOUR);
  await passLocks(platform, 24 * HOUR);
  assert.deepEqual(await locks(), [], "a lock is left");
});

const locks = (): Promise<readonly object[]> => platform.db.query("select key from execution_locks");

let count = 0;
/** A pipeline of stages with these steps; answers its identifier. */
async function pipeline(...stages: readonly (readonly object[])[]): Promise<string> {
  const id = `q${(count += 1)}`;
  await addStagesPipeline(platform, { id, stages: stages.map((steps, nth) => stageOf({ id: `s${nth}`, steps })) });
  return id;
}

async function started(id: string): Promise<string> {
  const execution = await startRun(platform, id);
  await passLocks(platform);
  return execution;
}

test("executions get a lock in the order of their requests; the reason says for whom they wait", async () => {
  const id = await pipeline([queueStep("lock", "prod", "Stage"), waitStep("work")]);
  const [first, second, third] = [await started(id), await started(id), await started(id)];
  assert.equal(await statusesOf(platform, first, "lock", "work"), "Running lock:Success work:TimedWaiting");
  const reason = (position: number): string =>
    `ResourceWaiting: Waits for the lock 'prod', which execution 1 of pipeline '${id}' uses. Position in the queue: ${position}.`;
  assert.deepEqual(await waitingOf(platform, second, "lock"), [reason(1)]);
  assert.deepEqual(await waitingOf(platform, third, "lock"), [reason(2)]);
  await passLocks(platform, 5 * 60_000);
  await abortRun(platform, first);
  await passLocks(platform);
  assert.equal(await statusesOf(platform, second, "lock", "work"), "Running lock:Success work:TimedWaiting");
  assert.equal(
    (await waitingOf(platform, third, "lock"))[0],
    `ResourceWaiting: Waits for the lock 'prod', which execution 2 of pipeline '${id}' uses. Position in the queue: 1.`,
  );
  await abortRun(platform, second);
  await passLocks(platform);
  await passLocks(platform, HOUR);
  assert.equal(await statusesOf(platform, third, "lock", "work"), "Success lock:Success work:Success");
});

test("a lock is free at the end of its scope, and keys with expressions are other locks", async () => {
  const key = "<+pipeline.name>/x";
  const stage = await pipeline([queueStep("lock", key, "Stage")], [waitStep("work")]);
  const one = await started(stage);
  assert.equal(await statusesOf(platform, one, "lock", "work"), "Running lock:Success work:TimedWaiting");
  assert.deepEqual(await locks(), []);
  const whole = await pipeline([queueStep("lock", key, "Pipeline")], [waitStep("work")]);
  const two = await started(whole);
  assert.equal(await statusesOf(platform, two, "lock", "work"), "Running lock:Success work:TimedWaiting");
  assert.deepEqual(await locks(), [{ key: `${whole}/x` }]);
});

test("who holds a lock gets it again at once, in both orders of the scopes, past those that wait", async () => {
  const id = await pipeline(
    [queueStep("a", "k", "Stage"), waitStep("hold"), queueStep("b", "k", "Pipeline"), queueStep("c", "k", "Stage")],
    [queueStep("d", "k", "Stage"), queueStep("e", "k", "Pipeline")],
  );
  const [holder, waiting] = [await started(id), await started(id)];
  assert.match((await waitingOf(platform, waiting, "a"))[0] ?? "", /^ResourceWaiting/);
  await passLocks(platform, 9 * 60_000);
  assert.match((await waitingOf(platform, waiting, "a"))[0] ?? "", /Position in the queue: 1/);
  await platform.db.query("update execution_timers set due_at = $1 where execution_id = $2 and purpose = 'wait'", [
    platform.clock.now(),
    fromWire(holder),
  ]);
  await passLocks(platform);
  await passLocks(platform);
  assert.equal((await detailOf(platform, holder)).status, "Success");
  assert.equal(await statusesOf(platform, waiting, "a"), "Running a:Success");
});

test("parallel stages of an execution take turns, also below a lock of the pipeline", async () => {
  const id = `q${(count += 1)}`;
  const stage = (name: string): object =>
    stageOf({ id: name, steps: [queueStep(`${name}_lock`, "t", "Stage", "3h"), waitStep(`${name}_work`)] });
  const all = stageOf({ id: "all", steps: [queueStep("all_lock", "t", "Pipeline")] });
  await addStagesPipeline(platform, { id, stages: [all, { parallel: [stage("x"), stage("y")] }] });
  const execution = await started(id);
  assert.deepEqual(await waitingOf(platform, execution, "x_lock", "y_lock"), [
    "Success",
    "ResourceWaiting: Waits for the lock 't', which this execution itself uses. Position in the queue: 1.",
  ]);
  await passLocks(platform, HOUR);
  await passLocks(platform);
  assert.equal(await statusesOf(platform, execution, "y_lock", "y_work"), "Running y_lock:Success y_work:TimedWaiting");
  await passLocks(platform, HOUR);
  assert.equal((await detailOf(platform, execution)).status, "Success");
});

test("many nodes of an execution that wait for one lock cost little more than one", async () => {
  const id = `q${(count += 1)}`;
  const step = { ...(queueStep("lock", "wide", "Pipeline", "3h") as { step: object }).step };
  const looped = { step: { ...step, strategy: { repeat: { times: 120 } } } };
  await addStagesPipeline(platform, { id, stages: [stageOf({ id: "s", steps: [looped, waitStep("work")] })] });
  const holder = await started(await pipeline([queueStep("lock", "wide", "Pipeline"), waitStep("work")]));
  const waiting = await started(id);
  let asked = 0;
  const findReasons = findLockReasons({
    db: platform.db,
    getExecution: (async () => {
      asked += 1;
      return { pipelineIdentifier: "other", runSequence: 1 };
    }) as unknown as GetListed,
  });
  const reasons = await findReasons(adminOf(platform), fromWire(waiting) ?? assert.fail());
  assert.deepEqual([reasons.size, asked], [120, 1]);
  assert.match([...reasons.values()].at(-1) ?? "", /execution 1 of pipeline .* Position in the queue: 120\.$/);
  await abortRun(platform, holder);
  // A key is given some answers at a time.
  for (let round = 0; round < 4; round += 1) await passLocks(platform);
  assert.equal(await statusesOf(platform, waiting, "work"), "Running work:TimedWaiting");
});

test("who waits can be aborted, and expires by the timeout of the step; the next one goes on", async () => {
  const id = await pipeline([queueStep("lock", "w", "Pipeline", "10m"), waitStep("work", "3h")]);
  const [holder, aborted, expired] = [await started(id), await started(id), await started(id)];
  await abortRun(platform, aborted);
  assert.equal(await statusesOf(platform, aborted, "lock"), "Aborted lock:Aborted");
  await passLocks(platform, 10 * 60_000);
  assert.equal(await statusesOf(platform, expired, "lock"), "Expired lock:Expired");
  const last = await started(id);
  assert.match((await waitingOf(platform, last, "lock"))[0] ?? "", /execution 1 of .* Position in the queue: 1\.$/);
  await abortRun(platform, holder);
  await passLocks(platform);
  assert.equal(await statusesOf(platform, last, "lock"), "Running lock:Success");
});

test("a retry after the timeout asks anew, at the end of the queue", async () => {
  const id = `q${(count += 1)}`;
  const action = { type: "Retry", spec: { retryCount: 1, retryIntervals: ["1s"] } };
  const again = { failureStrategies: [{ onFailure: { errors: ["Timeout"], action } }] };
  const step = { ...(queueStep("lock", "r", "Pipeline", "10m") as { step: object }).step, ...again };
  await addStagesPipeline(platform, { id, stages: [stageOf({ id: "s", steps: [{ step }, waitStep("work", "3h")] })] });
  const [holder, waiting] = [await started(id), await started(id)];
  await passLocks(platform, 5 * 60_000);
  const later = await started(id);
  await passLocks(platform, 5 * 60_000);
  await passLocks(platform, 1_000);
  assert.match((await waitingOf(platform, waiting, "lock"))[0] ?? "", /Position in the queue: 2/);
  await abortRun(platform, holder);
  await passLocks(platform);
  assert.equal(await statusesOf(platform, later, "lock"), "Running lock:Success");
  await abortRun(platform, later);
  await passLocks(platform);
  assert.equal(await statusesOf(platform, waiting, "lock"), "Running lock:Success");
});

test("what a lost replica has left is done by the sweep: the grant, and its answer", async () => {
  const id = await pipeline([queueStep("lock", "lost", "Pipeline", "3h"), waitStep("work")]);
  const [holder, waiting] = [await started(id), await started(id)];
  // The replica died before the grant that follows from a release.
  await platform.db.query("delete from execution_locks where execution_id = $1", [fromWire(holder)]);
  await passLocks(platform);
  assert.equal(await statusesOf(platform, waiting, "lock"), "Running lock:Success");
  const last = await started(id);
  // The replica died before the answer that follows from a grant.
  await platform.db.query("delete from execution_locks where execution_id = $1", [fromWire(waiting)]);
  await platform.db.query("update execution_locks set granted_at = 1 where execution_id = $1", [fromWire(last)]);
  await passLocks(platform);
  assert.equal(await statusesOf(platform, last, "lock"), "Running lock:Success");
});

/** A grant of which its execution has not been told, as a lost replica leaves it; the key is no other's. */
async function grantUntold(execution: string, holder: string): Promise<void> {
  await platform.db.query("delete from execution_locks where execution_id = $1", [fromWire(holder)]);
  await platform.db.query("update execution_locks set granted_at = 1 where execution_id = $1", [fromWire(execution)]);
}

/** A replica whose executions say `effect`, and the nodes that it has answered. `first` runs before it locks one. */
function serving(effect: "taken" | "not waiting", first: () => Promise<void> = async () => {}) {
  const answered: string[] = [];
  const lockToAnswer: ServeDeps["lockToAnswer"] = async (_, work) => {
    await first();
    const answer = async (node: string): Promise<typeof effect> => {
      answered.push(node);
      return effect;
    };
    return platform.db.transaction((tx) => work(tx, { hasEnded: false, executors: [], answer }));
  };
  const { db, clock } = platform;
  return { answered, ...createServing({ db, clock, lockToAnswer, onError: (error) => assert.fail(String(error)) }) };
}

test("of two replicas that have found a grant, the second one answers nothing", async () => {
  const id = await pipeline([queueStep("lock", "twice", "Pipeline", "3h"), waitStep("work")]);
  const [holder, waiting] = [await started(id), await started(id)];
  await grantUntold(waiting, holder);
  const late = serving("taken", () => platform.platform.sweep());
  await late.sweep();
  assert.deepEqual(late.answered, []);
  assert.equal(await statusesOf(platform, waiting, "lock"), "Running lock:Success");
});

test("no grant waits for a transaction that is deleting the request", { timeout: 60_000 }, async () => {
  const id = await pipeline([queueStep("lock", "deleting", "Pipeline", "3h"), waitStep("work")]);
  const [holder, waiting] = [await started(id), await started(id)];
  await platform.db.transaction(async (tx) => {
    await tx.query("select 1 from execution_locks where execution_id = $1 for update", [fromWire(waiting)]);
    await platform.db.query("delete from execution_locks where execution_id = $1", [fromWire(holder)]);
    // Waiting for the row would end as an error.
    const replica = serving("taken");
    await replica.sweep();
    assert.deepEqual(replica.answered, []);
  });
  await platform.platform.sweep();
  assert.equal(await statusesOf(platform, waiting, "lock"), "Running lock:Success");
});

test("the sweep leaves out a key that another transaction has locked", { timeout: 60_000 }, async () => {
  const id = await pipeline([queueStep("lock", "held", "Pipeline", "3h"), waitStep("work")]);
  const [holder, waiting] = [await started(id), await started(id)];
  await platform.db.query("delete from execution_locks where execution_id = $1", [fromWire(holder)]);
  const replica = serving("taken");
  const key: LockKey = { accountId: fromWire(platform.accountId) ?? assert.fail(), kind: "step", key: "held" };
  await platform.db.transaction(async (tx) => {
    await lockKey(tx, key);
    // With waiting, it would end after this transaction alone.
    await replica.sweep();
    assert.deepEqual(replica.answered, []);
  });
  await platform.platform.sweep();
  assert.equal(await statusesOf(platform, waiting, "lock"), "Running lock:Success");
});

test("a grant that its node does not wait for any more is taken back, and the next request gets the lock", async () => {
  const id = await pipeline([queueStep("lock", "gone", "Pipeline", "3h"), waitStep("work")]);
  const [holder, gone] = [await started(id), await started(id), await started(id)];
  await grantUntold(gone, holder);
  const replica = serving("not waiting");
  await replica.sweep();
  await replica.idle();
  assert.equal(replica.answered.length, 2, "it goes on with the next one");
  assert.deepEqual(await locks(), []);
});

test("the end of a holder leads to the next grant at once, without a sweep", async () => {
  const id = await pipeline([queueStep("lock", "soon", "Pipeline", "3h"), waitStep("work")]);
  const [holder, waiting] = [await started(id), await started(id)];
  await abortRun(platform, holder);
  await until(
    () => statusesOf(platform, waiting, "lock"),
    (status) => status === "Running lock:Success",
  );
});

test("an execution that cannot be advanced gives its locks back", async () => {
  const id = await pipeline([queueStep("lock", "bad", "Pipeline"), waitStep("work")]);
  const [holder, waiting] = [await started(id), await started(id)];
  await platform.db.query("update executions set header = '[]' where id = $1", [fromWire(holder)]);
  await abortRun(platform, holder);
  await passLocks(platform);
  assert.equal((await detailOf(platform, holder)).status, "Errored");
  assert.equal(await statusesOf(platform, waiting, "lock"), "Running lock:Success");
});

test("an execution that is damaged while it waits ends, and the next one goes on", async () => {
  const id = await pipeline([queueStep("lock", "hurt", "Pipeline"), waitStep("work")]);
  const [holder, damaged, last] = [await started(id), await started(id), await started(id)];
  await platform.db.query("update executions set header = '[]' where id = $1", [fromWire(damaged)]);
  await abortRun(platform, holder);
  await passLocks(platform);
  assert.equal((await detailOf(platform, damaged)).status, "Errored");
  assert.equal(await statusesOf(platform, last, "lock"), "Running lock:Success");
});

test("grants of a key take turns: who has decided is seen by the next", async () => {
  const id = await pipeline([queueStep("lock", "turns", "Pipeline", "3h"), waitStep("work")]);
  const holder = await started(id);
  const [first, second] = [await started(id), await started(id)];
  const key: LockKey = { accountId: fromWire(platform.accountId) ?? assert.fail(), kind: "step", key: "turns" };
  await platform.db.transaction(async (tx) => {
    await lockKey(tx, key);
    await abortRun(platform, holder);
    const sweep = platform.platform.sweep();
    await until(
      () => platform.db.query("select 1 from pg_locks where locktype = 'advisory' and not granted"),
      ({ length }) => length > 0,
    );
    // Another replica has decided for the second one.
    await tx.query("update execution_locks set granted_at = 1 where execution_id = $1", [fromWire(second)]);
    tx.afterCommit(() => void sweep);
  });
  await passLocks(platform);
  assert.match((await waitingOf(platform, first, "lock"))[0] ?? "", /which execution 3 /);
  assert.equal(await statusesOf(platform, second, "lock"), "Running lock:Success");
});

test("a free lock is granted with its request, unless another transaction decides about the key just now", async () => {
  const id = await pipeline([queueStep("lock", "free", "Stage", "3h"), waitStep("work")]);
  const key: LockKey = { accountId: fromWire(platform.accountId) ?? assert.fail(), kind: "step", key: "free" };
  const waiting = await platform.db.transaction(async (tx) => {
    await lockKey(tx, key);
    const run = await startRun(platform, id);
    assert.match((await waitingOf(platform, run, "lock"))[0] ?? "", /, which is being granted\. .* queue: 1\.$/);
    return run;
  });
  await passLocks(platform);
  assert.equal(await statusesOf(platform, waiting, "lock"), "Running lock:Success");
  await passLocks(platform, HOUR);
  const free = await startRun(platform, id);
  assert.equal(await statusesOf(platform, free, "lock"), "Running lock:Success");
});

test("locks of two accounts are apart", async () => {
  const id = await pipeline([queueStep("lock", "apart", "Pipeline"), waitStep("work")]);
  const { accountId, apiKey } = await platform.addAccount();
  const send: TestPlatform["send"] = (method, path, options) =>
    platform.send(method, path, { ...options, apiKey, account: accountId });
  await createPipelines({ send });
  const stages = [stageOf({ id: "s", steps: [queueStep("lock", "apart", "Pipeline"), waitStep("work")] })];
  await addStagesPipeline({ send }, { id, stages });
  await started(id);
  const execution = await startRun({ send }, id);
  await passLocks(platform);
  assert.equal(await statusesOf({ send }, execution, "lock"), "Running lock:Success");
});

test("readers who may not see the other execution are told nothing of it", async () => {
  const elsewhere: TestPlatform["send"] = (method, path, options) =>
    platform.send(method, path.replace("projectIdentifier=p", "projectIdentifier=q"), {
      ...options,
      ...(typeof options?.body === "string" && {
        body: options.body
          .replace('"projectIdentifier":"p"', '"projectIdentifier":"q"')
          .replace('{"project":{"name":"P","identifier":"p"', '{"project":{"name":"Q","identifier":"q"'),
      }),
    });
  await createPipelines({ send: elsewhere });
  const stages = [stageOf({ id: "s", steps: [queueStep("lock", "hidden", "Pipeline"), waitStep("work")] })];
  await addStagesPipeline({ send: elsewhere }, { id: "hidden", stages });
  await startRun({ send: elsewhere }, "hidden");
  const waiting = await started(await pipeline([queueStep("lock", "hidden", "Pipeline")]));
  const reader = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "p" });
  const asReader: TestPlatform["send"] = (method, path) => platform.send(method, path, { apiKey: reader });
  assert.match((await waitingOf({ send: asReader }, waiting, "lock"))[0] ?? "", /, which another execution uses\./);
  assert.match(
    (await waitingOf(platform, waiting, "lock"))[0] ?? "",
    /, which execution 1 of pipeline 'hidden' uses\./,
  );
});

test("a key that an expression makes too long or empty fails the step", async () => {
  const long = "<+pipeline.name>".repeat(200);
  const id = await pipeline([queueStep("lock", long, "Stage")]);
  const { step } = await detailOf(platform, await started(id));
  assert.match(step("lock")["failureInfo"].message, /at most 256 characters/);
  const none = await pipeline([queueStep("lock", `<+pipeline.name.replace(pipeline.name, "")>`, "Stage")]);
  assert.match((await detailOf(platform, await started(none))).step("lock")["failureInfo"].message, /is not empty/);
});
