/** Reading lines of logs that grow, of single attempts, of older servers, and of deleted logs. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventsOf } from "../../../../test/support/clients/event-stream.ts";
import { openStream } from "../../../../test/support/clients/follower.ts";
import { readViewer, uuidOf } from "../../../../test/support/written-logs.ts";
import { abortRun, createPipelines, detailOf, startRun } from "../../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../../test/support/platform.ts";
import { pretendDelegate, type Lease, type PretendDelegate } from "../../../../test/support/pretend-delegate.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;

before(async () => {
  platform = await startTestPlatform();
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 8 });
  await delegate.next("welcome");
  const failureStrategies = [
    {
      onFailure: { errors: ["AllErrors"], action: { type: "Retry", spec: { retryCount: 2, retryIntervals: ["1s"] } } },
    },
  ];
  await createPipelines(
    platform,
    { id: "one", steps: [{ id: "a", timeout: "53w" }] },
    { id: "tries", steps: [{ id: "a" }], failureStrategies },
  );
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

async function log(task: Lease, offset: number, text: string): Promise<void> {
  delegate.log(task, offset, text);
  await delegate.next("logAck");
}

async function begin(pipeline: string): Promise<{ id: string; task: Lease; node: string }> {
  const id = await startRun(platform, pipeline);
  const task = await delegate.next("run");
  const { step } = await detailOf(platform, id);
  return { id, task, node: step("a")["uuid"] as string };
}

async function finish(task: Lease, how: Parameters<PretendDelegate["finish"]>[1]): Promise<void> {
  delegate.finish(task, how);
  await delegate.next("finishedAck");
}

test("a log is complete once its step has ended", async () => {
  const { id, task, node } = await begin("one");
  const lines = async () => (await readViewer(platform, id, "lines", { nodeExecutionId: node })).data;
  await log(task, 0, "one\n");
  const running = await lines();
  assert.deepEqual([running.totalLines, running.complete], [1, false]);
  await finish(task, { offset: 4, output: "two\n" });
  const ended = await lines();
  assert.deepEqual([ended.totalLines, ended.complete], [2, true]);
});

test("an aborted step writes until its task has ended", async () => {
  const { id, task, node } = await begin("one");
  await log(task, 0, "one\n");
  await abortRun(platform, id);
  await delegate.next("cancel");
  const read = async () => (await readViewer(platform, id, "lines", { nodeExecutionId: node })).data;
  assert.equal((await read()).complete, false);
  await log(task, 4, "two\n");
  assert.equal((await read()).totalLines, 2);
  delegate.cancelled(task, 0, 8);
  await delegate.next("finishedAck");
  assert.equal((await read()).complete, true);
});

test("each attempt has a log of its own, whose lines begin with 1", async () => {
  const { id, task, node } = await begin("tries");
  await log(task, 0, "first one\nfirst t");
  await finish(task, { offset: 17, output: "wo", exitCode: 1 });
  platform.clock.advance(2_000);
  await platform.platform.sweep();
  const second = await delegate.next("run");
  await log(second, 0, "second one\n");
  const read = async (path: "lines" | "search" | "groups", query: object) =>
    (await readViewer(platform, id, path, { nodeExecutionId: node, ...query })).data;
  const shown = async (query: object): Promise<[number, string][]> =>
    (await read("lines", query)).lines.map(({ number, text }: { number: number; text: string }) => [number, text]);
  assert.deepEqual(await shown({ attempt: 1 }), [
    [1, "first one"],
    [2, "first two"],
  ]);
  assert.deepEqual(await shown({ attempt: 2 }), [[1, "second one"]]);
  // An attempt that ends without a line feed continues in the next one.
  assert.deepEqual(await shown({}), [
    [1, "first one"],
    [2, "first twosecond one"],
  ]);
  const { totalLines, endOffset, complete } = await read("lines", { attempt: 1, last: 1 });
  assert.deepEqual([totalLines, endOffset, complete], [2, 19, true]);
  assert.equal((await read("lines", { attempt: 2 })).complete, false);
  await finish(second, { offset: 11, output: "--- group\nfails\n", exitCode: 1 });
  platform.clock.advance(2_000);
  await platform.platform.sweep();
  const third = await delegate.next("run");
  assert.deepEqual(await shown({ attempt: 3 }), []);
  assert.deepEqual(await shown({ attempt: 2, from: 2 }), [
    [2, "--- group"],
    [3, "fails"],
  ]);
  assert.deepEqual((await read("search", { attempt: 2, text: "FAILS" })).hits, [3]);
  assert.deepEqual((await read("search", { attempt: 1, text: "second" })).hits, []);
  assert.deepEqual((await read("groups", { attempt: 2 })).groups, [{ number: 2, marker: "---", title: "group" }]);
  await log(third, 0, "third\n");
  const { response, abort } = await openStream(
    platform,
    `/pipeline/api/pipelines/execution/${id}/logs/stream?nodeExecutionId=${node}&attempt=3`,
  );
  const { value } = await eventsOf(response).next();
  assert.deepEqual([value?.data.line, value?.data.text], [1, "third\n"]);
  abort();
  await finish(third, { offset: 6, exitCode: 1 });
  // The last lines of a failed attempt are those that its failure shows.
  const { step } = await detailOf(platform, id);
  const { logTail } = step("a")["earlierAttempts"][1].failureInfo;
  assert.deepEqual(
    (await shown({ attempt: 2, last: 20 })).map(([, text]) => text),
    logTail.split("\n"),
  );
});

test("lines are counted behind what an older server has appended", async () => {
  const { id, task, node } = await begin("one");
  await log(task, 0, "one\ntwo\n");
  const append = (text: string): Promise<unknown> =>
    platform.db.transaction((tx) =>
      tx.query(
        `with heads as (
           update log_streams set bytes = bytes + length($3::bytea) where execution_id = $1 and stream_id in ($1, $2)
           returning account_id, stream_id, bytes - length($3::bytea) as begins)
         insert into log_chunks (account_id, execution_id, position, node_id, node_position, data, at, task)
         select whole.account_id, $1, whole.begins, $2, node.begins, $3, 0, 1
           from heads whole, heads node where whole.stream_id = $1 and node.stream_id = $2`,
        [uuidOf(id), uuidOf(node), Buffer.from(text)],
      ),
    );
  await append("three\nfo");
  const read = async (query: object) =>
    (await readViewer(platform, id, "lines", { nodeExecutionId: node, ...query })).data;
  const last = async (): Promise<string[]> => (await read({ last: 1 })).lines.map(({ text }: { text: string }) => text);
  await log(task, 8, "ur\nfive");
  const [stored] = await platform.db.query("select counted, bytes from log_streams where stream_id = $1", [
    uuidOf(node),
  ]);
  assert.deepEqual(stored, { counted: 8, bytes: 23 });
  const places = async (): Promise<(number | null)[]> => {
    const rows = await platform.db.query<{ lines: number | null }>(
      "select node_lines as lines from log_chunks where node_id = $1 order by node_position",
      [uuidOf(node)],
    );
    return rows.map(({ lines }) => lines);
  };
  assert.deepEqual(await places(), [0, null, null]);
  assert.deepEqual([(await read({})).totalLines, await last()], [5, ["five"]]);
  await append("\n");
  assert.deepEqual([(await read({})).totalLines, await last()], [5, ["five"]]);
  await log(task, 15, "six\n");
  assert.deepEqual([(await read({})).totalLines, await last()], [6, ["six"]]);
  assert.deepEqual(await places(), [0, 2, 3, 4, 5]);
  await finish(task, { offset: 19 });
});

test("a deleted log is not found", async () => {
  const { id, task, node } = await begin("one");
  await finish(task, { output: "one\n" });
  platform.clock.advance(91 * 86_400_000);
  await platform.platform.sweep();
  for (const [path, query] of [
    ["lines", {}],
    ["search", { text: "x" }],
    ["groups", {}],
  ] as const) {
    const { status, data } = await readViewer(platform, id, path, { nodeExecutionId: node, ...query });
    assert.equal(status, 404);
    assert.match(data.message, /The log of execution .* was deleted on .*log_retention_days/);
  }
});
