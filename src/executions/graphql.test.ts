/** `executions` and `execution`: filters, order, pages. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, createTargets, pipelineYaml, projectYaml } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";

type Run = {
  readonly id: string;
  readonly pipeline: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
};

let platform: TestPlatform;
/** Newest first, as lists have them. All but the newest have ended. */
let runs: readonly Run[];
const pipelines: Record<string, string> = {};

/** Five runs of `one` and `two` in turn: each starts a second after the one before it has ended, and lasts one. */
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  for (const name of ["one", "two"]) await made(create.pipeline(platform, pipelineYaml(name)));
  const { body } = await platform.graphql("{ applications { nodes { pipelines { nodes { id name } } } } }");
  for (const { id, name } of body.data.applications.nodes[0].pipelines.nodes) pipelines[name] = id;
  const found: Run[] = [];
  for (const [index, pipeline] of ["one", "two", "one", "two", "one"].entries()) {
    platform.clock.advance(1_000);
    const startedAt = platform.clock.now();
    const { planExecution } = await made(create.run(platform, pipeline));
    platform.clock.advance(1_000);
    const id: string = planExecution.uuid;
    if (index < 4)
      await made(platform.send("PUT", `/pipeline/api/pipeline/execute/interrupt/${id}?interruptType=AbortAll`));
    found.unshift({ id, pipeline, startedAt, endedAt: index < 4 ? platform.clock.now() : null });
  }
  runs = found;
});
after(() => platform?.stop());

const LIST = `query ($f: [ExecutionFilter], $l: Int, $o: Int) { executions(filters: $f, limit: $l, offset: $o) { nodes { id } pageInfo { limit offset total hasMore } } }`;
const list = async (f: unknown, l: number | null = null, o: number | null = null) => {
  const { body } = await platform.graphql(LIST, { f, l, o });
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  const ids: string[] = body.data.executions.nodes.map(({ id }: Run) => id);
  return { ids, pageInfo: body.data.executions.pageInfo };
};
const idsOf = (which: (run: Run) => boolean): string[] => runs.filter(which).map(({ id }) => id);

test("all of them, newest first, with every field of the contract", async () => {
  const { body } = await platform.graphql(
    "{ executions { nodes { id application { id name } status startedAt endedAt createdAt ... on PipelineExecution { pipeline { id name } } } } }",
  );
  const application = { id: body.data.executions.nodes[0].application.id, name: "The shop" };
  assert.deepEqual(
    body.data.executions.nodes,
    runs.map(({ id, pipeline, startedAt, endedAt }) => ({
      id,
      application,
      status: endedAt === null ? "RUNNING" : "ABORTED",
      startedAt,
      endedAt,
      createdAt: startedAt,
      pipeline: { id: pipelines[pipeline], name: pipeline },
    })),
  );
});

test("one execution by its id; any other id does not exist", async () => {
  const query = "query ($id: String!) { execution(executionId: $id) { id status } }";
  const [newest] = runs;
  assert.deepEqual((await platform.graphql(query, { id: newest?.id })).body, {
    data: { execution: { id: newest?.id, status: "RUNNING" } },
  });
  for (const id of ["", "x", "\0", "AAAAAAAAAAAAAAAAAAAAAA", pipelines["one"]]) {
    const { body } = await platform.graphql(query, { id });
    assert.deepEqual(body.data, { execution: null });
    assert.match(
      body.errors[0].message,
      /^Exception while fetching data \(\/execution\) : .*execution does not exist\.$/,
    );
  }
});

test("the pipeline filter with limit 1 is the most recent execution of that pipeline", async () => {
  for (const name of ["one", "two"])
    for (const filter of [
      [{ pipeline: { operator: "EQUALS", values: [pipelines[name]] } }],
      { pipeline: { operator: "EQUALS", values: pipelines[name] } },
    ]) {
      const { ids, pageInfo } = await list(filter, 1);
      assert.deepEqual(ids, idsOf(({ pipeline }) => pipeline === name).slice(0, 1));
      assert.deepEqual(pageInfo, { limit: 1, offset: 0, total: name === "one" ? 3 : 2, hasMore: true });
    }
});

test("pipeline filters: EQUALS, IN, NOT_IN, values that are no id", async () => {
  const { one, two } = pipelines;
  const cases: readonly (readonly [operator: string, values: unknown, expected: (run: Run) => boolean])[] = [
    ["EQUALS", [one], ({ pipeline }) => pipeline === "one"],
    ["IN", [one, two], () => true],
    ["IN", [one, "x", null], ({ pipeline }) => pipeline === "one"],
    ["NOT_IN", [one], ({ pipeline }) => pipeline === "two"],
    ["NOT_IN", [], () => true],
    ["EQUALS", ["x"], () => false],
    ["EQUALS", [], () => false],
    ["IN", ["\0"], () => false],
  ];
  for (const [operator, values, expected] of cases)
    assert.deepEqual(
      (await list([{ pipeline: { operator, values } }])).ids,
      idsOf(expected),
      `${operator} ${String(values)}`,
    );
});

