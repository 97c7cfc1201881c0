/** The measures of delivery over deployments whose times and results are set. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSON_TYPE, made } from "../../../test/support/contract.ts";
import { addPipelineViewer } from "../../../test/support/pipeline-viewer.ts";
import { startTestPlatform, type Answer, type SendOptions, type TestPlatform } from "../../../test/support/platform.ts";
import { createPipelines, SCOPE, startRun } from "../../../test/support/runs.ts";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 2, 10);

let platform: TestPlatform;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] }, { id: "two", steps: [{ id: "a" }] });
  const place = { orgIdentifier: "default", projectIdentifier: "p" };
  for (const environment of [
    { name: "Live", identifier: "live", type: "Production", ...place },
    { name: "Prod", identifier: "prod", type: "Production" },
    { name: "Shared", identifier: "shared", type: "Production", orgIdentifier: "default" },
  ])
    await made(
      platform.send("POST", "/ng/api/environmentsV2", { contentType: JSON_TYPE, body: JSON.stringify(environment) }),
    );
  for (const id of ["one", "two"]) await startRun(platform, id);
});
after(() => platform?.stop());

type Sketch = readonly [target: string, status: string, hour: number, committed?: number];

/** Replaces all deployments by these; each took a minute. */
async function deploy(sketches: readonly Sketch[], pipeline = "one"): Promise<void> {
  const [run] = await platform.db.query<{ id: string }>(
    `select d.id from deployments d join pipelines p on p.id = d.pipeline_id where p.identifier = $1
        and d.service = 's'`,
    [pipeline],
  );
  await platform.db.query("delete from deployments where service <> 's'");
  for (const [target, status, hour, committed] of sketches) {
    const [environment, service] = target.split("/");
    const ended = START + hour * HOUR;
    await platform.db.query(
      `insert into deployments (account_id, id, project_id, execution_id, pipeline_id, run_sequence, trigger_type, triggered_by,
                                service, environment, status, started_at, ended_at, committed_at)
       select account_id, gen_random_uuid(), project_id, execution_id, pipeline_id, run_sequence, trigger_type, triggered_by,
              $2, $3, $4, $5::bigint - 60000, $5, $6 from deployments where id = $1`,
      [run?.id, service, environment, status, ended, committed === undefined ? null : START + committed * HOUR],
    );
  }
}

const ask = (query = "", options: SendOptions = {}): Promise<Answer> =>
  platform.send(
    "GET",
    `/pipeline/api/deployments/measures?${SCOPE}&startTime=${START}&endTime=${START + 47 * HOUR}${query}`,
    options,
  );

test("deployments and failures to production count by the day in which they end", async () => {
  await deploy([
    ["live/web", "succeeded", 1],
    ["account.prod/web", "ignored", 2],
    ["org.shared/web", "failed", 3],
    ["live/web", "expired", 25],
    ["live/api", "errored", 26],
    ["live/api", "succeeded", 47],
    ["live/web", "aborted", 4],
    ["live/web", "rejected", 4],
    ["e/web", "succeeded", 5],
    ["live/web", "succeeded", -1],
    ["live/web", "succeeded", 48],
  ]);
  const { days, ...all } = await made(ask());
  assert.deepEqual([all.deployments, all.failures, all.deploymentsPerDay, all.changeFailureRate], [3, 3, 1.5, 0.5]);
  assert.deepEqual(days, [
    { date: "2026-03-10", startTime: START, endTime: START + 24 * HOUR, deployments: 2, failures: 1 },
    { date: "2026-03-11", startTime: START + 24 * HOUR, endTime: START + 48 * HOUR, deployments: 1, failures: 2 },
  ]);
  const of = async (query: string) => {
    const { deployments, failures } = await made(ask(query));
    return [deployments, failures];
  };
  assert.deepEqual(await of("&serviceIdentifier=api"), [1, 1]);
  assert.deepEqual(await of("&environmentIdentifier=live"), [2, 2]);
  assert.deepEqual(await of("&environmentIdentifier=e"), [0, 0]);
  assert.deepEqual((await made(ask("&timeZone=Asia/Tokyo"))).days[0].date, "2026-03-10");
});

test("a service is restored with the next success at its target, also after the range", async () => {
  await deploy([
    ["live/web", "failed", 2],
    ["live/web", "aborted", 3],
    ["live/web", "errored", 4],
    ["account.prod/web", "succeeded", 4],
    ["live/web", "succeeded", 5],
    ["live/web", "failed", 30],
    ["live/web", "succeeded", 90],
    ["live/api", "failed", 40],
    ["live/db", "failed", 10],
    ["live/db", "succeeded", 20],
    ["e/web", "failed", 1],
  ]);
  const { timeToRestore } = await made(ask());
  assert.deepEqual(timeToRestore, { median: 10 * HOUR, restored: 3, open: 1, reason: null });
});

test("a failure that began before the range belongs to the range before", async () => {
  await deploy([
    ["live/web", "failed", -3],
    ["live/web", "aborted", -2],
    ["live/web", "failed", 4],
    ["live/web", "succeeded", 6],
    ["live/web", "failed", 7],
    ["live/web", "succeeded", 9],
  ]);
  const { timeToRestore } = await made(ask());
  assert.deepEqual(timeToRestore, { median: 2 * HOUR, restored: 1, open: 0, reason: null });
});

test("the lead time is from the commit to the end of each deployment that succeeds", async () => {
  await deploy([
    ["live/web", "succeeded", 5, 4],
    ["live/web", "succeeded", 10, 7],
    ["live/web", "succeeded", 20, 10],
    ["live/web", "failed", 30, 0],
    ["live/web", "succeeded", 31],
    ["live/web", "succeeded", 32, 33],
    ["e/web", "succeeded", 20, -200],
  ]);
  assert.deepEqual((await made(ask())).leadTime, { median: 3 * HOUR, counted: 3, reason: null });
});

test("a measure that nothing can be said of is null, with the reason", async () => {
  await deploy([]);
  const none = await made(ask());
  assert.deepEqual([none.deploymentsPerDay, none.changeFailureRate], [0, null]);
  assert.deepEqual(none.timeToRestore, { median: null, restored: 0, open: 0, reason: "NO_FAILURE" });
  assert.deepEqual(none.leadTime, { median: null, counted: 0, reason: "NO_DEPLOYMENT" });
  await deploy([
    ["live/web", "succeeded", 1],
    ["live/web", "failed", 2],
  ]);
  const some = await made(ask());
  assert.deepEqual(some.timeToRestore, { median: null, restored: 0, open: 1, reason: "NOT_RESTORED" });
  assert.deepEqual(some.leadTime, { median: null, counted: 0, reason: "NO_COMMIT_TIME" });
});

test("only the pipelines that the caller may see count", async () => {
  await deploy([["live/web", "succeeded", 1]], "two");
  assert.equal((await made(ask())).deployments, 1);
  const apiKey = await addPipelineViewer(platform, "one");
  assert.equal((await made(ask("", { apiKey }))).deployments, 0);
  const other = await platform.addAccount();
  assert.equal((await ask("", { apiKey: other.apiKey, account: other.accountId })).status, 404);
  assert.equal((await ask(`&endTime=${START - HOUR}`)).status, 400);
});
