/** A delivery whose execution takes long to start is processed by the sweep at the same time, and still runs once. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "../../support/clients/client.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { until } from "../../support/until.ts";

let platform: TestPlatform;

before(async () => {
  platform = await startTestPlatform();
});

after(() => platform?.stop());

const WAITING = "select 1 from pg_locks where relation = 'execution_sequences'::regclass and not granted";

const AT_WORK =
  "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null";

test("the replica that took the delivery and the sweep start one execution", async () => {
  const client = createClient({ ...platform, baseUrl: platform.url });
  await client.makeProject();
  await client.makePipeline(pipelineOf("slow", step("one", "echo one")));
  const webhook = await client.makeWebhook("slow");
  let sweep: Promise<void> = Promise.resolve();
  await platform.db.transaction(async (tx) => {
    await tx.query("lock table execution_sequences in exclusive mode");
    const called = await fetch(webhook, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    assert.equal(called.status, 200);
    await until(
      () => tx.query(WAITING),
      (rows) => rows.length === 1,
    );
    platform.clock.advance(60_000);
    sweep = platform.platform.sweep();
    // The sweep skips the delivery or waits for the same lock.
    await Promise.race([
      sweep,
      until(
        () => tx.query(WAITING),
        (rows) => rows.length === 2,
      ),
    ]);
  });
  await sweep;
  // The slower one may still be working.
  await until(
    () => platform.db.query(AT_WORK),
    (rows) => rows.length === 0,
  );
  assert.deepEqual(await platform.db.query("select count(*) as n from executions"), [{ n: 1 }]);
  assert.deepEqual(await platform.db.query("select count(*) as n from webhook_deliveries where processed_at is null"), [
    { n: 0 },
  ]);
});
