/** Deliveries that take long: neither begun again by the server that has them in hand, nor in the way of others. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import {
  create,
  eventually,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import type { Db, Query } from "../../platform/db/db.ts";
import { problem } from "../../platform/db/problems.ts";
import { findPendingDeliveries } from "../store/triggers.ts";

let platform: TestPlatform;
/** While set, reads of the pipeline `slow` wait for it. */
let gate: PromiseWithResolvers<void> | undefined;
let waiting = 0;
const hold =
  (query: Query): Query =>
  async (text, values) => {
    if (gate && /\bpipeline_versions v\b/.test(text) && values?.includes("slow")) {
      waiting += 1;
      await gate.promise;
    }
    return query(text, values);
  };

before(async () => {
  platform = await startTestPlatform({ wrapDb: (db: Db): Db => ({ ...db, query: hold(db.query) }) });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
});
after(() => platform?.stop());
afterEach(() => {
  gate?.resolve();
  gate = undefined;
  waiting = 0;
});

async function hook(pipeline: string): Promise<URL> {
  await made(create.pipeline(platform, pipelineYaml(pipeline)));
  return new URL((await made(create.trigger(platform, pipeline, triggerYaml(pipeline, pipeline)))).webhookUrl);
}
const call = async ({ pathname, search }: URL): Promise<void> =>
  made(platform.send("POST", pathname + search, { body: "{}", contentType: JSON_TYPE, apiKey: null }));

/** As a server leaves one that was killed. */
const leave = (trigger: string): Promise<unknown> =>
  platform.db.query(
    `insert into webhook_deliveries (account_id, id, correlation_id, trigger_id, headers, payload, received_at, message)
     select account_id, uuidv7(), gen_random_uuid()::text, id, '{}', '{}', 0, '' from triggers where identifier = $1`,
    [trigger],
  );
async function unprocessed(trigger: string): Promise<number> {
  const [row] = await platform.db.query<{ n: number }>(
    `select count(*) as n from webhook_deliveries d join triggers t on t.id = d.trigger_id
      where t.identifier = $1 and d.processed_at is null`,
    [trigger],
  );
  return row?.n ?? -1;
}
const settled = (trigger: string): Promise<true> =>
  eventually(async () => {
    await platform.send("GET", "/health/live");
    return (await unprocessed(trigger)) === 0 || undefined;
  });
const begun = (count: number): Promise<true> =>
  eventually(async () => {
    await platform.send("GET", "/health/live");
    return waiting >= count || undefined;
  });

let slow: URL;
test("a sweep does not start active deliveries again, and finds the next one behind any number of them", async () => {
  slow = await hook("slow");
  await hook("quick");
  gate = Promise.withResolvers();
  for (let nth = 0; nth < 10; nth += 1) await Promise.all(Array.from({ length: 10 }, () => call(slow)));
  await begun(100);
  await leave("quick");
  platform.clock.advance(2_001);
  await platform.platform.sweep();
  assert.equal(waiting, 100);
  assert.deepEqual([await unprocessed("slow"), await unprocessed("quick")], [100, 0]);
  gate.resolve();
  await settled("slow");
  const [runs] = await platform.db.query("select count(*) as n from executions");
  assert.deepEqual(runs, { n: 101 });
});

test("one that takes long is not in the way of others that wait; the sweep is over when all are", async () => {
  gate = Promise.withResolvers();
  for (const trigger of ["slow", "quick", "quick", "quick", "quick", "quick"]) await leave(trigger);
  let isOver = false;
  const sweep = platform.platform.sweep().then(() => (isOver = true));
  await settled("quick");
  assert.deepEqual([isOver, await unprocessed("slow")], [false, 1]);
  gate.resolve();
  await sweep;
  assert.equal(await unprocessed("slow"), 0);
});

test("starts that wait for the run number of one pipeline do not delay the start of another one", async () => {
  await hook("locked");
  await hook("free");
  // The first start creates the row of the run number.
  await leave("locked");
  await platform.platform.sweep();
  let sweep: Promise<void> | undefined;
  await platform.db.transaction(async (tx) => {
    await tx.query(
      `select 1 from execution_sequences s join pipelines p on p.id = s.pipeline_id
        where p.identifier = 'locked' for update of s`,
    );
    // More than a sweep reads.
    for (let nth = 0; nth < 101; nth += 1) await leave("locked");
    await leave("free");
    sweep = platform.platform.sweep();
    await settled("free");
    assert.equal(await unprocessed("locked"), 101);
    // A sweep begins further starts of a trigger only for a time, so that the next sweep is not late.
    platform.clock.advance(2_001);
  });
  await sweep;
  assert.equal(await unprocessed("locked"), 100);
  await platform.platform.sweep();
  assert.equal(await unprocessed("locked"), 0);
});

test("of the many that wait for one trigger, one is begun at a time", async () => {
  gate = Promise.withResolvers();
  for (let nth = 0; nth < 12; nth += 1) await leave("slow");
  await leave("quick");
  const sweep = platform.platform.sweep();
  await begun(1);
  await settled("quick");
  assert.equal(waiting, 1);
  gate.resolve();
  await sweep;
  assert.deepEqual([waiting, await unprocessed("slow")], [12, 0]);
});

test("the next sweep processes a delivery that failed while the database was unavailable", async () => {
  gate = Promise.withResolvers();
  await call(slow);
  await begun(1);
  platform.clock.advance(2_001);
  const away = gate;
  gate = undefined;
  away.reject(problem("db.unavailable"));
  await eventually(async () => {
    await platform.platform.sweep();
    return (await unprocessed("slow")) === 0 || undefined;
  });
});

test("a sweep takes bodies into memory up to a number of bytes, the oldest always", async () => {
  for (let nth = 0; nth < 4; nth += 1) await leave("slow");
  await platform.db.query("update webhook_deliveries set payload = repeat('x', 10) where processed_at is null");
  const taken = async (mostBytes: number): Promise<number> =>
    (await findPendingDeliveries(platform.db, 1, [], mostBytes)).length;
  assert.deepEqual(
    [await taken(1), await taken(10), await taken(11), await taken(30), await taken(31)],
    [1, 1, 2, 3, 4],
  );
  const [first, second] = await findPendingDeliveries(platform.db, 1, []);
  assert.ok(first && second);
  assert.ok(first.id < second.id, "oldest first");
  assert.equal((await findPendingDeliveries(platform.db, 1, [first.id], 11))[0]?.id, second.id);
});
