/** Retries of executions: what they take over, what they run, who may retry, and what is refused. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { createPipelines, detailOf, logOf, SCOPE, startRun, waitForEnd } from "../../../test/support/runs.ts";
import { startTestPlatform, type Answer, type SendOptions, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  scriptOf,
  type PretendDelegate,
} from "../../../test/support/pretend-delegate.ts";

const EXECUTE = "/pipeline/api/pipeline/execute";
const EXECUTION = "/pipeline/api/pipelines/execution";
const JSON_TYPE = "application/json";
const DAY_MS = 86_400_000;

let platform: TestPlatform;
let delegate: PretendDelegate;

const step = (id: string, script = id, outputs: readonly string[] = []) => ({
  step: {
    ...{ type: "ShellScript", name: id, identifier: id },
    spec: {
      shell: "Bash",
      source: { type: "Inline", spec: { script } },
      outputVariables: outputs.map((name) => ({ name, type: "String", value: name })),
    },
  },
});
const stage = (id: string, ...steps: readonly object[]) => ({
  stage: { name: id, identifier: id, type: "Custom", spec: { execution: { steps } } },
});
const TAG = "<+pipeline.stages.build.spec.execution.steps.compile.output.outputVariables.tag>";
const released = (script: string) => ({
  identifier: "release",
  variables: [{ name: "color", type: "String", value: "<+input>" }],
  stages: [
    stage("build", step("compile", "compile", ["tag"])),
    { parallel: [stage("lint", step("style")), stage("unit", step("fast"), step("slow"))] },
    stage("deploy", step("apply", script)),
  ],
});

const save = (method: "POST" | "PUT", document: { readonly identifier: string }): Promise<Answer> =>
  platform.send(method, `/pipeline/api/pipelines${method === "PUT" ? `/${document.identifier}` : ""}?${SCOPE}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({
      pipeline: { name: document.identifier, orgIdentifier: "default", projectIdentifier: "p", ...document },
    }),
  });

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
  const saved = await save("POST", released(`echo ${TAG}`));
  assert.equal(saved.status, 200, saved.text);
  const token = await platform.delegateToken();
  delegate = await pretendDelegate({ url: platform.url, token, name: `d-${newIdentity()}`, slots: 8 });
  await delegate.next("welcome");
});
afterEach(() =>
  assert.deepEqual(
    delegate.waiting().filter(({ kind }) => kind === "run"),
    [],
    "a step is left",
  ),
);
after(async () => {
  await delegate?.cut();
  await platform?.stop();
});

const INPUTS = JSON.stringify({ pipeline: { identifier: "release", variables: [{ name: "color", value: "red" }] } });

/** Ends the next steps; the script that has a code here fails with it. */
async function finishNext(count: number, codes: Readonly<Record<string, number>> = {}): Promise<readonly string[]> {
  const scripts: string[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const run = await delegate.next("run");
    const { script, env } = scriptOf(run);
    scripts.push([script.split(" ")[0], ...env.map(({ value }) => value)].join(" "));
    const exitCode = codes[script] ?? 0;
    const outputs = script === "compile" && exitCode === 0 ? [{ name: "tag", value: "v1" }] : [];
    delegate.finish(run, { exitCode, output: `log of ${script}\n`, outputs });
  }
  return scripts.toSorted();
}

const retry = (id: string, query = "", how: SendOptions = {}): Promise<Answer> =>
  platform.send("POST", `${EXECUTE}/retry/release?${SCOPE}&planExecutionId=${id}${query}`, how);
const idOf = (answer: Answer): string => {
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data.planExecution.uuid;
};

/** An execution whose step `slow` of stage `unit` has failed. */
async function failed(): Promise<string> {
  const id = await startRun(platform, "release", { contentType: JSON_TYPE, body: INPUTS });
  await finishNext(4, { slow: 1 });
  assert.equal(await waitForEnd(platform, id), "FAILED");
  return id;
}

const get = async (path: string, how: SendOptions = {}) => (await platform.send("GET", path, how)).body.data;

