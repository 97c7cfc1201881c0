/** The status of an execution that waits: in its detail, in lists and their filters, in both families. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "../../test/support/until.ts";
import { createPipelines, detailOf, SCOPE, startRun, waitForEnd } from "../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { newIdentity, pretendDelegate, type PretendDelegate } from "../../test/support/pretend-delegate.ts";

const JSON_TYPE = "application/json";
let platform: TestPlatform;
let delegate: PretendDelegate;

const INTERVENTION = {
  onFailure: {
    errors: ["AllErrors"],
    action: {
      type: "ManualIntervention",
      spec: { timeout: "1h", onTimeout: { action: { type: "MarkAsFailure" } } },
    },
  },
};
const script = (id: string) => ({
  step: {
    ...{ type: "ShellScript", name: id, identifier: id },
    spec: { shell: "Bash", source: { type: "Inline", spec: { script: "true" } } },
  },
});
const ask = {
  step: {
    ...{ type: "PlatformApproval", name: "ask", identifier: "ask" },
    spec: {
      approvalMessage: "Go on?",
      includePipelineExecutionHistory: false,
      approvers: { minimumCount: 1, disallowPipelineExecutor: false, userGroups: ["account._account_all_users"] },
    },
  },
};
const queue = { step: { type: "Queue", name: "turn", identifier: "turn", spec: { key: "turn", scope: "Pipeline" } } };

async function save(identifier: string, steps: readonly object[], more: object = {}): Promise<void> {
  const stage = { name: "s", identifier: "s", type: "Custom", spec: { execution: { steps } }, ...more };
  const pipeline = {
    name: identifier,
    identifier,
    orgIdentifier: "default",
    projectIdentifier: "p",
    stages: [{ stage }],
  };
  const answer = await platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    ...{ contentType: JSON_TYPE, body: JSON.stringify({ pipeline }) },
  });
  assert.equal(answer.status, 200, answer.text);
}

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "two", steps: [{ id: "a" }, { id: "b" }] });
  await save("asks", [{ parallel: [ask, script("beside")] }]);
  await save("fails", [script("a")], { failureStrategies: [INTERVENTION] });
  await save("queues", [queue, script("a")]);
  const token = await platform.delegateToken();
  delegate = await pretendDelegate({ url: platform.url, token, name: `d-${newIdentity()}`, slots: 8 });
  await delegate.next("welcome");
});
after(async () => {
  await delegate?.cut();
  await platform?.stop();
});

const listed = async (...status: readonly string[]): Promise<readonly string[]> => {
  const body = JSON.stringify({ filterType: "PipelineExecution", status });
  const answer = await platform.send("POST", `/pipeline/api/pipelines/execution/summary?${SCOPE}&size=50`, {
    ...{ contentType: JSON_TYPE, body },
  });
  assert.equal(answer.status, 200, answer.text);
  const rows: { planExecutionId: string; status: string }[] = answer.body.data.content;
  return rows.map((row) => `${row.planExecutionId} ${row.status}`);
};
const graphqlStatus = async (id: string): Promise<string> =>
  (await platform.graphql(`{ execution(executionId: "${id}") { status } }`)).body.data.execution.status;
const filtered = async (status: string): Promise<readonly string[]> => {
  const query = `{ executions(limit: 50, filters: [{ status: { operator: EQUALS, values: ["${status}"] } }]) { nodes { id } } }`;
  return (await platform.graphql(query)).body.data.executions.nodes.map(({ id }: { id: string }) => id);
};
const interrupt = (id: string, type: string): Promise<unknown> =>
  platform.send("PUT", `/pipeline/api/pipeline/execute/interrupt/${id}?interruptType=${type}`);
const reaches = (id: string, status: string): Promise<unknown> =>
  until(
    async () => (await detailOf(platform, id)).status,
    (found) => found === status,
  );

test("who waits for a person is found, whatever runs beside it", async () => {
  const id = await startRun(platform, "asks");
  const beside = await delegate.next("run");
  assert.equal((await detailOf(platform, id)).status, "ApprovalWaiting");
  assert.deepEqual(await listed("ApprovalWaiting"), [`${id} ApprovalWaiting`]);
  assert.deepEqual(await listed("Running", "InterventionWaiting"), []);
  assert.equal(await graphqlStatus(id), "WAITING");
  assert.deepEqual(await filtered("WAITING"), [id]);
  assert.deepEqual(await filtered("RUNNING"), []);
  delegate.finish(beside);
  await interrupt(id, "AbortAll");
  assert.equal(await waitForEnd(platform, id), "ABORTED");
  assert.deepEqual(await listed("ApprovalWaiting"), []);
});

test("a failed step that waits for a decision; the execution goes on running after it", async () => {
  const id = await startRun(platform, "fails");
  delegate.finish(await delegate.next("run"), { exitCode: 1 });
  await reaches(id, "InterventionWaiting");
  assert.deepEqual(await listed("InterventionWaiting", "Aborted"), [
    `${id} InterventionWaiting`,
    ...(await listed("Aborted")),
  ]);
  const { step } = await detailOf(platform, id);
  await platform.send(
    "PUT",
    `/pipeline/api/pipeline/execute/manualIntervention/interrupt/${id}/${step("a")["uuid"]}?interruptType=Retry`,
  );
  const again = await delegate.next("run");
  assert.equal((await detailOf(platform, id)).status, "Running");
  delegate.finish(again);
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
});

test("an execution that waits for a lock, and nothing else goes on", async () => {
  const first = await startRun(platform, "queues");
  const run = await delegate.next("run");
  const second = await startRun(platform, "queues");
  await reaches(second, "ResourceWaiting");
  assert.deepEqual(await listed("ResourceWaiting"), [`${second} ResourceWaiting`]);
  assert.deepEqual(await listed("Running"), [`${first} Running`]);
  delegate.finish(run);
  assert.equal(await waitForEnd(platform, first), "SUCCESS");
  delegate.finish(await delegate.next("run"));
  assert.equal(await waitForEnd(platform, second), "SUCCESS");
});

test("a pause is asked for while a step runs, and reached when it has ended", async () => {
  const id = await startRun(platform, "two");
  const run = await delegate.next("run");
  await interrupt(id, "Pause");
  assert.deepEqual([(await detailOf(platform, id)).status, await graphqlStatus(id)], ["Pausing", "PAUSED"]);
  assert.deepEqual(await listed("Pausing"), [`${id} Pausing`]);
  delegate.finish(run);
  await reaches(id, "Paused");
  assert.deepEqual([await listed("Pausing"), await listed("Paused")], [[], [`${id} Paused`]]);
  // The stages of the list are those of the columns: no plan is read for a change of the status alone.
  const [row] = await platform.db.query<{ shown: string; status: string }>(
    "select stage_states ->> 0 as shown, status from executions order by id desc limit 1",
  );
  assert.deepEqual([row?.shown, row?.status], ["paused", "paused"]);
  await interrupt(id, "Resume");
  delegate.finish(await delegate.next("run"));
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
});
