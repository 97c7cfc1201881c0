/** Which plans PostgreSQL makes for lists: planning anew takes longer than a short page (decision 0016). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { createPipelines, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import type { ExecutionFilter } from "./conditions.ts";
import { listStatement } from "./lists.ts";

const COPIES = 3_000;
/** PostgreSQL plans a prepared statement five times for its values before it considers to keep a plan. */
const RUNS = 12;
const IN_2100 = 4_102_444_800_000;

let platform: TestPlatform;
let accountId: Uuid;
let pipelineId: Uuid;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
  const id = fromWire(await startRun(platform, "one"));
  const [run] = await platform.db.query<{ account: Uuid; pipeline: Uuid }>(
    "select account_id as account, pipeline_id as pipeline from executions where id = $1",
    [id],
  );
  assert.ok(run);
  [accountId, pipelineId] = [run.account, run.pipeline];
  await platform.db.query(
    `insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, header,
        trigger_type, triggered_by, created_at, started_at, ended_at)
     select account_id, gen_random_uuid(), project_id, pipeline_id, pipeline_version, run_sequence + n, 'succeeded', plan, header,
        trigger_type, triggered_by, created_at - n * 1000, created_at - n * 1000, created_at
       from executions, generate_series(1, $1) n`,
    [COPIES],
  );
  await platform.db.query("analyze executions, pipelines, projects");
});
after(() => platform?.stop());

/** How often a plan made for the values was used, and one for all values. */
async function plansOf(filter: ExecutionFilter, limit: number): Promise<{ custom: number; generic: number }> {
  return platform.db.transaction(async (tx) => {
    const { text, values } = listStatement(accountId, filter, { limit, offset: 0 });
    for (let n = 0; n < RUNS; n += 1) assert.equal((await tx.query(text, values)).length, limit);
    const [plans] = await tx.query<{ custom: number; generic: number }>(
      "select custom_plans as custom, generic_plans as generic from pg_prepared_statements where statement = $1",
      [text],
    );
    assert.ok(plans);
    return plans;
  });
}

const lists: readonly (readonly [string, () => ExecutionFilter])[] = [
  ["of the account", () => []],
  ["of a pipeline", () => [{ is: "pipelineIs", value: pipelineId }]],
  [
    "of a time",
    () => [
      { is: "startedAfter", value: 0 },
      { is: "endedBefore", value: IN_2100 },
    ],
  ],
];

for (const [name, filter] of lists) {
  for (const limit of [1, 100])
    test(`a list ${name} with limit ${limit} is planned a few times, not each time`, async () => {
      assert.deepEqual(await plansOf(filter(), limit), { custom: 5, generic: RUNS - 5 });
    });
}

test("a list of a status is planned for it: a rare one needs another plan than a common one", async () => {
  assert.deepEqual(await plansOf([{ is: "statusIs", value: "succeeded" }], 10), { custom: RUNS, generic: 0 });
});
