/** Every filter of GraphQL `executions` with every operator that it has, over real runs; and the fields that only some lists ask for. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  clusterYaml,
  create,
  eventually,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  triggerYaml,
  YAML,
} from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { countExecutions, listStatement } from "./store/lists.ts";
import { ID_RULES, TIME_RULES } from "./wire/graphql-filters.ts";
import { fromWire, type Uuid } from "../core/ids.ts";

let platform: TestPlatform;
/** By the names a to d, in the order in which they began. */
const ids: Record<string, string> = {};
const at: Record<string, number> = {};
const known: Record<string, string> = {};

const abort = (id: string) =>
  made(platform.send("PUT", `/pipeline/api/pipeline/execute/interrupt/${id}?interruptType=AbortAll`));
const elsewhere = (yaml: string): string =>
  yaml
    .replace("projectIdentifier: shop", "projectIdentifier: depot")
    .replace("serviceRef: web", "serviceRef: org.api")
    .replace("environmentRef: staging", "environmentRef: account.live");

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml("shop", "  tags: { floor: ground }\n")));
  await createTargets(platform);
  await made(create.project(platform, projectYaml("depot").replace("The shop", "my_depot")));
  const inDepot = "  orgIdentifier: default\n  projectIdentifier: depot\n";
  await made(create.connector(platform, clusterYaml("cluster", inDepot)));
  await made(create.service(platform, "api", "  orgIdentifier: default\n"));
  await made(create.environment(platform, "live"));
  await made(create.pipeline(platform, pipelineYaml("one", "none", "  tags: { team: red, urgent: '' }\n")));
  await made(create.pipeline(platform, pipelineYaml("two", "none", "  tags: { team: blue }\n")));
  await made(
    platform.send("POST", "/pipeline/api/pipelines?orgIdentifier=default&projectIdentifier=depot", {
      contentType: YAML,
      body: elsewhere(pipelineYaml("three")),
    }),
  );
  const { webhookUrl } = await made(create.trigger(platform, "two", triggerYaml("two")));
  const second = await platform.addUser("_account_admin");
  // a: one, by the first person, lasts 1 s · b: two, by the second, 5 s · c: two, by the trigger · d: three, elsewhere
  await begin("a", async () => (await made(create.run(platform, "one"))).planExecution.uuid, 1_000);
  await begin("b", () => run("shop", "two", second), 5_000);
  await begin("c", async () => {
    await fetch(webhookUrl, { method: "POST", body: "{}" });
    return eventually(async () => {
      await platform.platform.sweep();
      const { body } = await platform.graphql("{ executions(limit: 1) { nodes { id } } }");
      const newest: string = body.data.executions.nodes[0].id;
      return newest === ids["b"] ? undefined : newest;
    });
  });
  await begin("d", () => run("depot", "three"));
  const { body } = await platform.graphql(`{ executions { nodes { application { id name }
    cause { ... on ExecutedByUser { user { id name email } } ... on ExecutedByTrigger { trigger { id name } } }
    ... on PipelineExecution { pipeline { id name } } } } }`);
  for (const { application, pipeline, cause } of body.data.executions.nodes) {
    known[application.name] = application.id;
    known[pipeline.name] = pipeline.id;
    if (cause.user) known[cause.user.name] = cause.user.id;
    else known[cause.trigger.name] = cause.trigger.id;
  }
  known["second"] = known[Object.keys(known).find((name) => name.startsWith("user ")) ?? ""] ?? "";
});
after(() => platform?.stop());

async function run(project: string, pipeline: string, apiKey?: string): Promise<string> {
  const path = `/pipeline/api/pipeline/execute/${pipeline}?orgIdentifier=default&projectIdentifier=${project}`;
  return (await made(platform.send("POST", path, apiKey === undefined ? {} : { apiKey }))).planExecution.uuid;
}

