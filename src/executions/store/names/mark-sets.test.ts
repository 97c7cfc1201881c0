/** Filters on services and environments of an account with many sets: the database finds the sets. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../../../../test/support/platform.ts";
import { createPipelines, startRun } from "../../../../test/support/runs.ts";
import { until } from "../../../../test/support/until.ts";
import { fromWire, type Uuid } from "../../../core/ids.ts";
import type { Query } from "../../../platform/db/db.ts";
import { anywhere } from "../conditions.ts";
import { countExecutions, listStatement } from "../lists.ts";
import { completeMarkSets, FEW_SETS, type MarkCondition } from "./mark-sets.ts";
import { resolveNames, type NamedFilter } from "./resolve.ts";

/** Each has one execution. Its services are the digits of its number, its environment is one of three, or none. */
const SETS = 1_000;
const ENVIRONMENTS = ["blue", "green", "red"];

let platform: TestPlatform;
let accountId: Uuid;
/** Rows of each statement, and its text. */
const rows: number[] = [];
const texts: string[] = [];
const counted: { readonly query: Query } = {
  query: async (text, values) => {
    const found = await platform.db.query<never>(text, values);
    rows.push(found.length);
    texts.push(text);
    return found;
  },
};

before(async () => {
  platform = await startTestPlatform();
  accountId = fromWire(platform.accountId) as Uuid;
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
  const id = fromWire(await startRun(platform, "one"));
  await platform.db.query(
    `with made as (
       insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, header,
           trigger_type, triggered_by, created_at, mark_set_id)
       select account_id, md5(n::text)::uuid, project_id, pipeline_id, pipeline_version, 2 + n, 'succeeded', '{}', '{}',
           'MANUAL', '{}', n, md5(n::text)::uuid from executions, generate_series(0, $2 - 1) n where id = $1
       returning account_id, project_id, id, created_at as n)
     insert into execution_mark_sets (account_id, project_id, id, services, environments)
       select account_id, project_id, id, case n when 0 then '{}'::text[] else regexp_split_to_array(n::text, '') end,
              case n % 4 when 3 then '{}'::text[] else array[($3::text[])[n % 4 + 1]] end from made`,
    [id, SETS, ENVIRONMENTS],
  );
  await platform.db.query("update executions set mark_set_id = md5('0')::uuid where id = $1", [id]);
  await platform.db.query(
    `insert into execution_marks (account_id, kind, name, value, execution_id)
       select e.account_id, 'service', name, '', e.id from executions e join execution_mark_sets s on s.id = e.mark_set_id,
              (select distinct unnest(services) as name, id from execution_mark_sets) named where named.id = s.id`,
  );
  await platform.db.query("vacuum analyze executions, execution_mark_sets");
});
after(() => platform?.stop());
beforeEach(() => void (rows.length = texts.length = 0));

const services = (not: boolean, ...value: string[]) => ({ is: "serviceIn", value, not }) as const;
const environments = (not: boolean, ...value: string[]) => ({ is: "environmentIn", value, not }) as const;
const count = async (filter: NamedFilter): Promise<number> =>
  countExecutions(counted, accountId, await resolveNames(counted, accountId, filter));

type Names = { readonly service: readonly string[]; readonly environment: readonly string[] };
const NAMES: readonly Names[] = Array.from({ length: SETS }, (_, n) => ({
  service: n === 0 ? [] : String(n).split(""),
  environment: ENVIRONMENTS.slice(n % 4, (n % 4) + 1),
}));
/** The number of sets that meet all conditions, by JavaScript. */
const expected = (conditions: readonly MarkCondition[], sets = NAMES): number =>
  sets.filter((set) =>
    conditions.every(({ is, value, not = false }) => {
      const names = is.startsWith("service") ? set.service : set.environment;
      return (value ? names.some((name) => value.includes(name)) : names.length > 0) !== not;
    }),
  ).length;

const CASES: readonly (readonly MarkCondition[])[] = [
  [services(false, "7")],
  [services(true, "7")],
  [services(false, "1", "2"), services(false, "3")],
  [services(true, "1"), services(true, "2", "3")],
  [services(false, "1"), services(true, "1")],
  [services(false, "1"), services(true, "2"), environments(false, "red", "blue")],
  [environments(true, "red"), { is: "environmentAny" }],
  [{ is: "environmentAny", not: true }],
  [{ is: "environmentAny", not: true }, services(false, "9")],
  [{ is: "serviceAny" }],
  [{ is: "serviceAny" }, { is: "environmentAny", not: true }, services(true, "0")],
  [services(false, "unknown")],
  [services(true, "unknown"), services(false, "8"), services(false, "9"), environments(false, "green")],
];

