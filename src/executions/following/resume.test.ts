/**
 * A property: a client that loses its stream at random moments, and resumes at a random replica, ends with what GET
 * answers. The loops of the executions begin late, so that places disappear meanwhile.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRandom, type Random } from "../../../test/chaos/random.ts";
import { createPipelines, detailOf, logOf, SCOPE, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { createFollower } from "../../../test/support/clients/follower.ts";

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

let platform: TestPlatform;
let replica: TestPlatform;
let delegate: PretendDelegate;

const step = (identifier: string, more: object = {}) => ({
  step: {
    ...{ type: "ShellScript", name: identifier, identifier, timeout: "10m", ...more },
    spec: { shell: "Bash", source: { type: "Inline", spec: { script: "true" } } },
  },
});
const retries = [{ onFailure: { errors: ["AllErrors"], action: { type: "Retry", spec: { retryCount: 2 } } } }];
const matrix = { strategy: { matrix: { size: ["s", "m"], place: ["eu", "us"], maxConcurrency: 2 } } };
const stage = (identifier: string, steps: readonly object[], more: object = {}) => ({
  stage: { name: identifier, identifier, type: "Custom", ...more, spec: { execution: { steps } } },
});
const group = (identifier: string, steps: readonly object[], more: object = {}) => ({
  stepGroup: { name: identifier, identifier, ...more, steps },
});

const PIPELINE = {
  ...{ name: "p", identifier: "varied", orgIdentifier: "default", projectIdentifier: "p" },
  stages: [
    stage("build", [
      { parallel: [step("compile"), step("lint", { failureStrategies: retries })] },
      group("tests", [step("unit", { failureStrategies: retries }), step("report")], matrix),
    ]),
    stage("ship", [step("push")], { strategy: { repeat: { times: 3 } } }),
  ],
};

before(async () => {
  platform = await startTestPlatform();
  replica = await platform.replica();
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 8 });
  await delegate.next("welcome");
  await createPipelines(platform);
  const saved = await platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    ...{ contentType: "application/json", body: JSON.stringify({ pipeline: PIPELINE }) },
  });
  assert.equal(saved.status, 200, saved.text);
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

/** Runs all tasks of an execution; some fail. Ends when the delegate disconnects. */
async function runTasks(random: Random): Promise<void> {
  for (;;) {
    const task = await delegate.next("run");
    let offset = 0;
    for (let lines = random.between(0, 3); lines > 0; lines -= 1) {
      delegate.log(task, offset, "line\n");
      await delegate.next("logAck");
      offset += 5;
    }
    delegate.finish(task, { offset, output: "end\n", exitCode: random.fraction() < 0.15 ? 1 : 0 });
    await delegate.next("finishedAck");
  }
}

test(`a client that resumes at random moments shows what GET answers, with seeds ${SEEDS.join(", ")}`, async () => {
  const tasks = runTasks(createRandom(99)).catch(() => undefined);
  let connections = 0;
  for (const seed of SEEDS) {
    const random = createRandom(seed);
    const id = await startRun(platform, "varied");
    const follower = createFollower(id);
    while (follower.status() === undefined) {
      assert.equal(await follower.connect(random.pick([platform, replica])), 200);
      connections += 1;
      await follower.read(random.between(0, 4));
      await follower.disconnect();
    }
    const { summary, graph } = await detailOf(platform, id);
    assert.deepEqual(follower.shown().executionGraph, graph, `seed ${seed}`);
    assert.deepEqual(follower.shown().pipelineExecutionSummary, summary, `seed ${seed}`);
    for (const [node, bytes] of Object.entries(follower.logs())) {
      const log = await logOf(platform, id, `?nodeExecutionId=${node}`);
      assert.deepEqual([bytes, follower.lines()[node]], [log.length, log.split("\n").length - 1], `seed ${seed}`);
    }
  }
  // A slow client gets many changes as one.
  assert.ok(connections > 2 * SEEDS.length, `${connections} connections`);
  await delegate.close();
  await tasks;
});