async function begin(name: string, start: () => Promise<string>, lasts?: number): Promise<void> {
  platform.clock.advance(1_000);
  at[name] = platform.clock.now();
  ids[name] = await start();
  if (lasts === undefined) return;
  platform.clock.advance(lasts);
  await abort(ids[name]);
}

async function names(filters: unknown = []): Promise<string[]> {
  const query =
    "query ($f: [ExecutionFilter]) { executions(filters: $f, includeIndirectExecutions: true) { nodes { id } pageInfo { total } } }";
  const { body } = await platform.graphql(query, { f: filters });
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  const { nodes, pageInfo } = body.data.executions;
  assert.equal(pageInfo.total, nodes.length, "what is counted is what is listed");
  return nodes.map(({ id }: { id: string }) => id);
}

/** The names of what a filter finds, in the order of the names. */
async function found(filters: unknown): Promise<string> {
  const listed = await names(filters);
  const letters = Object.keys(ids).filter((name) => listed.includes(ids[name] ?? ""));
  assert.deepEqual(listed, letters.map((name) => ids[name]).toReversed(), "newest first");
  return letters.join("");
}

type Row = readonly [filter: string, operator: string, values: () => unknown, found: string];
const k = (name: string) => (): string | undefined => known[name];
const ROWS: readonly Row[] = [
  ["execution", "EQUALS", () => ids["a"], "a"],
  ["execution", "IN", () => [ids["a"], ids["d"], "no id", null], "ad"],
  ["execution", "NOT_IN", () => [ids["a"], ids["d"]], "bc"],
  ["execution", "NOT_IN", () => [], "abcd"],
  ["execution", "NOT_NULL", () => null, "abcd"],
  ["execution", "IN", () => [], ""],
  ["application", "EQUALS", k("The shop"), "abc"],
  ["application", "NOT_IN", k("The shop"), "d"],
  ["application", "LIKE", () => "SHOP", "abc"],
  ["application", "LIKE", () => "Y_d", "d"],
  ["application", "LIKE", () => "_", "d"],
  ["application", "LIKE", () => "%", ""],
  ["application", "NOT_NULL", () => null, "abcd"],
  ["pipeline", "EQUALS", k("two"), "bc"],
  ["pipeline", "IN", () => [known["one"], known["three"]], "ad"],
  ["pipeline", "NOT_IN", () => [known["one"], known["three"]], "bc"],
  ["pipeline", "LIKE", () => ["E", "zzz"], "ad"],
  ["status", "EQUALS", () => "ABORTED", "ab"],
  ["status", "IN", () => ["RUNNING", "SUCCESS"], "cd"],
  ["status", "NOT_IN", () => ["RUNNING", "SUCCESS"], "ab"],
  ["triggeredBy", "EQUALS", k("second"), "b"],
  ["triggeredBy", "IN", () => [known["second"], known["hook"]], "b"],
  ["triggeredBy", "NOT_IN", k("second"), "acd"],
  ["triggeredBy", "LIKE", () => "@EXAMPLE.com", "b"],
  ["triggeredBy", "NOT_NULL", () => null, "abd"],
  ["trigger", "EQUALS", k("hook"), "c"],
  ["trigger", "EQUALS", k("second"), ""],
  ["trigger", "IN", () => [known["hook"], known["second"]], "c"],
  ["trigger", "NOT_IN", k("hook"), "abd"],
  ["trigger", "LIKE", () => "OO", "c"],
  ["trigger", "NOT_NULL", () => null, "c"],
  ["service", "EQUALS", () => "web", "abc"],
  ["service", "IN", () => ["org.api", "other"], "d"],
  ["service", "NOT_IN", () => "web", "d"],
  ["service", "LIKE", () => "API", "d"],
  ["service", "NOT_NULL", () => null, "abcd"],
  ["environment", "EQUALS", () => "account.live", "d"],
  ["environment", "NOT_IN", () => ["account.live"], "abc"],
  ["environment", "LIKE", () => "stag", "abc"],
  ["environment", "LIKE", () => [], ""],
  ["environment", "NOT_NULL", () => null, "abcd"],
];
for (const [filter, operator, values, expected] of ROWS) {
  test(`${filter} ${operator} finds ${expected || "nothing"} (${values.toString().slice(6)})`, async () => {
    assert.equal(await found({ [filter]: { operator, values: values() } }), expected);
  });
}

