/** Limits of concurrency on a real database: order, every kind of end, replicas, and what readers see. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { addStagesPipeline, passLocks, queueStep, stageOf, waitStep } from "../../../test/support/locks.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { abortRun, createPipelines, detailOf, SCOPE, startRun } from "../../../test/support/runs.ts";
import { until } from "../../../test/support/until.ts";
import { fromWire } from "../../core/ids.ts";
import { lockQueue } from "../store/queue.ts";

const HOUR = 3_600_000;

let platform: TestPlatform;
let replica: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  replica = await platform.replica();
  await createPipelines(platform);
  for (const id of ["a", "b"])
    await addStagesPipeline(platform, { id, stages: [stageOf({ id: "s", steps: [waitStep("work")] })] });
});
after(() => platform?.stop());
afterEach(async () => {
  for (const level of ["account", "project", "pipeline"]) await limit(level, 0);
  await passLocks(platform);
  await passLocks(platform, 2 * HOUR);
  const open = "select status from executions where ended_at is null";
  assert.deepEqual(await platform.db.query(open), [], "an execution is left");
});

/** Sets a limit, and lets the caches of settings expire. */
async function limit(level: string, value: number): Promise<void> {
  const answer = await platform.send("PUT", `/ng/api/settings?${level === "account" ? "" : SCOPE}`, {
    contentType: "application/json",
    body: JSON.stringify([
      {
        identifier: `concurrent_executions_per_${level}`,
        value: String(value),
        updateType: "UPDATE",
        allowOverrides: true,
      },
    ]),
  });
  assert.equal(answer.status, 200, answer.text);
  platform.clock.advance(1_001);
}

const statuses = async (...ids: readonly string[]): Promise<string> =>
  (await Promise.all(ids.map(async (id) => (await detailOf(platform, id)).status))).join(" ");

async function reasonOf(id: string): Promise<string> {
  const { graph } = await detailOf(platform, id);
  const root = graph.nodeMap[graph.rootNodeId];
  return `${root.status}: ${root.waitReason}`;
}

async function started(pipeline: string, at = platform): Promise<string> {
  const id = await startRun(at, pipeline);
  await passLocks(platform);
  return id;
}

test("executions beyond the limit of a pipeline are queued, and begin in their order", async () => {
  await limit("pipeline", 1);
  const [first, second, third] = [await started("a"), await started("a", replica), await started("a")];
  const other = await started("b");
  assert.equal(await statuses(first, second, third, other), "Running Queued Queued Running");
  const reason = (position: number): string =>
    `Queued: Queued: 1 execution of the pipeline may run at the same time (setting concurrent_executions_per_pipeline). Position in the queue: ${position}.`;
  assert.deepEqual([await reasonOf(second), await reasonOf(third)], [reason(1), reason(2)]);
  const beside = await started("b");
  assert.match(await reasonOf(beside), /Position in the queue: 1\.$/);
  await abortRun(platform, beside);
  await passLocks(platform, HOUR);
  await passLocks(platform);
  assert.equal(await statuses(first, second, third, other), "Success Running Queued Success");
  await abortRun(platform, second);
  await passLocks(platform);
  assert.equal(await statuses(second, third), "Aborted Running");
});

test("executions that wait or are paused count towards a limit", async () => {
  const group = { minimumCount: 1, disallowPipelineExecutor: false, userGroups: ["account._account_all_users"] };
  const spec = { approvalMessage: "Go on?", includePipelineExecutionHistory: false, approvers: group };
  const approval = { step: { type: "PlatformApproval", name: "ask", identifier: "ask", spec } };
  const holds = stageOf({ id: "s", steps: [queueStep("turn", "k", "Pipeline"), waitStep("work")] });
  await addStagesPipeline(platform, { id: "asks", stages: [stageOf({ id: "s", steps: [approval] })] });
  await addStagesPipeline(platform, { id: "holds", stages: [holds] });
  await addStagesPipeline(platform, { id: "locked", stages: [holds] });
  const holder = await started("holds");
  await limit("pipeline", 1);
  const [asking, locked, pausing] = [await started("asks"), await started("locked"), await started("a")];
  const pause = `/pipeline/api/pipeline/execute/interrupt/${pausing}?interruptType=Pause`;
  assert.equal((await platform.send("PUT", pause)).status, 200);
  assert.equal(await statuses(asking, locked, pausing), "ApprovalWaiting ResourceWaiting Pausing");
  const next = [await started("asks"), await started("locked"), await started("a")];
  assert.equal(await statuses(...next), "Queued Queued Queued");
  for (const id of [holder, asking, locked, pausing]) await abortRun(platform, id);
  await passLocks(platform);
  assert.equal(await statuses(...next), "ApprovalWaiting Running Running");
  await abortRun(platform, next[0] ?? "");
});

