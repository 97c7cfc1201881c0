/** Which of the waiting executions gets a free slot. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { createDbInterceptor } from "../../../test/support/db-interceptor.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { newIdentity, pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { waitForEnd, createPipelines, startRun } from "../../../test/support/runs.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import { READY_CHANNEL } from "./dispatch.ts";

let platform: TestPlatform;
let token: string;
let delegate: PretendDelegate | undefined;
const identity = newIdentity();
const gate = createDbInterceptor();

before(async () => {
  platform = await startTestPlatform({ wrapDb: gate.wrapDb });
  token = await platform.delegateToken();
  const steps = [{ id: "a" }];
  await createPipelines(
    platform,
    { id: "one", steps },
    { id: "other", steps },
    { id: "two", steps: [...steps, { id: "b" }] },
  );
});
after(() => platform?.stop());
afterEach(async () => {
  await delegate?.cut();
  delegate = undefined;
  gate.forget();
  await platform.db.query("update tasks set status = 'finished' where status <> 'finished'");
});

async function connect(slots: number): Promise<PretendDelegate> {
  const made = await pretendDelegate({ url: platform.url, token, identity, slots });
  delegate = made;
  await made.next("welcome");
  return made;
}

/** Finishes what the delegate gets until it has seen so many executions; answers them in the order of their tasks. */
async function served(
  by: PretendDelegate,
  howMany: number,
  between: () => Promise<void> = async () => {},
): Promise<string[]> {
  const order: string[] = [];
  while (order.length < howMany) {
    const run = await by.next("run");
    const [task] = await platform.db.query<{ runId: Uuid }>(`select run_id as "runId" from tasks where id = $1`, [
      fromWire(run.task),
    ]);
    assert.ok(task);
    order.push(toWire(task.runId));
    by.finish(run);
    await Promise.all([by.next("finishedAck"), between()]);
  }
  return order;
}

/** As many executions that wait, oldest first; all but the first are copies of its task. */
async function thousandWaiting(pipeline: string): Promise<string[]> {
  const first = fromWire(await startRun(platform, pipeline));
  await platform.db.query(
    `with copied as (
       insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, header,
           trigger_type, triggered_by, created_at, started_at)
       select account_id, gen_random_uuid(), project_id, pipeline_id, pipeline_version, run_sequence + n, status, plan, header,
           trigger_type, triggered_by, created_at + n, started_at + n
         from executions, generate_series(1, 999) n where id = $1 returning account_id, id, created_at)
     insert into tasks (account_id, id, run_id, node_id, attempt, status, epoch, selectors, work, created_at, queue_id, turn)
     select t.account_id, gen_random_uuid(), c.id, t.node_id, t.attempt, t.status, t.epoch, t.selectors, t.work, c.created_at,
            t.queue_id, t.turn + (c.created_at - t.created_at) * 1000
       from copied c join tasks t on t.account_id = c.account_id and t.run_id = $1`,
    [first],
  );
  await platform.db.query("update execution_sequences set last = last + 1000");
  const rows = await platform.db.query<{ id: Uuid }>(
    "select id from executions where status = 'running' order by created_at",
  );
  return rows.map(({ id }) => toWire(id));
}

test("behind a thousand that wait, no newer execution of the pipeline overtakes", async () => {
  const waiting = await thousandWaiting("one");
  assert.equal(waiting.length, 1_000);
  const newer: string[] = [];
  const by = await connect(2);
  const order = await served(by, 60, async () => {
    // Started just when slots get free, one after the other and at the same moment.
    newer.push(...(await Promise.all([startRun(platform, "one"), startRun(platform, "one")])));
  });
  assert.equal(newer.length, 120);
  assert.deepEqual(order.toSorted(), waiting.slice(0, 60).toSorted());
  // Two slots: a task may be seen one place before or after its own.
  for (const [at, id] of order.entries()) assert.ok(Math.abs(waiting.indexOf(id) - at) <= 1, `${at}`);
  await platform.db.query("update executions set status = 'aborted' where status = 'running'");
});

test("at the start of an execution, and when nothing waits any more, it is leased at once", async () => {
  // Notifications of earlier tests may still arrive. Each one makes the session expect waiting tasks.
  gate.ignore(READY_CHANNEL);
  const by = await gate.afterLookup(() => connect(1));
  for (let runs = 0; runs < 3; runs += 1) {
    const id = await startRun(platform, "one");
    const [task] = await platform.db.query("select status, epoch from tasks where run_id = $1", [fromWire(id)]);
    assert.deepEqual(task, { status: "leased", epoch: 1 });
    by.finish(await by.next("run"));
    await by.next("finishedAck");
    assert.equal(await waitForEnd(platform, id), "SUCCESS");
    await by.roundTrip();
  }
});

test("the next step of an execution that has begun goes before all that have not", async () => {
  const by = await connect(1);
  const begun = await startRun(platform, "two");
  const first = await by.next("run");
  const waiting = [await startRun(platform, "one"), await startRun(platform, "one")];
  // Its slot is lost in between: the next step waits like the others.
  await by.cut();
  const again = await connect(1);
  await again.next("run");
  again.finish(first);
  await again.next("finishedAck");
  assert.deepEqual(await served(again, 3), [begun, ...waiting]);
});

test("one pipeline with many waiting executions leaves others their turn", async () => {
  const flood: string[] = [];
  for (let runs = 0; runs < 50; runs += 1) flood.push(await startRun(platform, "one"));
  platform.clock.advance(5_000);
  const late = [await startRun(platform, "other"), await startRun(platform, "other")];
  const order = await served(await connect(1), 52);
  assert.deepEqual(
    order.filter((id) => flood.includes(id)),
    flood,
  );
  // As many of the flood as seconds have gone by since it began, and the one that came first.
  assert.deepEqual(
    late.map((id) => order.indexOf(id)),
    [6, 8],
  );
});
