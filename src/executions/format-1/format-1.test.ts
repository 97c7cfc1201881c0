/**
 * Executions as servers before format 2 stored them (`recorded.json`: rows and answers of such a server) are shown as
 * before, go on from where they are, and are rewritten by their first event.
 */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { abortRun, createPipelines, detailOf, SCOPE, startRun, statusesOf } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  type Lease,
  type PretendDelegate,
} from "../../../test/support/pretend-delegate.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";

type Recorded = {
  readonly id: Uuid;
  readonly status: string;
  readonly plan: { readonly nodes: Readonly<Record<string, { readonly identifier: string }>> };
  readonly state: object;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly failure: string | null;
  readonly timers: readonly { readonly node_id: Uuid; readonly due_at: number }[];
  readonly tasks: readonly {
    readonly node_id: Uuid;
    readonly attempt: number;
    readonly status: string;
    readonly selectors: readonly string[];
    readonly epoch: number;
    readonly cancelling: boolean;
  }[];
  readonly shown: { readonly nodes: object; readonly adjacency: object; readonly layout: object };
};

const recorded = JSON.parse(readFileSync(new URL("recorded.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Recorded>
>;
const of = (name: string): Recorded => recorded[name] ?? assert.fail(name);
const idOf = (name: string): string => toWire(of(name).id);

let platform: TestPlatform;
let delegate: PretendDelegate;
/** The leases of running tasks, by execution and step. */
const leases = new Map<string, Lease>();
const leaseOf = (name: string): Lease => leases.get(name) ?? assert.fail(name);

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "any", steps: [{ id: "a", selectors: ["nowhere"] }] });
  const template = fromWire(await startRun(platform, "any"));
  const identity = newIdentity();
  const token = await platform.delegateToken();
  const connect = (holds: Lease[]): Promise<PretendDelegate> =>
    pretendDelegate({ url: platform.url, token, identity, slots: 8, holds });
  const first = await connect([]);
  await first.next("welcome");
  await first.close();
  const [row] = await platform.db.query<{ id: Uuid }>("select id from delegates");
  assert.ok(template && row);
  for (const [nth, name] of Object.keys(recorded).entries()) await store(name, { template, delegateId: row.id, nth });
  delegate = await connect([...leases.values()].map(({ task, epoch }) => ({ task, epoch })));
  assert.deepEqual((await delegate.next("welcome")).drop, []);
  await delegate.next("cancel");
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

async function store(name: string, at: { template: Uuid; delegateId: Uuid; nth: number }): Promise<void> {
  const { id, status, plan, state, startedAt, endedAt, failure, timers, tasks } = of(name);
  await platform.db.query(
    `insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, header,
                             trigger_type, triggered_by, created_at, started_at, ended_at, failure)
     select account_id, $2, project_id, pipeline_id, pipeline_version, run_sequence + $3, $4, $5, $6, trigger_type,
            triggered_by, $7, $7, $8, $9 from executions where id = $1`,
    [at.template, id, at.nth + 1, status, JSON.stringify(plan), JSON.stringify(state), startedAt, endedAt, failure],
  );
  for (const timer of timers)
    await platform.db.query(
      `insert into execution_timers (account_id, execution_id, node_id, purpose, due_at)
       select account_id, id, $2, 'timeout', $3 from executions where id = $1`,
      [id, timer.node_id, timer.due_at],
    );
  for (const task of tasks) {
    const taskId = randomUUIDv7() as Uuid;
    if (task.status === "leased") leases.set(name, { task: toWire(taskId), epoch: task.epoch });
    await platform.db.query(
      `insert into tasks (account_id, id, run_id, node_id, attempt, status, epoch, delegate_id, selectors, work, cancelling,
                          created_at, leased_at)
       select account_id, $2, id, $3, $4, $5, $6, $7, $8, '{}', $9, 1, $10 from executions where id = $1`,
      [
        ...[id, taskId, task.node_id, task.attempt, task.status, task.epoch],
        ...[task.status === "ready" ? null : at.delegateId, task.selectors, task.cancelling],
        task.status === "ready" ? null : 1,
      ],
    );
  }
}

const formatOf = async (name: string): Promise<number | undefined> =>
  (await platform.db.query<{ format: number }>("select format from executions where id = $1", [of(name).id]))[0]
    ?.format;

const nodesOf = (name: string): Promise<object[]> =>
  platform.db.query("select id from execution_nodes where execution_id = $1", [of(name).id]);

type Shown = Readonly<Record<string, Record<string, unknown>>>;

/** Without what the fixture leaves out, and what is new. */
const shownBefore = (nodes: Shown) =>
  Object.fromEntries(
    Object.entries(nodes).map(
      ([
        id,
        {
          delegateInfoList: _d,
          waitReason: _w,
          strategyMetadata: _s,
          earlierAttempts: _e,
          retryNodeMetadata: _r,
          executionInputConfigured: _i,
          ...rest
        },
      ]) => [id, rest],
    ),
  );

for (const name of Object.keys(recorded)) {
  test(`${name}: the graph and the stages are those that the older server has shown`, async () => {
    const { shown } = of(name);
    const { graph, summary } = await detailOf(platform, idOf(name));
    assert.deepEqual(shownBefore(graph.nodeMap), shownBefore(shown.nodes as Shown));
    assert.deepEqual(graph.nodeAdjacencyListMap, shown.adjacency);
    assert.deepEqual(summary.layoutNodeMap, shown.layout);
    assert.equal(await formatOf(name), 1);
    for (const id of Object.keys(graph.nodeMap)) {
      const { status } = await platform.send(
        "GET",
        `/pipeline/api/pipelines/getExecutionNode?nodeExecutionId=${id}&${SCOPE}`,
      );
      assert.equal(status, 200);
    }
  });
}

async function finish(name: string, how: Parameters<PretendDelegate["finish"]>[1] = {}): Promise<void> {
  delegate.finish(leaseOf(name), how);
  await delegate.next("finishedAck");
}

test("a step that runs ends, and the first event makes rows of all nodes", async () => {
  await finish("running");
  assert.equal(await statusesOf(platform, idOf("running"), "a", "b"), "Success a:Success b:Success");
  assert.equal(await formatOf("running"), 2);
  assert.equal(
    (await nodesOf("running")).length,
    Object.keys(of("running").plan.nodes).length - 1,
    "no rollback was reached",
  );
  const { step } = await detailOf(platform, idOf("running"));
  assert.deepEqual(step("a")["outcomes"], { output: { outputVariables: { x: "from a" } } });
});

test("an event that changes nothing leaves the execution in its format", async () => {
  const { id, plan } = of("first");
  const [later] = Object.entries(plan.nodes).find(([, { identifier }]) => identifier === "b") ?? [];
  await platform.db.query(
    `insert into execution_timers (account_id, execution_id, node_id, purpose, due_at)
     select account_id, id, $2, 'timeout', 1 from executions where id = $1`,
    [id, later],
  );
  await platform.platform.sweep();
  assert.equal(await formatOf("first"), 1);
  assert.deepEqual(await nodesOf("first"), []);
});

test("the next step of a stage that had begun starts, with an expression over what was before", async () => {
  await finish("first");
  const { work } = await delegate.next("run");
  assert.ok("script" in work);
  assert.equal(await statusesOf(platform, idOf("first"), "a", "b"), "Running a:Success b:Running");
});

test("a step that is stopped, and a step that waits for a delegate: the execution is aborted", async () => {
  delegate.cancelled(leaseOf("stopping"));
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, idOf("stopping"), "a", "b"), "Aborted a:Aborted b:Skipped");
  assert.equal((await abortRun(platform, idOf("waiting"))).status, 200);
  assert.equal(await statusesOf(platform, idOf("waiting"), "a", "b"), "Aborted a:Aborted b:Skipped");
});

test("a rollback that runs ends, and the failure that led to it stays", async () => {
  await finish("rollback");
  assert.equal(
    await statusesOf(platform, idOf("rollback"), "a", "b", "undo"),
    "Failed a:Failed b:Skipped undo:Success",
  );
  const { summary } = await detailOf(platform, idOf("rollback"));
  assert.match(summary.executionErrorInfo.message, /exited with code 3/);
});

test("executions that had ended stay as they are", async () => {
  for (const name of ["succeeded", "rolledBack"]) {
    assert.equal(await formatOf(name), 1);
    assert.equal((await abortRun(platform, idOf(name))).status, 402);
  }
});
