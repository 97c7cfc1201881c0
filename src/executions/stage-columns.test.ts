/** Lists read small columns beside plan and state: what they show, and that they read nothing larger. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
} from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { pretendDelegate, type PretendDelegate } from "../../test/support/pretend-delegate.ts";
import { adminOf } from "../../test/support/secrets.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Db } from "../platform/db/db.ts";
import { asCaller, currentShare } from "../platform/db/pool/budget.ts";
import type { ListedExecution, WithStages } from "./execution.ts";
import { makeReadStages, withStages } from "./stages.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;
let statements: string[] = [];
/** One that runs, one that was aborted, one that has failed, and one that a webhook started and that has succeeded. */
let runs: { readonly running: string; readonly aborted: string; readonly failed: string; readonly hooked: string };

const EXECUTION = "/pipeline/api/pipelines/execution";
const VARIABLES = `        variables:
          - { name: size, type: Number, value: 3 }
          - { name: of, type: String, value: <+pipeline.identifier> }
`;

function twoStages(identifier: string): string {
  const [head = "", stage = ""] = pipelineYaml(identifier).split("  stages:\n");
  const second = stage.replace("name: Build", "name: Ship it").replace("identifier: build", "identifier: ship");
  return `${head}  stages:\n${stage.replace("        spec:\n", `${VARIABLES}        spec:\n`)}${second}`;
}

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: (text, values) => {
        statements.push(text);
        return db.query(text, values);
      },
      tuples: (text, values) => {
        statements.push(text);
        return db.tuples(text, values);
      },
    }),
  });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, twoStages("two")));
  await made(create.pipeline(platform, pipelineYaml("hooked")));
  const { webhookUrl } = await made(create.trigger(platform, "hooked", triggerYaml("hooked")));
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 8 });
  await delegate.next("welcome");
  const begin = async (): Promise<string> => (await made(create.run(platform, "two"))).planExecution.uuid;
  const finish = async (exitCode: number, output: string): Promise<void> => {
    delegate.finish(await delegate.next("run"), { exitCode, output });
    await delegate.next("finishedAck");
  };
  const failed = await begin();
  await finish(3, "no such file\n");
  await platform.send("POST", new URL(webhookUrl).pathname + new URL(webhookUrl).search, { body: `{"a":"b"}` });
  await finish(0, "");
  const [hooked] = await allStages();
  const aborted = await begin();
  const task = await delegate.next("run");
  await made(platform.send("PUT", `/pipeline/api/pipeline/execute/interrupt/${aborted}?interruptType=AbortAll`));
  delegate.finish(task, { exitCode: 0 });
  await delegate.next("finishedAck");
  runs = { failed, hooked: hooked.id, aborted, running: await begin() };
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

const STAGES = `pipelineStageExecutions { pipelineStageElementId pipelineStageName
  ... on WorkflowStageExecution { status inputVariables { name value } } }`;
const EVERYTHING = `id status createdAt startedAt endedAt notes failureDetails tags { name value } application { id name }
  cause { ... on ExecutedByUser { user { email } } ... on ExecutedByTrigger { trigger { id name } } }
  ... on PipelineExecution { pipeline { id } memberExecutions { nodes { id } } ${STAGES} }`;

async function graphql(query: string) {
  const { body } = await platform.graphql(query);
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  return body.data;
}
const allStages = async () =>
  (await graphql(`{ executions { nodes { id ... on PipelineExecution { ${STAGES} } } } }`)).executions.nodes;
const summaries = async () => (await made(platform.send("POST", `${EXECUTION}/summary?${SCOPE}&size=100`))).content;

type Columns = { readonly id: Uuid; readonly status: string; readonly columns: object };
const columns = (): Promise<Columns[]> =>
  platform.db.query<Columns>(
    "select id, status, json_build_object('of', stages, 'now', stage_states, 'last', last_node_id) as columns from executions order by id",
  );
/** As runs of an older server are. */
const forget = (): Promise<unknown> =>
  platform.db.query("update executions set stages = null, stage_states = null, last_node_id = null");
/** Statements that read what may be large. */
const large = (): string[] => statements.filter((text) => /\b(?:plan|header|payload|input_yaml)\b/.test(text));