test("a retry starts at the stage that failed, with what the earlier ones left", async () => {
  const first = await failed();
  assert.equal((await detailOf(platform, first)).summary.canRetry, true);
  assert.equal(await get(`${EXECUTION}/canRetry/${first}`), true);
  const { isResumable, errorMessage, groups } = await get(`${EXECUTE}/${first}/retryStages?pipelineIdentifier=release`);
  assert.deepEqual([isResumable, errorMessage], [true, null]);
  const shown = groups.map(({ info }: { info: { identifier: string; status: string }[] }) =>
    info.map(({ identifier, status }) => `${identifier} ${status}`),
  );
  assert.deepEqual(shown, [["build Success"], ["lint Success", "unit Failed"]]);
  const again = await retry(first);
  const id = idOf(again);
  assert.deepEqual(again.body.data.planExecution.metadata.retryInfo, {
    ...{ isRetry: true, rootExecutionId: first, parentRetryId: first },
  });
  assert.deepEqual(await finishNext(3), ["fast", "slow", "style"]);
  assert.deepEqual(await finishNext(1), ["echo v1"]);
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  const { summary, step: node } = await detailOf(platform, id);
  const [build, compile, earlier] = [node("build"), node("compile"), (await detailOf(platform, first)).step("compile")];
  assert.deepEqual(
    [build["status"], compile["status"], compile["outcomes"], compile["startTs"]],
    ["Success", "Success", { output: { outputVariables: { tag: "v1" } } }, earlier["startTs"]],
  );
  assert.deepEqual(compile["retryNodeMetadata"], {
    ...{ originalExecutionId: first, originalNodeExecutionId: earlier["uuid"] },
  });
  assert.equal(node("slow")["retryNodeMetadata"], null);
  assert.deepEqual([summary.canRetry, summary.showRetryHistory, summary.runSequence], [false, true, 2]);
  const before = (await detailOf(platform, first)).summary;
  assert.deepEqual([before.canRetry, before.showRetryHistory], [false, true]);
  assert.match(await logOf(platform, id), /^log of (fast|style)/);
  assert.equal(await logOf(platform, id, `?nodeExecutionId=${compile["uuid"]}`), "log of compile\n");
  const [entry] = await platform.db.query<{ difference: { after: object } }>(
    "select difference from audit_entries where operation = 'execution.start' order by id desc limit 1",
  );
  assert.match(JSON.stringify(entry), new RegExp(`"retryOf","after":"${first}"`));
});

test("a retry of a retry is one row, of which only the latest can be retried", async () => {
  const first = await failed();
  const { uuid } = (
    await platform.send("PUT", `${EXECUTE}/retry/${first}?runAllStages=false`, { contentType: JSON_TYPE, body: "{}" })
  ).body.data.planExecution;
  assert.deepEqual(await finishNext(2, { slow: 1 }), ["fast", "slow"]);
  assert.equal(await waitForEnd(platform, uuid), "FAILED");
  const refused = await retry(first);
  assert.deepEqual([refused.status, refused.body.code], [402, "RETRY_FAILED"]);
  assert.equal(refused.body.message, `Execution [${first}] cannot be retried: execution [${uuid}] has retried it.`);
  const again = await retry(uuid, "&retryStages=unit&retryStep=slow");
  const third = idOf(again);
  assert.equal(again.body.data.planExecution.metadata.retryInfo.rootExecutionId, first);
  assert.deepEqual(await finishNext(1), ["slow"]);
  assert.deepEqual(await finishNext(1), ["echo v1"]);
  assert.equal(await waitForEnd(platform, third), "SUCCESS");
  const { step: node } = await detailOf(platform, third);
  const taken = ["compile", "style", "fast"].map((name) => node(name)["retryNodeMetadata"].originalExecutionId);
  assert.deepEqual(taken, [first, first, uuid]);
  assert.equal(await logOf(platform, third, `?nodeExecutionId=${node("style")["uuid"]}`), "log of style\n");
  for (const id of [first, uuid, third]) {
    const { errorMessage, latestExecutionId, executionInfos } = await get(`${EXECUTE}/retryHistory/${id}`);
    assert.deepEqual([errorMessage, latestExecutionId], [null, third]);
    const rows = executionInfos.map((row: { uuid: string; status: string }) => [row.uuid, row.status]);
    assert.deepEqual(rows, [
      [third, "Success"],
      [uuid, "Failed"],
      [first, "Failed"],
    ]);
    assert.equal((await get(`${EXECUTE}/latestExecutionId/${id}`)).latestExecutionId, third);
  }
});

test("it runs the version and the inputs of the original; the same inputs may be sent, and no others", async () => {
  const first = await failed();
  assert.equal((await save("PUT", released("other"))).status, 200);
  const others = INPUTS.replace("red", "blue");
  const refused = await retry(first, "", { contentType: JSON_TYPE, body: others });
  assert.equal(refused.status, 400);
  assert.match(refused.body.message, /the body has another input than it had, 'variables\.0\.value'/);
  const same = "pipeline:\n  identifier: release\n  variables: [{ name: color, value: red }]\n";
  const id = idOf(await retry(first, "&retryStages=lint,unit", { contentType: "application/yaml", body: same }));
  await finishNext(3);
  assert.deepEqual(await finishNext(1), ["echo v1"]);
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  assert.equal((await platform.send("GET", `${EXECUTION}/${id}/inputset`)).text, INPUTS);
  assert.equal((await save("PUT", released(`echo ${TAG}`))).status, 200);
});