test("NOT_IN finds what nobody known has started, too", async () => {
  const id = ids["a"] ?? "";
  const [before] = await platform.db.query<{ by: string | null }>(
    `update executions e set started_by = null from (select id, started_by from executions) o
      where o.id = e.id and e.id = $1 returning o.started_by as by`,
    [fromWire(id)],
  );
  try {
    assert.equal(await found({ triggeredBy: { operator: "NOT_IN", values: [known["second"]] } }), "acd");
  } finally {
    await platform.db.query("update executions set started_by = $2 where id = $1", [fromWire(id), before?.by]);
  }
});

test("every filter and operator of the schema is in the table above, or is refused by its name", async () => {
  const all = Object.keys(ID_RULES).flatMap((filter) =>
    ["EQUALS", "IN", "LIKE", "NOT_IN", "NOT_NULL"].map((operator) => `${filter} ${operator}`),
  );
  const covered = new Set(ROWS.map(([filter, operator]) => `${filter} ${operator}`));
  for (const missing of all.filter((one) => !covered.has(one))) {
    const [filter = "", operator] = missing.split(" ");
    if (operator !== "LIKE") {
      assert.equal(await found({ [filter]: { operator: "NOT_NULL" } }), "abcd", missing);
      continue;
    }
    assert.match(
      await refusal({ [filter]: { operator, values: ["x"] } }),
      new RegExp(`${filter} with the operator LIKE`),
    );
  }
});

async function refusal(filter: unknown): Promise<string> {
  const { body } = await platform.graphql(
    "query ($f: [ExecutionFilter]) { executions(filters: $f) { nodes { id } } }",
    { f: filter },
  );
  assert.deepEqual(body.data, { executions: null });
  return body.errors[0].message;
}

test("what has no meaning here is refused by its name, never ignored", async () => {
  for (const name of ["cloudProvider", "workflow", "artifactBuildNo", "helmChartVersion"])
    assert.equal(
      await refusal({ [name]: { operator: "EQUALS", values: ["x"] } }),
      `Exception while fetching data (/executions) : The filter ${name} is not supported yet.`,
    );
  for (const entityType of ["SERVICE", "ENVIRONMENT"])
    assert.match(await refusal({ tag: { entityType, tags: [{ name: "a" }] } }), /entityType/);
  assert.match(
    await refusal({ status: { operator: "EQUALS", values: ["Success"] } }),
    /'Success' is no execution status/,
  );
  assert.match(await refusal({ duration: { operator: "LESS_THAN", values: [1, 2] } }), /takes one value/);
  const many = Array.from({ length: 21 }, () => ({ pipeline: { operator: "NOT_NULL" } }));
  assert.match(await refusal(many), /at most 20 filters/);
  assert.match(
    await refusal({ pipeline: { operator: "IN", values: many.flatMap(() => Array(50).fill("x")) } }),
    /at most 1000 values/,
  );
});