for (const conditions of CASES) {
  test(`sets with ${JSON.stringify(conditions)}: few rows come from the database`, async () => {
    // The run that the platform has started has the set of the first.
    const first = expected(conditions, NAMES.slice(0, 1));
    assert.equal(await count(conditions), expected(conditions) + first);
    assert.ok(Math.max(...rows) <= FEW_SETS + 1, `${rows.join(", ")} rows`);
  });
}

test("a pattern finds services by their different names, and no set", async () => {
  const like = { is: "serviceLike", value: ["no such name", "7"].map(anywhere) } as const;
  assert.equal(await count([like]), expected([services(false, "7")]));
  assert.ok(Math.max(...rows) <= FEW_SETS + 1, `${rows.join(", ")} rows`);
  const compares = texts.filter((text) => text.includes(" like "));
  assert.equal(compares.length, 1);
  assert.doesNotMatch(compares.join(), /execution_mark_sets/);
});

test("a list with many sets reads one index of executions, hashes the sets once and reads no array", async () => {
  const filter = await resolveNames(counted, accountId, [
    services(false, "1"),
    services(true, "2"),
    { is: "createdBefore", value: 1e15 },
  ]);
  const { text, values } = listStatement(accountId, filter, { limit: 1, offset: 0 });
  const plan = await platform.db.transaction(async (tx) => {
    for (const kind of ["seqscan", "sort"]) await tx.query(`set local enable_${kind} = off`);
    return tx.query<{ "QUERY PLAN": string }>(`explain ${text}`, values);
  });
  const lines = plan.map((row) => row["QUERY PLAN"]).join("\n");
  assert.match(lines, /Limit.*\n.*Index Only Scan Backward using executions_by_begin/, lines);
  assert.match(lines, /Filter:.*mark_set_id = \(hashed SubPlan/, lines);
  assert.equal(lines.match(/Bitmap Index Scan on execution_mark_sets_by_service/g)?.length, 2, lines);
  assert.doesNotMatch(lines, /Filter:.*(services|environments) /, lines);
});

test("executions of an older server, more than one statement completes, are in the next list", async () => {
  const all = await count([services(true, "unknown")]);
  await platform.db.query(
    `insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, header,
         trigger_type, triggered_by, created_at)
     select account_id, gen_random_uuid(), project_id, pipeline_id, pipeline_version, run_sequence + 10000 * copy, 'succeeded',
         '{}', '{}', 'MANUAL', '{}', copy from executions, generate_series(1, 2) copy`,
  );
  rows.length = 0;
  assert.equal(await count([services(true, "unknown")]), 3 * all);
  assert.ok(rows.length >= 5, `${rows.length} statements`);
  rows.length = 0;
  assert.equal(await count([services(true, "unknown")]), 3 * all);
  assert.equal(rows.length, 3, "one statement finds that no set is missing");
});

test("two servers that insert equal sets at once do not deadlock", async () => {
  // Each of these executions has one service of its own.
  const sets = await platform.db.query<{ id: Uuid; projectId: Uuid; services: string[] }>(
    `with open as (
       select account_id, project_id, id, 'only' || row_number() over () as name from executions e
        where not exists (select from execution_marks m where m.account_id = e.account_id and m.execution_id = e.id) limit 100),
     marked as (insert into execution_marks select account_id, 'service', name, '', id from open),
     emptied as (update executions e set mark_set_id = null from open where e.account_id = open.account_id and e.id = open.id)
     select md5(array[name]::text || '{}')::uuid as id, project_id as "projectId", array[name] as services from open order by 1`,
  );
  let completion: Promise<void> | undefined;
  await platform.db.transaction(async (tx) => {
    for (const [nth, { id, projectId, services: names }] of sets.entries()) {
      await tx.query(
        `insert into execution_mark_sets (account_id, project_id, id, services, environments)
         values ($1, $2, $3, $4, '{}')`,
        [accountId, projectId, id, names],
      );
      if (nth > 0) continue;
      completion = platform.db.transaction(async (other) => {
        // Hashes have another order than ids.
        await other.query("set local enable_sort = off");
        await completeMarkSets(other, accountId);
      });
      await until(
        () =>
          platform.db.query(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
                and query like '%execution_mark_sets%'`,
          ),
        ({ length }) => length === 1,
      );
    }
  });
  await completion;
  assert.equal(await count([services(false, "only1", "only100")]), 2);
});