test("limits of project and account count all their executions", async () => {
  await limit("account", 3);
  await limit("project", 2);
  const ids = [await started("a"), await started("b"), await started("a")];
  assert.equal(await statuses(...ids), "Running Running Queued");
  assert.match(await reasonOf(ids[2] ?? ""), /2 executions of the project .*Position in the queue: 1\.$/);
  await limit("account", 1);
  await limit("project", 0);
  assert.match(await reasonOf(ids[2] ?? ""), /1 execution of the account/);
  await limit("account", 0);
  await passLocks(platform);
  assert.equal(await statuses(...ids), "Running Running Running");
});

test("of the queued executions of several pipelines, the oldest begins first", async () => {
  await limit("account", 1);
  const first = await started("a");
  const [second, third, fourth] = [await started("b"), await started("a"), await started("b")];
  assert.equal(await statuses(first, second, third, fourth), "Running Queued Queued Queued");
  await abortRun(platform, first);
  await passLocks(platform);
  assert.equal(await statuses(second, third, fourth), "Running Queued Queued");
  await abortRun(platform, second);
  await passLocks(platform);
  assert.equal(await statuses(third, fourth), "Running Queued");
});

test("a queued execution can be aborted without having run, and keeps no one waiting", async () => {
  await limit("pipeline", 1);
  const [first, second, third] = [await started("a"), await started("a"), await started("a")];
  assert.equal((await abortRun(platform, second)).status, 200);
  const { summary, step } = await detailOf(platform, second);
  assert.deepEqual([summary.status, summary.startTs ?? null, step("work")["status"]], ["Aborted", null, "Skipped"]);
  await abortRun(platform, first);
  await passLocks(platform);
  assert.equal(await statuses(third), "Running");
});

test("a place is free again when an execution cannot be advanced; a damaged queued one holds up none", async () => {
  await limit("pipeline", 1);
  const [first, second, third] = [await started("a"), await started("a"), await started("a")];
  for (const id of [first, second])
    await platform.db.query("update executions set header = '[]' where id = $1", [fromWire(id)]);
  await abortRun(platform, first);
  await passLocks(platform);
  assert.equal(await statuses(first, second, third), "Errored Errored Running");
});

test("a replica that dies after the commit leaves the start to the sweep of another one", async () => {
  await limit("pipeline", 1);
  const [first, second] = [await started("a"), await started("a")];
  // A new replica knows of no queued execution, so that it serves none after this end.
  const other = await platform.replica();
  await abortRun(other, first);
  assert.equal(await statuses(second), "Queued");
  await other.platform.sweep();
  assert.equal(await statuses(second), "Running");
  await other.stop();
});

test("the end of an execution starts the next one at once, without a sweep", async () => {
  await limit("pipeline", 1);
  const [first, second] = [await started("a"), await started("a")];
  await abortRun(platform, first);
  await until(
    () => statuses(second),
    (status) => status === "Running",
  );
});

test("a queued execution of a later format is left to newer servers, and keeps no one waiting", async () => {
  await limit("pipeline", 1);
  const [first, newer, third] = [await started("a"), await started("a"), await started("a")];
  const setFormat = (format: number) =>
    platform.db.query("update executions set format = $2 where id = $1", [fromWire(newer), format]);
  await setFormat(99);
  await abortRun(platform, first);
  await passLocks(platform);
  assert.equal(await statuses(third), "Running");
  await setFormat(2);
  await abortRun(platform, newer);
});