test("LIKE takes 20 values in all filters of a list, each of at most 256 characters; IN takes more", async () => {
  const filters = ["application", "pipeline", "triggeredBy", "trigger", "service", "environment"];
  const texts = (count: number, text = "x") => Array.from({ length: count }, (_, index) => `${text}${index}`);
  const message = (name: string): string =>
    `Exception while fetching data (/executions) : The filter '${name}' has too many values: all filters with LIKE of a list take at most 20 together. Use IN with ids.`;
  for (const name of filters) {
    assert.equal(await found({ [name]: { operator: "LIKE", values: [...texts(20), null] } }), "");
    assert.equal(await refusal({ [name]: { operator: "LIKE", values: texts(21) } }), message(name));
    assert.equal(await found({ [name]: { operator: "IN", values: texts(1_000) } }), "");
    assert.equal(await found({ [name]: { operator: "LIKE", values: ["x".repeat(256)] } }), "");
    assert.equal(
      await refusal({ [name]: { operator: "LIKE", values: ["x".repeat(257)] } }),
      `Exception while fetching data (/executions) : A value of the filter '${name}' is too long: LIKE takes at most 256 characters.`,
    );
  }
  const each = filters.map((name) => ({ [name]: { operator: "LIKE", values: texts(4) } }));
  assert.equal(await refusal(each), message("environment"));
  assert.match(await refusal(Object.assign({}, ...each)), /has too many values/);
});

