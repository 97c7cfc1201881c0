/** An execution of a later format is left to the servers that know it: nothing here changes it, or takes it for damaged. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { abortRun, createPipelines, detailOf, SCOPE, startRun, statusesOf } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  type Lease,
  type PretendDelegate,
} from "../../../test/support/pretend-delegate.ts";
import { recordedLog, snapshot } from "../../../test/support/watch.ts";
import { fromWire } from "../../core/ids.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;
let token: string;
const log = recordedLog();
const identity = newIdentity();

before(async () => {
  platform = await startTestPlatform({ logTo: log.stream });
  token = await platform.delegateToken();
  await createPipelines(platform, { id: "two", steps: [{ id: "a", timeout: "1m" }, { id: "b" }] });
  await connect([]);
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

async function connect(holds: Lease[]): Promise<void> {
  delegate = await pretendDelegate({ url: platform.url, token, identity, holds, slots: 4 });
  await delegate.next("welcome");
}

type Stored = { readonly header: unknown; readonly plan: unknown };

/** Stores the execution as a later version might. Returns what was there. */
async function makeNewer(id: string): Promise<Stored> {
  const [row] = await platform.db.query<Stored>("select header, plan from executions where id = $1", [fromWire(id)]);
  await platform.db.query("update executions set format = 3, header = $2, plan = $3 where id = $1", [
    fromWire(id),
    JSON.stringify({ format: 3, phase: "under way" }),
    JSON.stringify({ format: 3, graph: [] }),
  ]);
  return row ?? assert.fail();
}

test("its ends and timers wait, and lists show what its columns say", async () => {
  const id = await startRun(platform, "two");
  const { task, epoch } = await delegate.next("run");
  const stored = await makeNewer(id);
  const before = await snapshot(platform);

  delegate.finish({ task, epoch });
  await delegate.closed;
  assert.equal(await snapshot(platform), before, "the end is not acknowledged");

  platform.clock.advance(60_000);
  const logged = log.errors().length;
  await platform.platform.sweep();
  assert.equal(await snapshot(platform), before, "its timer stays for others");
  assert.equal(log.errors().length, logged, "and is no error");

  const aborted = await abortRun(platform, id);
  assert.equal(aborted.status, 503);
  assert.match(aborted.body.message, /is run by a newer version of the server/);

  const { status, graph } = await detailOf(platform, id);
  assert.deepEqual([status, Object.keys(graph.nodeMap)], ["Running", []]);
  const list = await platform.send("POST", `/pipeline/api/pipelines/execution/summary?${SCOPE}`);
  assert.deepEqual(
    list.body.data.content.map((one: { status: string }) => one.status),
    ["Running"],
  );
  const { body } = await platform.graphql(
    `{ executions { nodes { status ... on PipelineExecution { pipelineStageExecutions { pipelineStageName } } } } }`,
  );
  assert.deepEqual(body.data.executions.nodes, [
    { status: "RUNNING", pipelineStageExecutions: [{ pipelineStageName: "Stage" }] },
  ]);

  // A server of that version gives it back, for the sake of the test.
  await platform.db.query("update executions set format = 2, header = $2, plan = $3 where id = $1", [
    fromWire(id),
    JSON.stringify(stored.header),
    JSON.stringify(stored.plan),
  ]);
  await connect([{ task, epoch }]);
  delegate.finish({ task, epoch });
  await delegate.next("finishedAck");
  delegate.finish(await delegate.next("run"));
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, id, "a", "b"), "Success a:Success b:Success");
});
