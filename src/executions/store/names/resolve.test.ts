/** LIKE filters read the different names of an account, not its executions. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../../../../test/support/platform.ts";
import { createPipelines, startRun } from "../../../../test/support/runs.ts";
import { fromWire, type Uuid } from "../../../core/ids.ts";
import { anywhere, mergeConditions, type ExecutionFilter } from "../conditions.ts";
import { countExecutions, listExecutions, listStatement } from "../lists.ts";
import { completeMarkSets } from "./mark-sets.ts";
import { resolveNames, type LikeName, type NamedFilter } from "./resolve.ts";

/** Of each of two starters. */
const COPIES = 2_000;
const LIKES: Readonly<Record<LikeName, string>> = {
  projectLike: "P",
  pipelineLike: "ONE",
  pipelineSearch: "one",
  personLike: "@EXAMPLE",
  triggerLike: "nightly",
  triggerIdentified: "Nightly build",
  serviceLike: "WEB",
  environmentLike: "prod",
};

let platform: TestPlatform;
let accountId: Uuid;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
  const id = fromWire(await startRun(platform, "one"));
  accountId = fromWire(platform.accountId) as Uuid;
  for (const [n, name, type] of [
    [1, "Ada", "MANUAL"],
    [2, "Nightly build", "WEBHOOK_CUSTOM"],
  ] as const)
    await platform.db.query(
      `insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, header,
          trigger_type, triggered_by, created_at, started_at, started_by)
       select account_id, gen_random_uuid(), project_id, pipeline_id, pipeline_version, run_sequence + nth * 2 + $2, 'succeeded',
          '{}', '{}', $3, jsonb_build_object('name', $4::text, 'identifier', $4::text, 'email', $4::text || '@example.com'), nth, nth, md5($4::text)::uuid
         from executions, generate_series(1, $5) nth where id = $1`,
      [id, n, type, name, COPIES],
    );
  await platform.db.query(
    `insert into execution_marks select account_id, kind, name, '', id from executions,
       (values ('service', 'web'), ('environment', 'production'), ('tag', 'web')) as mark (kind, name)`,
  );
  await platform.db.query("update executions set mark_set_id = null");
  await platform.db.query("delete from execution_mark_sets");
  while ((await withoutSet()) > 0) await completeMarkSets(platform.db, accountId);
  await platform.db.query("vacuum analyze executions, execution_marks, pipelines, projects");
});
after(() => platform?.stop());

/** Executions that lists by service and environment do not find yet. */
const withoutSet = async (): Promise<number> =>
  (await platform.db.query("select id from executions where mark_set_id is null")).length;
const like = (is: LikeName, ...texts: string[]) => ({
  is,
  value: is === "triggerIdentified" ? texts : texts.map(anywhere),
});
const resolved = (...filter: NamedFilter): Promise<ExecutionFilter> => resolveNames(platform.db, accountId, filter);
const count = async (...filter: NamedFilter): Promise<number> =>
  countExecutions(platform.db, accountId, await resolved(...filter));

