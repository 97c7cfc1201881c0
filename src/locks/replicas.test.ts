/** Many executions and keys at once on two replicas: one holder, in order, no deadlock, and nothing is left. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addStagesPipeline, queueStep, stageOf, waitStep } from "../../test/support/locks.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { abortRun, createPipelines, detailOf, startRun } from "../../test/support/runs.ts";
import { recordedLog } from "../../test/support/watch.ts";

const KEYS = ["a", "b", "c"];
const ROUNDS = 12;
const AT_ONCE = 6;

const log = recordedLog();
let replicas: readonly TestPlatform[];
before(async () => {
  const first = await startTestPlatform({ logTo: log.stream });
  replicas = [first, await first.replica()];
  await createPipelines(first);
  for (const one of KEYS) {
    const stage = (name: string, key: string): object => {
      const lock = queueStep(`${name}_lock`, key, "Stage", "3h");
      return stageOf({ id: name, steps: [lock, waitStep(`${name}_work`, "10m")] });
    };
    // Each asks for two keys at the same time, so that executions hold what others wait for.
    const other = KEYS[(KEYS.indexOf(one) + 1) % KEYS.length] ?? one;
    const stages = [{ parallel: [stage("x", one), stage("y", other)] }];
    await addStagesPipeline(first, { id: `many_${one}`, stages });
  }
});
after(() => replicas?.[0]?.stop());

/** Numbers that follow from the seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const at = (nth: number): TestPlatform => replicas[nth % replicas.length] ?? assert.fail();
const sweepAll = (): Promise<unknown> => Promise.all(replicas.map(({ platform }) => platform.sweep()));

/** Nodes that have a key beside each other. */
const DOUBLE = `select a.key from execution_locks a join execution_locks b
    on b.account_id = a.account_id and b.kind = a.kind and b.key = a.key and b.turn > a.turn
  where a.granted_at is not null and b.granted_at is not null`;
/** Keys that are free or passed on, although an earlier request waits. Requests at the same time have no order. */
const UNJUST = `select w.key from execution_locks w
  where w.granted_at is null and not exists (
    select 1 from execution_locks g
     where g.account_id = w.account_id and g.kind = w.kind and g.key = w.key and g.granted_at is not null
       and g.requested_at <= w.requested_at)`;

test("executions of two replicas take turns", { timeout: 120_000 }, async () => {
  const number = numbers(7);
  const running: string[] = [];
  const { db, clock } = at(0);
  const watching = new AbortController();
  const watched = (async () => {
    while (!watching.signal.aborted) assert.deepEqual(await db.query(DOUBLE), [], "two hold a lock");
  })();
  for (let round = 0; round < ROUNDS; round += 1) {
    clock.advance(1 + number(3) * 300_000);
    const aborted = running.splice(0, number(4));
    const started = Array.from({ length: AT_ONCE }, (_, nth) =>
      startRun(at(nth), `many_${KEYS[number(KEYS.length)] ?? ""}`),
    );
    const ended = aborted.map((id, nth) => abortRun(at(nth), id));
    await Promise.all([sweepAll(), ...started, ...ended]);
    running.push(...(await Promise.all(started)));
    await sweepAll();
    assert.deepEqual(await db.query(UNJUST), []);
  }
  while ((await db.query("select 1 from execution_locks")).length > 0) {
    clock.advance(600_000);
    await sweepAll();
  }
  watching.abort();
  await watched;
  for (const id of running) {
    const { status } = await detailOf(at(0), id);
    assert.ok(["Success", "Expired"].includes(status), status);
  }
  assert.deepEqual(log.errors(), []);
});
