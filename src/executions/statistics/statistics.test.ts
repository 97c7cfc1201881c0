/** Executions by day and status over real runs whose times are set. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, projectYaml } from "../../../test/support/contract.ts";
import { addPipelineViewer } from "../../../test/support/pipeline-viewer.ts";
import { createPipelines, SCOPE, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { fromWire } from "../../core/ids.ts";
import { daysOf } from "./days.ts";
import { summaryOfRuns } from "./summary.ts";

const HOUR = 3_600_000;
/** The clocks of Berlin are set back in this day. */
const NOON = Date.UTC(2026, 9, 25, 11);

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] }, { id: "two", steps: [{ id: "a" }] });
  await run("one", "succeeded", NOON, 10_000);
  await run("one", "failed", NOON, 30_000);
  await run("two", "ignored", NOON - 12 * HOUR, 20_000);
  await run("one", "aborted", NOON - 14 * HOUR, null);
  await run("one", "running", NOON, null);
});
after(() => platform?.stop());

/** An execution that began then; one that has ended lasted so long, or had not begun. */
async function run(pipeline: string, status: string, at: number, lasted: number | null): Promise<void> {
  const id = fromWire(await startRun(platform, pipeline));
  const begun = status === "aborted" ? null : at;
  const ended = status === "running" ? null : at + (lasted ?? 0);
  await platform.db.query(
    "update executions set status = $2, created_at = $3, started_at = $4, ended_at = $5 where id = $1",
    [id, status, at, begun, ended],
  );
}

const ask = (query: string, options: object = {}): Promise<Answer> =>
  platform.send("GET", `/pipeline/api/pipelines/execution/summary/statistics?${SCOPE}${query}`, options);
const range = (from: number, to: number): string => `&startTime=${from}&endTime=${to}`;

test("each execution that has ended counts on the day in which it began, in the time zone", async () => {
  const zone = "&timeZone=Europe%2FBerlin";
  const { timeZone, days, total } = await made(ask(range(NOON - 24 * HOUR, NOON) + zone));
  assert.equal(timeZone, "Europe/Berlin");
  const none = {
    Success: 0,
    IgnoreFailed: 0,
    Failed: 0,
    Errored: 0,
    Aborted: 0,
    Expired: 0,
    ApprovalRejected: 0,
    Skipped: 0,
  };
  const midnight = Date.UTC(2026, 9, 24, 22);
  assert.deepEqual(days[0], {
    ...{ date: "2026-10-24", startTime: midnight - 24 * HOUR, endTime: midnight },
    ...{ runs: 1, successRate: 0, durationP50: null, durationP95: null, statuses: { ...none, Aborted: 1 } },
  });
  const { durationP50, durationP95, ...last } = days[1];
  assert.deepEqual(last, {
    ...{ date: "2026-10-25", startTime: midnight, endTime: midnight + 25 * HOUR, runs: 3, successRate: 2 / 3 },
    statuses: { ...none, Success: 1, IgnoreFailed: 1, Failed: 1 },
  });
  for (const [found, exact] of [
    [durationP50, 20_000],
    [durationP95, 30_000],
  ])
    assert.ok(Math.abs(found - exact) <= 0.025 * exact, `${found} for ${exact}`);
  assert.deepEqual([days.length, total.runs, total.successRate, total.durationP50], [2, 4, 0.5, durationP50]);
  const utc = await made(ask(range(NOON - 24 * HOUR, NOON)));
  assert.deepEqual(
    utc.days.map(({ date, runs }: { date: string; runs: number }) => [date, runs]),
    [
      ["2026-10-24", 2],
      ["2026-10-25", 2],
    ],
  );
});

test("a pipeline, and what a reader may see, counts alone", async () => {
  const all = range(NOON, NOON) + "&timeZone=Europe/Berlin";
  assert.equal((await made(ask(`${all}&pipelineIdentifier=two`))).total.runs, 1);
  assert.equal((await made(ask(`${all}&pipelineIdentifier=none`))).total.runs, 0);
  const apiKey = await addPipelineViewer(platform, "one");
  assert.equal((await made(ask(all, { apiKey }))).total.runs, 2);
  assert.equal((await made(ask(`${all}&pipelineIdentifier=two`, { apiKey }))).total.runs, 0);
  await made(create.project(platform, projectYaml("q")));
  const foreigner = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "q" });
  assert.equal((await ask(all, { apiKey: foreigner })).status, 403);
  const other = await platform.addAccount();
  assert.equal((await ask(all, { apiKey: other.apiKey, account: other.accountId })).status, 404);
});

test("a range that is backwards, too long or without dates is refused", async () => {
  for (const [query, message] of [
    [range(2, 1), /startTime is after endTime/],
    [range(0, 366 * 24 * HOUR), /it has 367 days, and at most 366/],
    [range(0, 8_640_000_000_000_000), /at most 366/],
    ["&startTime=1", /endTime/],
    [`${range(1, 2)}&timeZone=Mars`, /takes a time zone such as/],
  ] as const) {
    const { status, body } = await ask(query);
    assert.equal(status, 400);
    assert.match(body.message, message);
  }
});

test("the last moment has no next day", () => {
  const last = 8_640_000_000_000_000;
  assert.throws(
    () => daysOf({ startTime: last, endTime: last, timeZone: "UTC" }),
    /ends with the last day of all dates/,
  );
});

test("percentiles are those of all executions together", () => {
  const row = (step: number | null, runs: number) => ({ status: "succeeded", step, runs }) as const;
  const { durationP50, durationP95 } = summaryOfRuns([row(200, 5), row(0, 90), row(100, 5), row(null, 50)]);
  assert.deepEqual([durationP50, durationP95], [1, 148]);
});