test("with a key a retry is made once; of two at once without one, one is made", async () => {
  const first = await failed();
  const how = { headers: { "idempotency-key": "again" } };
  const id = idOf(await retry(first, "", how));
  assert.equal(idOf(await retry(first, "", how)), id);
  await finishNext(3, { slow: 1 });
  assert.equal(await waitForEnd(platform, id), "FAILED");
  assert.equal(idOf(await retry(first, "", how)), id);
  const both = await Promise.all([retry(id), retry(id)]);
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 402],
  );
  const made = both.find(({ status }) => status === 200);
  assert.ok(made);
  await finishNext(3);
  await finishNext(1);
  assert.equal(await waitForEnd(platform, idOf(made)), "SUCCESS");
  assert.equal((await get(`${EXECUTE}/retryHistory/${id}`)).executionInfos.length, 3);
});

test("what cannot be retried is refused with the reason", async () => {
  const first = await failed();
  for (const [query, message] of [
    ["&retryStages=deploy", /it cannot start at stage 'deploy'; it can start at build, or at lint and unit\.$/],
    ["&retryStages=build&retryStages=unit", /it cannot start at stages \[build, unit\] together/],
    ["&retryStages=build&runAllStages=false", /none of the stages \[build\] has failed/],
    ["&retryStep=slow", /name one stage, and step 'slow' of it/],
    ["&retryStages=unit&retryStep=style", /stage 'unit' has no step or step group 'style' in its list of steps/],
    ["&runAllStages=yes", /runAllStages/],
  ] as const) {
    const refused = await retry(first, query);
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.body.message, message);
  }
  const running = await startRun(platform, "one");
  const other = (id: string) => platform.send("PUT", `${EXECUTE}/retry/${id}`);
  assert.match((await other(running)).body.message, /cannot be retried: it has not ended\./);
  await finishNext(1);
  assert.equal(await waitForEnd(platform, running), "SUCCESS");
  assert.match(
    (await other(running)).body.message,
    /its status is Success, and only Failed, Aborted, Expired, ApprovalRejected/,
  );
  assert.equal(await get(`${EXECUTION}/canRetry/${running}`), false);
  const { isResumable, errorMessage } = await get(`${EXECUTE}/${running}/retryStages`);
  assert.deepEqual(
    [isResumable, /^The execution cannot be retried: its status is Success, .*\.$/.test(errorMessage)],
    [false, true],
  );
  assert.equal(
    (await get(`${EXECUTE}/latestExecutionId/${running}`)).errorMessage,
    "The execution has not been retried.",
  );
  const unknown = await platform.send("POST", `${EXECUTE}/retry/one?${SCOPE}&planExecutionId=${first}`);
  assert.deepEqual([unknown.status, unknown.body.code], [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
  platform.clock.advance(30 * DAY_MS + 1);
  assert.match((await retry(first)).body.message, /it is older than 30 days/);
  assert.equal((await detailOf(platform, first)).summary.canRetry, false);
});

test("GraphQL retries too; who may not run the pipeline may not retry it", async () => {
  const first = await failed();
  const viewer = await platform.addUser("_account_viewer");
  const other = await platform.addAccount();
  assert.equal((await retry(first, "", { apiKey: viewer })).status, 403);
  assert.equal((await platform.send("PUT", `${EXECUTE}/retry/${first}`, { apiKey: viewer })).status, 403);
  assert.equal((await retry(first, "", { apiKey: other.apiKey, account: other.accountId })).status, 404);
  const { body } = await platform.graphql(
    `mutation { retryExecution(input: { executionId: "${first}", stageIdentifiers: ["unit"], stepIdentifier: "slow" }) { execution { id } } }`,
  );
  assert.deepEqual(await finishNext(1), ["slow"]);
  await finishNext(1);
  assert.equal(await waitForEnd(platform, body.data.retryExecution.execution.id), "SUCCESS");
});

test("the log of a node that was taken over is that of the earlier execution, as long as that has it", async () => {
  const first = await failed();
  const id = idOf(await retry(first));
  await finishNext(3);
  await finishNext(1);
  const { step: node } = await detailOf(platform, id);
  const query = `?nodeExecutionId=${node("compile")["uuid"]}`;
  const lines = (await logOf(platform, id, `${query}&format=json`)).trim().split("\n");
  assert.equal(JSON.parse(lines[0] ?? "").step, "build.compile");
  const shown = await platform.send("GET", `${EXECUTION}/${id}/logs/lines${query}&attempt=1`);
  assert.deepEqual([shown.body.data.lines.length, shown.body.data.complete], [lines.length, true]);
  await platform.db.query(
    "update log_streams set deleted_at = 1 where execution_id = (select retry_parent_id from executions order by id desc limit 1)",
  );
  const gone = await platform.send("GET", `${EXECUTION}/${id}/logs${query}`);
  assert.deepEqual([gone.status, /was deleted on/.test(gone.body.message)], [404, true]);
});