test("a retry that is queued takes over what it would have at once", async () => {
  const stages = ["one", "two"].map((id) => stageOf({ id, steps: [waitStep(`wait_${id}`)] }));
  await addStagesPipeline(platform, { id: "retried", stages });
  const failed = await started("retried");
  await passLocks(platform, HOUR);
  await abortRun(platform, failed);
  await limit("pipeline", 1);
  const running = await started("retried");
  const path = `/pipeline/api/pipeline/execute/retry/retried?${SCOPE}&planExecutionId=${failed}`;
  const answer = await platform.send("POST", path);
  assert.equal(answer.status, 200, answer.text);
  const id: string = answer.body.data.planExecution.uuid;
  assert.equal(await statuses(id), "Queued");
  await abortRun(platform, running);
  await passLocks(platform);
  const { step } = await detailOf(platform, id);
  assert.deepEqual([step("wait_one")["status"], step("wait_two")["status"]], ["Success", "TimedWaiting"]);
});

test("starts of an account take turns", async () => {
  await limit("pipeline", 1);
  const [first, second] = [await started("a"), await started("a")];
  await platform.db.transaction(async (tx) => {
    await lockQueue(tx, fromWire(platform.accountId) ?? assert.fail());
    await abortRun(platform, first);
    const sweep = platform.platform.sweep();
    await until(
      () => platform.db.query("select 1 from pg_locks where locktype = 'advisory' and not granted"),
      ({ length }) => length > 0,
    );
    assert.equal(await statuses(second), "Queued");
    tx.afterCommit(() => void sweep);
  });
  await passLocks(platform);
  assert.equal(await statuses(second), "Running");
});

test("of many starts and ends on two replicas, never more run than the limit allows", async () => {
  await limit("account", 2);
  const active = "select count(*)::integer as n from executions where status <> 'queued' and ended_at is null";
  const watching = new AbortController();
  const watched = (async () => {
    while (!watching.signal.aborted) {
      const [row] = await platform.db.query<{ n: number }>(active);
      assert.ok((row?.n ?? 0) <= 2, `${row?.n} run at once`);
    }
  })();
  const servers = [platform, replica];
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, nth) => startRun(servers[nth % 2] ?? platform, nth % 3 === 0 ? "b" : "a")),
  );
  for (let round = 0; round < 8; round += 1) {
    platform.clock.advance(HOUR);
    await Promise.all(servers.map((one) => one.platform.sweep()));
    await Promise.all(servers.map((one) => one.platform.sweep()));
  }
  watching.abort();
  await watched;
  assert.deepEqual(new Set(await Promise.all(ids.map((id) => statuses(id)))), new Set(["Success"]));
});

/** The message of an execution that was not started, and its audit entry. */
async function refusalOf(id: string): Promise<readonly unknown[]> {
  const { graph } = await detailOf(platform, id);
  const entries = await platform.db.query<{ actor: string }>(
    `select actor_kind as actor from audit_entries where operation = 'execution.abort' and difference::text like '%' || $1 || '%'`,
    [id],
  );
  return [graph.nodeMap[graph.rootNodeId].failureInfo.message, ...entries.map(({ actor }) => actor)];
}

test("a queued execution does not begin once its starter may not run it; the next one does", async () => {
  await limit("pipeline", 1);
  const apiKey = await platform.addUser("_project_admin", { orgIdentifier: "default", projectIdentifier: "p" });
  const send: TestPlatform["send"] = (method, path, options) => platform.send(method, path, { ...options, apiKey });
  const [first, queued, next] = [await started("a"), await startRun({ send }, "a"), await started("a")];
  await platform.db.query(
    "delete from role_assignments where principal_id = (select id from users order by id desc limit 1)",
  );
  platform.clock.advance(1_001);
  await abortRun(platform, first);
  await passLocks(platform);
  assert.equal(await statuses(queued, next), "Aborted Running");
  const [message, actor] = await refusalOf(queued);
  assert.match(String(message), /^Aborted by the system: .* execute pipeline 'a'/);
  assert.equal(actor, "system");
});

test("a queued execution does not begin once its pipeline is deleted", async () => {
  await addStagesPipeline(platform, { id: "gone", stages: [stageOf({ id: "s", steps: [waitStep("work")] })] });
  await limit("pipeline", 1);
  const [first, queued] = [await started("gone"), await started("gone")];
  assert.equal((await platform.send("DELETE", `/pipeline/api/pipelines/gone?${SCOPE}`)).status, 200);
  await abortRun(platform, first);
  await passLocks(platform);
  assert.equal(await statuses(queued), "Aborted");
  assert.match(String((await refusalOf(queued))[0]), /^Aborted by the system: Pipeline 'gone' was deleted/);
});