test("creationTime, startTime and endTime: AFTER, BEFORE, EQUALS, the moment itself excluded", async () => {
  const time = (name: string, operator: string, value: number) => found({ [name]: { operator, value } });
  for (const name of ["creationTime", "startTime"]) {
    assert.equal(await time(name, "AFTER", at["b"] ?? 0), "cd", name);
    assert.equal(await time(name, "BEFORE", at["b"] ?? 0), "a", name);
    assert.equal(await time(name, "EQUALS", at["b"] ?? 0), "b", name);
  }
  const end = (at["b"] ?? 0) + 5_000;
  assert.equal(await time("endTime", "AFTER", end - 1), "b");
  assert.equal(await time("endTime", "AFTER", end), "");
  assert.equal(await time("endTime", "BEFORE", end), "a");
  assert.equal(await time("endTime", "EQUALS", end), "b");
  for (const name of Object.keys(TIME_RULES))
    for (const operator of ["AFTER", "BEFORE", "EQUALS"])
      for (const value of [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) await time(name, operator, value);
});

test("duration is in milliseconds, and only what has ended has one", async () => {
  const duration = (operator: string, ...values: number[]) => found({ duration: { operator, values } });
  assert.equal(await duration("EQUALS", 1_000), "a");
  assert.equal(await duration("IN", 1_000, 5_000), "ab");
  assert.equal(await duration("NOT_EQUALS", 1_000), "b");
  assert.equal(await duration("GREATER_THAN", 1_000), "b");
  assert.equal(await duration("GREATER_THAN_OR_EQUALS", 1_000), "ab");
  assert.equal(await duration("LESS_THAN", 5_000), "a");
  assert.equal(await duration("LESS_THAN_OR_EQUALS", 5_000), "ab");
});

test("tags of the run and of its application; all of them, by name or by name and value", async () => {
  const tag = (tags: unknown, entityType?: string) => found({ tag: { tags, ...(entityType ? { entityType } : {}) } });
  assert.equal(await tag({ name: "team" }), "abc");
  assert.equal(await tag({ name: "team", value: "blue" }, "DEPLOYMENT"), "bc");
  assert.equal(await tag([{ name: "team" }, { name: "urgent", value: "" }]), "a");
  assert.equal(await tag({ name: "team", value: "blu" }), "");
  assert.equal(await tag({ name: "floor", value: "ground" }, "APPLICATION"), "abc");
  assert.equal(await tag({ name: "floor" }, "APPLICATION"), "abc");
  assert.equal(await tag({ name: "floor", value: "first" }, "APPLICATION"), "");
  assert.equal(await tag([{ name: "a\0b" }]), "");
  assert.equal(await tag([{ name: "a\0b", value: "\0" }], "APPLICATION"), "");
});

test("values are never SQL: quotes, NUL, patterns and what looks like a parameter find nothing", async () => {
  for (const value of ["'", "\0", "\\", "%\\", "$1", "?", "'; drop table executions; --", "\uD800"])
    for (const filter of ["pipeline", "application", "service", "environment", "trigger", "triggeredBy"])
      for (const operator of ["LIKE", "EQUALS"])
        assert.equal(await found({ [filter]: { operator, values: [value] } }), "", `${filter} ${value}`);
});

test("why a run ran, its tags, notes and failure: read when they are selected, in fragments too", async () => {
  const { body } = await platform.graphql(`
    { executions { nodes { ...Why } } }
    fragment Why on Execution { notes failureDetails tags { name value } cause { __typename
      ... on ExecutedByUser { user { id name email } } ... on ExecutedByTrigger { trigger { id name } } } }`);
  const [d, c, b, a] = body.data.executions.nodes;
  const [user] = await platform.db.query<{ name: string; email: string }>(
    "select name, email from users order by created_at, id limit 1",
  );
  const first = { __typename: "ExecutedByUser", user: { id: known[user?.name ?? ""], ...user } };
  assert.deepEqual(a, {
    notes: null,
    failureDetails: "Aborted by admin",
    tags: [
      { name: "team", value: "red" },
      { name: "urgent", value: "" },
    ],
    cause: first,
  });
  assert.equal(b.cause.user.id, known["second"]);
  assert.deepEqual(c.cause, { __typename: "ExecutedByTrigger", trigger: { id: known["hook"], name: "hook" } });
  assert.deepEqual([d.tags, d.cause], [[], first]);
  const { body: one } = await platform.graphql(
    `{ execution(executionId: "${ids["c"]}") { tags { value } cause { __typename } } }`,
  );
  assert.deepEqual(one.data.execution, { tags: [{ value: "blue" }], cause: { __typename: "ExecutedByTrigger" } });
  const { body: twice } = await platform.graphql(
    "{ executions(limit: 1) { nodes { id } } executions(limit: 1) { nodes { cause { __typename } } } }",
  );
  assert.deepEqual(twice.data.executions.nodes, [{ id: ids["d"], cause: { __typename: "ExecutedByUser" } }]);
});

test("another account's filters find nothing of this one's", async () => {
  const other = await platform.addAccount();
  const ask = async (f: unknown) => {
    const { body } = await platform.send("POST", `/api/graphql?accountId=${other.accountId}`, {
      apiKey: other.apiKey,
      contentType: "application/json",
      body: JSON.stringify({
        query: "query ($f: [ExecutionFilter]) { executions(filters: $f) { nodes { id } } }",
        variables: { f },
      }),
    });
    return body.data.executions.nodes;
  };
  for (const [filter, operator, values] of ROWS)
    assert.deepEqual(await ask({ [filter]: { operator, values: values() } }), []);
});

test("the index gives the order: neither the whole table nor a sort is needed for a page", async () => {
  const accountId = fromWire(platform.accountId) as Uuid;
  for (const filter of [
    [],
    [{ is: "pipelineIs", value: fromWire(known["one"] ?? "") }],
    [{ is: "projectIs", value: fromWire(known["The shop"] ?? "") }],
    [{ is: "statusIs", value: "running" }],
    [{ is: "personIs", value: fromWire(known["second"] ?? "") }],
    [
      { is: "startedAfter", value: at["a"] },
      { is: "endedBefore", value: at["d"] },
    ],
  ] as const) {
    const { text, values } = listStatement(accountId, filter as never, { limit: 100, offset: 0 });
    const plan = await platform.db.transaction(async (tx) => {
      await tx.query("set local enable_seqscan = off");
      await tx.query("set local enable_bitmapscan = off");
      await tx.query("set local enable_hashjoin = off");
      await tx.query("set local enable_mergejoin = off");
      return tx.query<{ "QUERY PLAN": string }>(`explain ${text}`, values);
    });
    const lines = plan.map((row) => row["QUERY PLAN"]).join("\n");
    assert.match(lines, /Index (Only )?Scan Backward using executions_by_/, lines);
    assert.doesNotMatch(lines, /Sort|Seq Scan on executions/, lines);
  }
  assert.equal(await countExecutions(platform.db, accountId, []), 4);
});
