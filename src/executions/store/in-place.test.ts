/** Which updates of running executions touch no index (HOT), by PostgreSQL's own count. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { waitForEnd, createPipelines, startRun } from "../../../test/support/runs.ts";

const STEPS = 2;
const RUNS = 60;

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  // Whether a page has room for another version of a row depends on what other snapshots still see. With pages of
  // which nine tenths are left free, only a change of an indexed column can keep an update from staying in place.
  await platform.db.query("alter table executions set (fillfactor = 10)");
  const steps = Array.from({ length: STEPS }, (_, at) => ({ id: `s${at}` }));
  await createPipelines(platform, { id: "long", steps });
});
after(() => platform?.stop());

type Updates = { readonly table: string; readonly all: number; readonly inPlace: number };

const updates = (): Promise<Updates[]> =>
  platform.db.query<Updates>(
    `select relname as "table", n_tup_upd as "all", n_tup_hot_upd as "inPlace" from pg_stat_user_tables
      where relname in ('executions', 'delegates') order by relname desc`,
  );

test("of an execution's updates all but the last touch no index", async () => {
  // Connections of its own: PostgreSQL counts what a connection has done at the latest when it ends.
  const server = await platform.replica();
  const delegate = await pretendDelegate({ url: server.url, token: await platform.delegateToken() });
  await delegate.next("welcome");
  const ids = await Promise.all(Array.from({ length: RUNS }, () => startRun(server, "long")));
  for (let tasks = 0; tasks < RUNS * STEPS; tasks += 1) {
    delegate.finish(await delegate.next("run"));
    await delegate.next("finishedAck");
  }
  for (const id of ids) assert.equal(await waitForEnd(server, id), "SUCCESS");
  await delegate.close();
  await server.stop();
  const [executions] = await updates();
  assert.ok(executions);
  assert.equal(executions.all, RUNS * STEPS);
  assert.equal(executions.inPlace, RUNS * (STEPS - 1), "all but the update that ends the execution");
});