test("time filters are strict, and a run that has not ended ended neither before nor after anything", async () => {
  const [, second, third] = runs;
  const [start, end] = [Number(third?.startedAt), Number(second?.endedAt)];
  const time = (key: string, operator: string, value: number) => list([{ [key]: { operator, value } }]);
  assert.deepEqual(
    (await time("startTime", "AFTER", start)).ids,
    idsOf((run) => run.startedAt > start),
  );
  assert.deepEqual(
    (await time("startTime", "BEFORE", start)).ids,
    idsOf((run) => run.startedAt < start),
  );
  assert.deepEqual((await time("startTime", "EQUALS", start)).ids, [third?.id]);
  assert.deepEqual(
    (await time("endTime", "BEFORE", end)).ids,
    idsOf((run) => run.endedAt !== null && run.endedAt < end),
  );
  assert.deepEqual(
    (await time("endTime", "AFTER", 0)).ids,
    idsOf((run) => run.endedAt !== null),
  );
  assert.deepEqual((await time("endTime", "EQUALS", end)).ids, [second?.id]);
  for (const value of [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])
    assert.ok(await time("startTime", "AFTER", value));
  for (const [value, why] of [
    ["1e20", "Long takes a whole number."],
    ["100000000000000000000", "Long takes a whole number of up to 53 bits."],
    ['"s3cret; Long takes a whole number."', "Long takes a whole number."],
  ] as const) {
    const { body } = await platform.graphql(
      `{ executions(filters: [{ startTime: { operator: AFTER, value: ${value} } }]) { nodes { id } } }`,
    );
    assert.equal(body.errors[0].message, `Expected value of type "Long!"; ${why}`);
  }
});

test("filters of a list, and keys of a filter, all have to hold", async () => {
  const [, , third] = runs;
  const [pipeline, startTime, endTime] = [
    { operator: "EQUALS", values: [pipelines["one"]] },
    { operator: "AFTER", value: Number(runs.at(-1)?.startedAt) },
    { operator: "BEFORE", value: platform.clock.now() },
  ];
  const expected = [third?.id];
  assert.deepEqual((await list([{ pipeline }, { startTime }, { endTime }])).ids, expected);
  assert.deepEqual((await list([{ pipeline, startTime, endTime }])).ids, expected);
  const both = [{ pipeline }, { pipeline: { operator: "EQUALS", values: [pipelines["two"]] } }];
  assert.deepEqual((await list(both)).ids, []);
  const at = (value: number) => ({ startTime: { operator: "EQUALS", value } });
  assert.deepEqual((await list([at(Number(runs[0]?.startedAt)), at(Number(runs[1]?.startedAt))])).ids, []);
  for (const nothing of [null, [], [null], {}, [{}]])
    assert.equal((await list(nothing)).ids.length, 5, JSON.stringify(nothing));
});

test("the history of the last twenty-four hours, limit 100, offset 0", async () => {
  const now = platform.clock.now();
  const window = [
    { startTime: { operator: "AFTER", value: now - 86_400_000 } },
    { endTime: { operator: "BEFORE", value: now + 1 } },
  ];
  assert.deepEqual(
    (await list(window, 100, 0)).ids,
    idsOf(({ endedAt }) => endedAt !== null),
  );
});

test("pages: offset counts records, limits over 1000 are cut, negative ones refused", async () => {
  const all = idsOf(() => true);
  assert.deepEqual((await list(null, 2, 1)).ids, all.slice(1, 3));
  assert.deepEqual(await list(null, 0), { ids: [], pageInfo: { limit: 0, offset: 0, total: 5, hasMore: true } });
  assert.deepEqual(await list(null, 10, 99), {
    ids: [],
    pageInfo: { limit: 10, offset: 99, total: 5, hasMore: false },
  });
  assert.deepEqual((await list(null, 1_001)).pageInfo, { limit: 1_000, offset: 0, total: 5, hasMore: false });
  assert.equal((await list(null)).pageInfo.limit, 100);
  assert.equal((await list(null, 2_147_483_647, 2_147_483_647)).ids.length, 0);
  for (const [l, o, name] of [
    [-1, 0, "limit"],
    [0, -1, "offset"],
  ]) {
    const { body } = await platform.graphql(LIST, { l, o });
    assert.deepEqual(body.data, { executions: null });
    assert.equal(body.errors[0].message, `Exception while fetching data (/executions) : ${name} must not be negative.`);
  }
});

test("another account sees none of it", async () => {
  const other = await platform.addAccount();
  const ask = async (query: string) =>
    (
      await platform.send("POST", `/api/graphql?accountId=${other.accountId}`, {
        apiKey: other.apiKey,
        contentType: "application/json",
        body: JSON.stringify({ query }),
      })
    ).body;
  assert.deepEqual(
    (await ask("{ executions { nodes { id } pageInfo { total } } applications { nodes { id } } }")).data,
    {
      executions: { nodes: [], pageInfo: { total: 0 } },
      applications: { nodes: [] },
    },
  );
  const filter = `{ pipeline: { operator: EQUALS, values: ["${pipelines["one"]}"] } }`;
  assert.deepEqual((await ask(`{ executions(filters: ${filter}) { nodes { id } } }`)).data.executions.nodes, []);
  assert.deepEqual((await ask(`{ execution(executionId: "${runs[0]?.id}") { id } }`)).data, { execution: null });
});

test("a document that asks for both kinds of executions is answered, and each of them is a pipeline's", async () => {
  const { body } = await platform.graphql(`{ executions(limit: 5) { nodes { __typename id
    ... on PipelineExecution { pipeline { name } }
    ... on WorkflowExecution {
      workflow { id name } inputVariables { name value }
      artifacts { id buildNo collectedAt artifactSource { id name createdAt } } rollbackArtifacts { buildNo }
      outcomes { nodes { ... on DeploymentOutcome { service { id name } environment { id name } } } }
    } } } }`);
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  const { nodes } = body.data.executions;
  assert.ok(nodes.length > 0);
  for (const node of nodes) assert.deepEqual([node.__typename, Object.keys(node).length], ["PipelineExecution", 3]);
});