type Plan = {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Relation Name"?: string;
  readonly Plans?: readonly Plan[];
};
/** Rows of executions and marks that a plan has read. */
function rowsRead(plan: Plan): number {
  const isLarge = ["executions", "execution_marks"].includes(plan["Relation Name"] ?? "");
  const own = (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"];
  return (plan.Plans ?? []).reduce((sum, below) => sum + rowsRead(below), isLarge ? own : 0);
}

for (const [is, text] of Object.entries(LIKES) as [LikeName, string][]) {
  test(`${is} compares its patterns with the different names, however many executions have them`, async () => {
    const statements: { text: string; values: unknown[] }[] = [];
    const query = async (asked: string, values: readonly unknown[] = []): Promise<never[]> => {
      statements.push({ text: asked, values: [...values] });
      return platform.db.query<never>(asked, values);
    };
    const filter = await resolveNames({ query }, accountId, [like(is, "no such name", text)]);
    assert.notEqual(await countExecutions(platform.db, accountId, filter), 0);
    assert.doesNotMatch(listStatement(accountId, filter, { limit: 1, offset: 0 }).text, /like/);
    for (const asked of statements) {
      const [row] = await platform.db.query<{ "QUERY PLAN": readonly [{ readonly Plan: Plan }] }>(
        `explain (analyze, format json) ${asked.text}`,
        asked.values,
      );
      const read = rowsRead((row as NonNullable<typeof row>)["QUERY PLAN"][0].Plan);
      assert.ok(read <= 10, `${read} rows`);
    }
  });
}

test("patterns that match no name find nothing, whatever the other conditions are", async () => {
  for (const is of Object.keys(LIKES) as LikeName[]) {
    assert.equal(await count(like(is, "no such name"), { is: "statusIs", value: "succeeded" }), 0);
    assert.equal(await count(like(is)), 0);
  }
});

test("each condition has patterns of its own; all conditions have to hold", async () => {
  assert.equal(await count(like("personLike", "ada"), like("personLike", "example.com")), COPIES);
  assert.equal(await count(like("personLike", "ada"), like("personLike", "eve")), 0);
  assert.equal(await count(like("personLike", "ada", "eve"), like("serviceLike", "w")), COPIES);
  assert.equal(await count(like("serviceLike", "w"), like("serviceLike", "b"), like("triggerLike", "night")), COPIES);
});

test("a starter is looked for by the name of the newest execution", async () => {
  const [newest] = await listExecutions(platform.db, accountId, await resolved(like("personLike", "Ada")), {
    limit: 1,
    offset: 0,
  });
  assert.ok(newest);
  const rename = (name: string) =>
    platform.db.query(
      `update executions set triggered_by = jsonb_set(triggered_by, '{name}', to_jsonb($2::text)) where id = $1`,
      [newest.id, name],
    );
  await rename("Countess");
  assert.equal(await count(like("personLike", "countess")), COPIES);
  await rename("Ada");
  assert.equal(await count(like("personLike", "countess")), 0);
});

test("executions of an older server get their set when a list looks for services or environments", async () => {
  const sets = () => platform.db.query("select id, mark_set_id from executions order by id limit 3");
  const before = await sets();
  await platform.db.query(
    "update executions set mark_set_id = null where id in (select id from executions order by id limit 3)",
  );
  assert.equal(await count(like("personLike", "ada")), COPIES);
  assert.equal(await withoutSet(), 3);
  assert.equal(await count(like("serviceLike", "web")), 2 * COPIES + 1);
  assert.deepEqual(await sets(), before);
});

test("conditions on services and environments together are one condition on their sets", async () => {
  const service = (not: boolean, ...value: string[]) => ({ is: "serviceIn", value, not }) as const;
  const filter = await resolved(service(false, "web"), { is: "environmentAny" }, service(true, "api"), {
    is: "statusIs",
    value: "succeeded",
  });
  const sets = await platform.db.query<{ id: Uuid }>(
    "select id from execution_mark_sets where 'web' = any(services) and environments <> '{}'",
  );
  assert.deepEqual(filter, [
    { is: "statusIs", value: "succeeded" },
    { is: "markSetIn", value: [...new Set(sets.map((set) => set.id))] },
  ]);
  assert.equal(await count(service(false, "web"), service(false, "api")), 0);
  assert.equal(await count(service(false, "web"), service(true, "web", "api")), 0);
  assert.equal(await count({ is: "serviceAny", not: true }), 0);
});

test("several conditions on one id become one; of their opposites, too", () => {
  const personIn = (not: boolean, ...value: string[]) => ({ is: "personIn", value, ...(not && { not }) }) as const;
  const above = [1, 2].map((value) => ({ is: "durationAbove", value }) as const);
  assert.deepEqual(
    mergeConditions([
      ...above,
      personIn(false, "a", "b", "c"),
      personIn(true, "d"),
      personIn(false, "c", "b", "b"),
      personIn(true, "e", "d"),
    ]),
    [...above, personIn(false, "b", "c"), personIn(true, "d", "e")],
  );
});

test("a filter that matches nothing reads an index alone", async () => {
  const filter = await resolved(
    like("personLike", "a"),
    like("pipelineLike", "one"),
    like("projectLike", "p"),
    { is: "durationAbove", value: 1e9 },
    { is: "createdBefore", value: 1e15 },
  );
  const sets = { is: "markSetIn", value: [accountId] } as const;
  const { text, values } = listStatement(accountId, [...filter, sets], { limit: 1, offset: 0 }, "more");
  const plan = await platform.db.transaction(async (tx) => {
    for (const kind of ["seqscan", "bitmapscan", "sort"]) await tx.query(`set local enable_${kind} = off`);
    return tx.query<{ "QUERY PLAN": string }>(`explain ${text}`, values);
  });
  const lines = plan.map((row) => row["QUERY PLAN"]).join("\n");
  assert.match(lines, /Limit.*\n.*Index Only Scan Backward using executions_by_begin/, lines);
});