test("no list reads a plan, a state, a payload or inputs, whatever is selected; nor does one run in GraphQL", async () => {
  const lists = [
    () => graphql(`{ executions { nodes { ${EVERYTHING} } pageInfo { total } } }`),
    () => graphql(`{ execution(executionId: "${runs.hooked}") { ${EVERYTHING} } }`),
    summaries,
    () => made(platform.send("POST", `${EXECUTION}/summary/outline?${SCOPE}`)),
    () => made(platform.send("POST", `/pipeline/api/pipelines/list?${SCOPE}`)),
    () => made(platform.send("GET", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=hooked`)),
  ];
  for (const list of lists) {
    statements = [];
    await list();
    assert.notEqual(statements.length, 0);
    assert.deepEqual(large(), []);
  }
});

test("the plan that several callers wait for is read outside of the share of the caller that asked first", async () => {
  await forget();
  const read: (readonly [plan: boolean, share: string | undefined])[] = [];
  const query: Db["query"] = (text, values) => {
    if (text.startsWith("select") || text.startsWith("/*")) read.push([/\bplan\b/.test(text), currentShare()]);
    return platform.db.query(text, values);
  };
  const readStages = makeReadStages({ db: { ...platform.db, query } });
  const caller = adminOf(platform);
  await asCaller(caller, () => readStages(caller.accountId, [fromWire(runs.failed) as Uuid]));
  const ofCaller = `caller ${caller.accountId} ${caller.accountId}`;
  assert.deepEqual(read, [
    [false, ofCaller],
    [false, undefined],
    [true, undefined],
  ]);
});

test("a summary shows of each run what its detail shows, which reads the plan", async () => {
  const found = await summaries();
  assert.deepEqual(
    found.map(({ planExecutionId, status }: { planExecutionId: string; status: string }) => [planExecutionId, status]),
    [
      [runs.running, "Running"],
      [runs.aborted, "Aborted"],
      [runs.hooked, "Success"],
      [runs.failed, "Failed"],
    ],
  );
  for (const summary of found) {
    const detail = await made(platform.send("GET", `${EXECUTION}/v2/${summary.planExecutionId}?${SCOPE}`));
    assert.deepEqual(summary, detail.pipelineExecutionSummary);
  }
  const failed = found.at(-1);
  assert.equal(failed.executionErrorInfo.logTail, "no such file");
  assert.equal(failed.failedStagesCount, 1);
  assert.equal(failed.totalStagesCount, 2);
});

test("the plan of a run of an older server is parsed by the first list alone, the state until the run has ended", async () => {
  const expected = { stages: await allStages(), summaries: await summaries(), columns: await columns() };
  for (const list of [allStages, summaries]) {
    await forget();
    assert.deepEqual(await list(), list === allStages ? expected.stages : expected.summaries);
    assert.deepEqual(
      await columns(),
      expected.columns.map((row) =>
        row.status === "running" ? { ...row, columns: { ...row.columns, now: null } } : row,
      ),
    );
    statements = [];
    assert.deepEqual(await list(), list === allStages ? expected.stages : expected.summaries);
    // The state of the run that has not ended is read each time, no plan.
    assert.equal(large().length, 1);
    assert.match(large()[0] ?? "", /^select e\.header,(?!.*\b(?:plan|payload|input_yaml)\b)/s);
  }
});

test("requests that come at once share one reading of such a run", async () => {
  await forget();
  const accountId = fromWire(platform.accountId) as Uuid;
  const gate = Promise.withResolvers<void>();
  const texts: string[] = [];
  const read = makeReadStages({
    db: {
      ...platform.db,
      query: async (text, values) => {
        if (text.includes("e.plan")) {
          texts.push(text);
          await gate.promise;
        }
        const rows = await platform.db.query<never>(text, values);
        if (text.includes("e.stages")) texts.push(text);
        return rows;
      },
    },
  });
  const ids = [fromWire(runs.failed) as Uuid];
  const count = (part: string): number => texts.filter((text) => text.includes(part)).length;
  const [first, second] = [read(accountId, ids), read(accountId, ids)];
  await eventually(async () => {
    await platform.db.query("select 1");
    return count("e.plan") > 0 && count("e.stages") === 3 ? true : undefined;
  });
  await platform.db.query("select 1");
  gate.resolve();
  assert.deepEqual(await first, await second);
  assert.equal(count("e.plan"), 1);
});

test("a run that another request has completed meanwhile is not read again", async () => {
  await forget();
  const texts: string[] = [];
  const read = makeReadStages({
    db: {
      ...platform.db,
      query: async (text, values) => {
        const rows = await platform.db.query<never>(text, values);
        if (texts.push(text) === 1) await summaries();
        return rows;
      },
    },
  });
  const id = fromWire(runs.failed) as Uuid;
  const found = await read(fromWire(platform.accountId) as Uuid, [id]);
  assert.equal((found.get(id) as WithStages).stages.length, 2);
  assert.deepEqual(
    texts.filter((text) => text.includes("e.plan")),
    [],
  );
});

test("a run that another transaction has locked is listed without waiting, and completed later", async () => {
  await forget();
  const stored = async () => (await columns()).find(({ id }) => id === fromWire(runs.running))?.columns;
  await platform.db.transaction(async (tx) => {
    await tx.query("select id from executions where id = $1 for update", [fromWire(runs.running)]);
    assert.equal((await allStages()).length, 4);
    assert.deepEqual(await stored(), { of: null, now: null, last: null });
  });
  await allStages();
  assert.notDeepEqual(await stored(), { of: null, now: null, last: null });
});

test("one statement reads the stages of 50 runs at most", async () => {
  const accountId = fromWire(platform.accountId) as Uuid;
  const texts: string[] = [];
  const read = makeReadStages({
    db: { ...platform.db, query: (text, values) => (texts.push(text), platform.db.query(text, values)) },
  });
  await summaries();
  const [failed, aborted] = [fromWire(runs.failed) as Uuid, fromWire(runs.aborted) as Uuid];
  const unknown = Array.from({ length: 99 }, () => accountId);
  const found = await read(accountId, [failed, ...unknown, aborted]);
  assert.deepEqual([...found.keys()], [failed, aborted]);
  assert.equal(texts.filter((text) => text.includes("e.stages")).length, 3);
});

test("stages for which one answer has no room are refused for their runs alone, and what follows is not read", async () => {
  await summaries();
  const accountId = fromWire(platform.accountId) as Uuid;
  const ids = [fromWire(runs.failed) as Uuid, fromWire(runs.aborted) as Uuid];
  const texts: string[] = [];
  const read = makeReadStages({
    db: { ...platform.db, query: (text, values) => (texts.push(text), platform.db.query(text, values)) },
    mostBytes: 600,
  });
  const codesOf = async (asked: readonly Uuid[]): Promise<unknown[]> => {
    const found = await read(accountId, asked);
    return asked.map((id) => {
      const one = found.get(id);
      return one instanceof Problem ? one.code : one?.stages.length;
    });
  };
  for (const id of ids) assert.deepEqual(await codesOf([id]), [2]);
  assert.deepEqual(new Set(await codesOf(ids)), new Set([2, "execution.too_many_stages"]));
  texts.length = 0;
  const others = Array.from({ length: 48 }, () => accountId);
  assert.deepEqual((await codesOf([...ids, ...others, ...ids])).slice(-2), [
    "execution.too_many_stages",
    "execution.too_many_stages",
  ]);
  assert.equal(texts.length, 1);
  const rows = ids.map((id) => ({ id, status: "failed", retriedById: null }) as ListedExecution);
  await assert.rejects(withStages({ readStages: read, clock: platform.clock }, accountId, rows), {
    code: "execution.too_many_stages",
  });
  assert.equal((await withStages({ readStages: read, clock: platform.clock }, accountId, rows.slice(1))).length, 1);
});

/** Before every id. */
const NO_ID = "00000000-0000-0000-0000-000000000000";

test("the run of a node is looked for among the runs whose last node is not before it", async () => {
  await summaries();
  await platform.db.query("update executions set last_node_id = null where id = $1", [fromWire(runs.running)]);
  const node = async (id: string) =>
    platform.send("GET", `/pipeline/api/pipelines/getExecutionNode?nodeExecutionId=${id}&${SCOPE}`);
  for (const run of Object.values(runs)) {
    const { executionGraph } = await made(platform.send("GET", `${EXECUTION}/v2/${run}?${SCOPE}`));
    const ids = Object.keys(executionGraph.nodeMap);
    for (const id of ids) assert.equal((await node(id)).status, 200);
    await platform.db.query("update executions set last_node_id = $2 where id = $1", [fromWire(run), NO_ID]);
    const reached = await platform.db.query<{ id: Uuid }>("select id from execution_nodes where execution_id = $1", [
      fromWire(run),
    ]);
    const isReached = (id: string): boolean => reached.some((row) => row.id === fromWire(id));
    assert.ok(isReached(executionGraph.rootNodeId));
    for (const id of ids)
      assert.equal((await node(id)).status, isReached(id) ? 200 : 404, "its plan is not looked into");
  }
});

test("a run that an older server has ended shows how it has ended", async () => {
  const id = fromWire((await made(create.run(platform, "two"))).planExecution.uuid);
  const statusOf = async (): Promise<string> => (await allStages())[0].pipelineStageExecutions[0].status;
  assert.equal(await statusOf(), "RUNNING");
  const nodes = await platform.db.query<{ id: Uuid }>(
    "delete from execution_nodes where execution_id = $1 returning id",
    [id],
  );
  const ended = { status: "aborted", startedAt: 1, endedAt: 9, failure: null };
  const ofNodes = nodes.map(({ id: node }) => [node, { ...ended, attempt: 1, outputs: [] }]);
  const state = { ...ended, aborting: true, nodes: Object.fromEntries(ofNodes) };
  await platform.db.query(
    "update executions set status = 'aborted', header = $2, format = 1, ended_at = 9 where id = $1",
    [id, JSON.stringify(state)],
  );
  assert.equal(await statusOf(), "ABORTED");
});
