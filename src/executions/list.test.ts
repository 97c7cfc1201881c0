/** Lists and details of executions in REST, and GraphQL's word for the same run. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { abortRun, addPipeline, detailOf, createPipelines, SCOPE, startRun } from "../../test/support/runs.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { pretendDelegate, type PretendDelegate } from "../../test/support/pretend-delegate.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;
/** Oldest first, a second apart, with their words in REST and GraphQL. */
const made: { id: string; rest: string; graphql: string; startTs: number; pipeline: string }[] = [];

const SKETCH = {
  steps: [
    { id: "a", timeout: "1m", selectors: ["x"] },
    { id: "b", selectors: ["x"] },
  ],
};

before(async () => {
  platform = await startTestPlatform();
  delegate = await pretendDelegate({
    url: platform.url,
    token: await platform.delegateToken(),
    tags: ["x"],
    slots: 32,
  });
  await delegate.next("welcome");
  await createPipelines(platform, { id: "first", ...SKETCH }, { id: "second", ...SKETCH });
  await make("first", "Success", "SUCCESS", async () => {
    await finish();
    await finish();
  });
  await make("second", "Failed", "FAILED", () => finish(3));
  await make("first", "Aborted", "ABORTED", async (id) => {
    const run = await delegate.next("run");
    await abortRun(platform, id);
    await stopped(run);
  });
  await make("second", "Expired", "EXPIRED", async () => {
    const run = await delegate.next("run");
    platform.clock.advance(60_000);
    await platform.platform.sweep();
    await stopped(run);
  });
  await make("first", "Running", "RUNNING", async () => void (await delegate.next("run")));
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

async function make(
  pipeline: string,
  rest: string,
  graphql: string,
  live: (id: string) => Promise<void>,
): Promise<void> {
  platform.clock.advance(1_000);
  const startTs = platform.clock.now();
  const id = await startRun(platform, pipeline);
  await live(id);
  made.push({ id, rest, graphql, startTs, pipeline });
}

async function finish(exitCode = 0): Promise<void> {
  delegate.finish(await delegate.next("run"), { exitCode, outputs: [{ name: "v", value: "1" }] });
  await delegate.next("finishedAck");
}

async function stopped(run: { task: string; epoch: number }): Promise<void> {
  await delegate.next("cancel");
  delegate.cancelled(run, 0);
  await delegate.next("finishedAck");
}

const list = (query = "", body?: unknown): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/pipelines/execution/summary?${SCOPE}${query}`, {
    ...(body === undefined ? {} : { body: JSON.stringify(body), contentType: "application/json" }),
  });
const idsOf = (answer: Answer): string[] =>
  answer.body.data.content.map((one: { planExecutionId: string }) => one.planExecutionId);
const newestFirst = (which: (one: (typeof made)[number]) => boolean): string[] =>
  made
    .filter(which)
    .map(({ id }) => id)
    .toReversed();

test("every run has its word in REST and in GraphQL", async () => {
  for (const { id, rest, graphql } of made) {
    assert.equal((await detailOf(platform, id)).status, rest);
    const { body } = await platform.graphql(`{ execution(executionId: "${id}") { status } }`);
    assert.equal(body.data.execution.status, graphql);
  }
});

test("newest first, page by page, with counts of what is not shown", async () => {
  const all = newestFirst(() => true);
  assert.deepEqual(idsOf(await list()), all);
  const pages: string[] = [];
  for (const [page, first, last, numberOfElements] of [
    [0, true, false, 2],
    [1, false, false, 2],
    [2, false, true, 1],
  ] as const) {
    const answer = await list(`&page=${page}&size=2`);
    const { data } = answer.body;
    pages.push(...idsOf(answer));
    assert.deepEqual(
      [
        data.first,
        data.last,
        data.numberOfElements,
        data.totalElements,
        data.totalPages,
        data.number,
        data.size,
        data.empty,
      ],
      [first, last, numberOfElements, 5, 3, page, 2, false],
    );
    assert.deepEqual(data.pageable, { offset: page * 2, pageNumber: page, pageSize: 2, paged: true, unpaged: false });
  }
  assert.deepEqual(pages, all);
  const past = (await list("&page=9&size=2")).body.data;
  assert.deepEqual([past.empty, past.numberOfElements, past.totalElements], [true, 0, 5]);
});

test("filters by pipeline, status and time, all of them together", async () => {
  assert.deepEqual(
    idsOf(await list("&pipelineIdentifier=first")),
    newestFirst((one) => one.pipeline === "first"),
  );
  assert.deepEqual(idsOf(await list("&pipelineIdentifier=none")), []);
  const body = { filterType: "PipelineExecution", status: ["Success", "Failed"] };
  assert.deepEqual(
    idsOf(await list("", body)),
    newestFirst(({ rest }) => rest === "Success" || rest === "Failed"),
  );
  assert.deepEqual(
    idsOf(await list("&pipelineIdentifier=first", body)),
    newestFirst(({ rest }) => rest === "Success"),
  );
  assert.deepEqual(
    idsOf(await list("", { filterType: "PipelineExecution", status: [] })),
    newestFirst(() => true),
  );
  const [, second, third] = made;
  const timeRange = { startTime: second?.startTs, endTime: third?.startTs };
  assert.deepEqual(idsOf(await list("", { timeRange })), [third?.id, second?.id]);
  assert.deepEqual(
    idsOf(await list("", { timeRange: { startTime: (second?.startTs ?? 0) + 1, endTime: third?.startTs } })),
    [third?.id],
  );
});

test("what is no filter is refused", async () => {
  for (const body of [
    { status: ["SUCCESS"] },
    { status: "Success" },
    { timeRange: { startTime: "x" } },
    { timeRange: { startTime: 8_640_000_000_000_001 } },
    { timeRange: { endTime: 8_640_000_000_000_001 } },
    { filterType: "Other" },
    { pipelineName: 1 },
    { executionModeFilter: "CHILD_ONLY" },
    [],
  ])
    assert.equal((await list("", body)).status, 400, JSON.stringify(body));
  for (const query of [
    "&page=-1",
    "&size=1001",
    "&page=x",
    "&status=SUCCESS",
    "&myDeployments=yes",
    "&filterIdentifier=mine",
  ])
    assert.equal((await list(query)).status, 400, query);
});

test("a project shows its own runs only, an account its own projects", async () => {
  const project = { name: "Q", identifier: "q", orgIdentifier: "default" };
  await platform.send("POST", "/ng/api/projects?orgIdentifier=default", {
    contentType: "application/json",
    body: JSON.stringify({ project }),
  });
  const empty = await platform.send(
    "POST",
    "/pipeline/api/pipelines/execution/summary?orgIdentifier=default&projectIdentifier=q",
  );
  assert.equal(empty.body.data.totalElements, 0);
  const other = await platform.addAccount();
  const foreign = await platform.send("POST", `/pipeline/api/pipelines/execution/summary?${SCOPE}`, {
    account: other.accountId,
    apiKey: other.apiKey,
  });
  assert.equal(foreign.status, 404);
});

test("a detail is the whole tree: every node, its children, what follows it, who ran it, what came of it", async () => {
  const { id, startTs } = made[0] ?? { id: "", startTs: 0 };
  const { summary, graph, step } = await detailOf(platform, id);
  assert.equal(graph.representationStrategy, "camelCase");
  const nodes = graph.nodeMap as Record<
    string,
    { uuid: string; stepType: string; identifier: string; status: string; startTs: number }
  >;
  const edges = graph.nodeAdjacencyListMap as Record<string, { children: string[]; nextIds: string[] }>;
  assert.deepEqual(Object.keys(edges).toSorted(), Object.keys(nodes).toSorted());
  const walk = (node: string): unknown => [nodes[node]?.identifier, ...(edges[node]?.children ?? []).map(walk)];
  assert.deepEqual(walk(graph.rootNodeId), ["first", ["stage", ["steps", ["a"], ["b"]], ["rollbackSteps"]]]);
  assert.deepEqual(edges[step("a")["uuid"]]?.nextIds, [step("b")["uuid"]]);
  assert.deepEqual(edges[step("b")["uuid"]]?.nextIds, []);
  assert.deepEqual(step("a")["outcomes"], { output: { outputVariables: { v: "1" } } });
  assert.equal(step("a")["stepType"], "ShellScript");
  assert.equal(step("a")["baseFqn"], "pipeline.stages.stage.spec.execution.steps.a");
  assert.equal(step("a")["delegateInfoList"][0].name, "pretend");
  assert.equal(step("a")["waitReason"], null);
  assert.equal(step("stage")["stepType"], "Deployment");
  assert.equal(step("rollbackSteps")["status"], "Skipped");
  assert.deepEqual(
    [
      summary.startTs,
      summary.endTs,
      summary.runSequence,
      summary.totalStagesCount,
      summary.successfulStagesCount,
      summary.failedStagesCount,
      summary.runningStagesCount,
    ],
    [startTs, startTs, 1, 1, 1, 0, 0],
  );
  const stage = summary.layoutNodeMap[summary.startingNodeId];
  assert.deepEqual(
    [stage.nodeType, stage.nodeGroup, stage.nodeIdentifier, stage.status, stage.edgeLayoutList],
    ["Deployment", "STAGE", "stage", "Success", { currentNodeChildren: [], nextIds: [] }],
  );
});

test("a failure is told at the step, the stage and the run", async () => {
  const { summary, step } = await detailOf(platform, made[1]?.id ?? "");
  assert.deepEqual(step("a")["failureInfo"], {
    message: "Step 'a' exited with code 3",
    failureTypeList: ["APPLICATION_ERROR"],
    responseMessages: [],
    logTail: null,
  });
  assert.equal(step("b")["status"], "Skipped");
  assert.deepEqual(step("b")["failureInfo"], {
    message: "",
    failureTypeList: [],
    responseMessages: [],
    logTail: null,
  });
  assert.equal(summary.executionErrorInfo.message, "Step 'a' exited with code 3");
  assert.equal(summary.layoutNodeMap[summary.startingNodeId].failureInfo.message, "Step 'a' exited with code 3");
  assert.equal(summary.failedStagesCount, 1);
});

test("what is still to come has not started, and what waits says why", async () => {
  await addPipeline(platform, { id: "waits", steps: [{ id: "a", selectors: ["gpu", "eu"] }, { id: "b" }] });
  const id = await startRun(platform, "waits");
  const { step, status } = await detailOf(platform, id);
  assert.deepEqual([status, step("a")["status"], step("b")["status"]], ["Running", "TaskWaiting", "NotStarted"]);
  assert.equal(
    step("a")["waitReason"],
    "Waits for a delegate with all of the selectors [gpu, eu]: none that is connected has them and a free slot.",
  );
  assert.deepEqual([step("b")["startTs"], step("b")["waitReason"], step("a")["delegateInfoList"]], [null, null, []]);
});

test("a detail is found by its id alone, or within its project; both addresses answer alike", async () => {
  const { id = "" } = made[0] ?? {};
  const path = `/pipeline/api/pipelines/execution/${id}`;
  const plain = await platform.send("GET", path);
  const scoped = await platform.send("GET", `/pipeline/api/pipelines/execution/v2/${id}?${SCOPE}`);
  assert.deepEqual(scoped.body.data, plain.body.data);
  assert.equal((await platform.send("GET", `${path}?orgIdentifier=default&projectIdentifier=q`)).status, 404);
  for (const bad of ["x", "AZMAAAAAcACAAAAAAAAAAA", "%00", "..%2f"]) {
    const answer = await platform.send("GET", `/pipeline/api/pipelines/execution/${bad}`);
    assert.equal(answer.status, 404, bad);
  }
});
