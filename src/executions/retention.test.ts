/** What the retention deletes and what it keeps, by a clock that the test drives. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { pretendDelegate, type PretendDelegate } from "../../test/support/pretend-delegate.ts";
import { abortRun, addPipeline, detailOf, createPipelines, logOf, startRun } from "../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { until } from "../../test/support/until.ts";

const DAY_MS = 86_400_000;
let platform: TestPlatform;
let delegate: PretendDelegate;

before(async () => {
  platform = await startTestPlatform();
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 64 });
  await delegate.next("welcome");
  const waits = { id: "waits", steps: [{ id: "go", selectors: ["nowhere"], timeout: "53w" }] };
  await createPipelines(platform, { id: "runs", steps: [{ id: "go", timeout: "53w" }] }, waits);
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});
afterEach(() => platform.db.query("delete from settings"));

async function set(values: Readonly<Record<string, number>>): Promise<void> {
  const body = Object.entries(values).map(([identifier, value]) => ({
    ...{ identifier, value: String(value), allowOverrides: true, updateType: "UPDATE" },
  }));
  const answer = await platform.send("PUT", "/ng/api/settings", {
    contentType: "application/json",
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200, answer.text);
}

/** An execution that ran and wrote a log. */
async function finished(pipeline = "runs"): Promise<string> {
  const id = await startRun(platform, pipeline);
  const run = await delegate.next("run");
  delegate.finish(run, { output: `log of ${id}\n` });
  await delegate.next("finishedAck");
  return id;
}

/** An execution whose step no delegate takes. */
const waiting = (): Promise<string> => startRun(platform, "waits");

/** After this time, the sweep; the delegate stays connected meanwhile. */
async function sweepAfter(ms: number): Promise<void> {
  platform.clock.advance(ms);
  await platform.platform.sweep();
}

const statusOf = async (id: string): Promise<number> =>
  (await platform.send("GET", `/pipeline/api/pipelines/execution/${id}`)).status;

const total = async (table: string): Promise<number> =>
  (await platform.db.query<{ n: number }>(`select count(*) as n from ${table}`))[0]?.n ?? 0;

test("what ended a year ago goes with its log and its task; what waits stays, however old, and can still run", async () => {
  const old = await finished();
  const open = await waiting();
  await sweepAfter(364 * DAY_MS);
  assert.equal(await statusOf(old), 200);
  const young = await finished();
  await sweepAfter(2 * DAY_MS);
  assert.deepEqual([await statusOf(old), await statusOf(open), await statusOf(young)], [404, 200, 200]);
  for (const table of ["executions", "tasks"]) assert.equal(await total(table), 2, table);
  const marks = "(select distinct execution_id from execution_marks) as marked";
  assert.deepEqual([await total(marks), await total("log_chunks"), await total("log_streams")], [2, 1, 2]);
  const [entry] = await platform.db.query<{ difference: { changes: readonly unknown[] } }>(
    "select difference from audit_entries where operation = 'execution.retention'",
  );
  assert.deepEqual(entry?.difference.changes[0], { field: "executions", after: 1 });

  const taker = await pretendDelegate({
    ...{ url: platform.url, token: await platform.delegateToken(), name: "nowhere" },
  });
  const run = await taker.next("run");
  taker.finish(run, { output: "late\n" });
  await taker.next("finishedAck");
  await taker.close();
  assert.equal((await detailOf(platform, open)).status, "Success");
  assert.equal(await logOf(platform, open), "late\n");
});

test("logs go before their executions, and reading one says so", async () => {
  const old = await finished();
  const open = await waiting();
  await sweepAfter(89 * DAY_MS);
  assert.match(await logOf(platform, old), /^log of/);
  const young = await finished();
  const recorded = await total("audit_entries where operation = 'log.retention'");
  await sweepAfter(2 * DAY_MS);
  const { status } = await detailOf(platform, old);
  assert.equal(status, "Success");
  for (const path of ["logs", "logs/stream"]) {
    const answer = await platform.send("GET", `/pipeline/api/pipelines/execution/${old}/${path}`);
    assert.equal(answer.status, 404);
    assert.match(answer.body.message, /The log of execution .* was deleted on .*log_retention_days/);
  }
  assert.match(await logOf(platform, young), /^log of/);
  assert.equal(await total("audit_entries where operation = 'log.retention'"), recorded + 1);
  assert.equal(await logOf(platform, open), "");
  await abortRun(platform, open);
});

test("of each pipeline the newest stay, beside what still runs", async () => {
  await addPipeline(platform, { id: "many", steps: [{ id: "go", timeout: "53w" }] });
  const others = await finished();
  const first = await startRun(platform, "many");
  const run = await delegate.next("run");
  const ids: string[] = [];
  for (let nth = 0; nth < 5; nth += 1) ids.push(await finished("many"));
  await set({ execution_retention_count: 2 });
  await sweepAfter(3_601_000);
  const found = await Promise.all([first, ...ids].map(statusOf));
  assert.deepEqual(found, [200, 404, 404, 404, 200, 200]);
  assert.equal(await statusOf(others), 200, "another pipeline has its own");
  delegate.finish(run);
  await delegate.next("finishedAck");
  assert.equal((await detailOf(platform, first)).status, "Success");
});

test("0 keeps everything", async () => {
  const old = await finished();
  await set({ execution_retention_days: 0, execution_retention_count: 0, log_retention_days: 0 });
  await sweepAfter(2_000 * DAY_MS);
  assert.match(await logOf(platform, old), /^log of/);
});

test("many go in batches, and nothing waits for what another transaction holds", async () => {
  const model = await finished();
  await platform.db.query(
    `insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, header,
                             trigger_type, triggered_by, created_at, started_at, ended_at)
     select account_id, gen_random_uuid(), project_id, pipeline_id, pipeline_version, run_sequence + nth, status, plan, header,
            trigger_type, triggered_by, created_at, started_at, ended_at
       from executions, generate_series(1, 249) as nth
      where (pipeline_id, run_sequence) in (select pipeline_id, last from execution_sequences order by last desc)
        and id = (select id from executions order by id desc limit 1)`,
  );
  const before = await total("executions");
  assert.ok(before >= 250, String(before));
  const [held] = await platform.db.query<{ id: string }>(
    "select id from executions order by ended_at desc, id desc limit 1",
  );
  const audited = await total("audit_entries where operation = 'execution.retention'");
  await platform.db.transaction(async (tx) => {
    await tx.query("select 1 from executions where id = $1 for update", [held?.id]);
    await sweepAfter(366 * DAY_MS);
  });
  assert.equal(await statusOf(model), 404);
  assert.deepEqual(await platform.db.query("select id from executions"), [{ id: held?.id }]);
  const entries = await total("audit_entries where operation = 'execution.retention'");
  assert.equal(entries - audited, Math.ceil(before / 100), "a transaction for a hundred of them");
  // Not looked for again within the hour.
  await sweepAfter(60_000);
  assert.equal(await total("executions"), 1);
  await sweepAfter(3_600_000);
  assert.equal(await total("executions"), 0);
});

test("an ended execution stays while a task of it has not ended", async () => {
  const id = await startRun(platform, "runs");
  const run = await delegate.next("run");
  await platform.db.query("update executions set status = 'aborted', ended_at = $1", [platform.clock.now()]);
  await sweepAfter(366 * DAY_MS);
  assert.equal(await statusOf(id), 200);
  delegate.finish(run);
  await until(
    () => platform.db.query("select 1 from tasks where status <> 'finished'"),
    (open) => open.length === 0,
  );
  await sweepAfter(3_601_000);
  assert.equal(await statusOf(id), 404);
});
