/** Which service runs where: over real executions, whose steps a pretend delegate ends. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, eventually, JSON_TYPE, made, projectYaml, triggerYaml } from "../../../test/support/contract.ts";
import { addStagesPipeline, stageOf } from "../../../test/support/locks.ts";
import { addPipelineViewer } from "../../../test/support/pipeline-viewer.ts";
import { pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { startTestPlatform, type Answer, type SendOptions, type TestPlatform } from "../../../test/support/platform.ts";
import { createPipelines, SCOPE, startRun } from "../../../test/support/runs.ts";
import { fromWire } from "../../core/ids.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;

const script = (identifier: string): object => ({
  step: {
    ...{ type: "ShellScript", name: identifier, identifier },
    spec: { shell: "Bash", source: { type: "Inline", spec: { script: "true" } } },
  },
});
const variable = (name: string, value: string, type = "String"): object => ({ name, type, value });
const deploys = (identifier: string, environmentRef: string, fields: object = {}): object =>
  stageOf({ id: identifier, steps: [script(`${identifier}_step`)], infrastructure: { environmentRef }, fields });

const post = (path: string, body: object): Promise<unknown> =>
  made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));

before(async () => {
  platform = await startTestPlatform();
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 16 });
  await delegate.next("welcome");
  await createPipelines(platform);
  const place = { orgIdentifier: "default", projectIdentifier: "p" };
  await post("/ng/api/environmentsV2", { name: "Live", identifier: "live", type: "Production", ...place });
  await addStagesPipeline(platform, {
    id: "ship",
    stages: [
      deploys("test", "e"),
      deploys("release", "live", { variables: [variable("tag", "<+pipeline.variables.v>")] }),
    ],
    fields: { variables: [variable("v", "1.<+pipeline.sequenceId>")] },
  });
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

async function finish(exitCode = 0): Promise<void> {
  platform.clock.advance(1_000);
  delegate.finish(await delegate.next("run"), { exitCode });
  await delegate.next("finishedAck");
}

/** Runs a pipeline of two stages. */
async function ship(exitCode = 0): Promise<string> {
  platform.clock.advance(60_000);
  const id = await startRun(platform, "ship");
  await finish();
  await finish(exitCode);
  return id;
}

const ask = (path: string, query = "", options: SendOptions = {}): Promise<Answer> =>
  platform.send("GET", `/pipeline/api/deployments${path}?${SCOPE}${query}`, options);
// oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
const content = async (path: string, query = "", options: SendOptions = {}): Promise<any[]> =>
  (await made(ask(path, query, options))).content;
const LIVE = "&environmentIdentifier=live";

test("an environment shows what runs since when, and the attempt after it", async () => {
  const first = await ship();
  const [e, live] = await content("/services");
  assert.deepEqual([e.environmentIdentifier, e.serviceIdentifier, e.running.version], ["e", "s", null]);
  const { deploymentId, triggeredBy, ...running } = live.running;
  assert.deepEqual(live.latest, live.running);
  const now = platform.clock.now();
  assert.deepEqual(running, {
    ...{ planExecutionId: first, isExecutionDeleted: false, pipelineIdentifier: "ship", pipelineName: "ship" },
    ...{ runSequence: 1, serviceIdentifier: "s", environmentIdentifier: "live", status: "Success", version: "1.1" },
    ...{ commitId: null, committedAt: null, triggerType: "MANUAL", startTs: now - 1_000, endTs: now },
  });
  assert.match(triggeredBy.identifier, /@/);
  const node = await made(
    platform.send("GET", `/pipeline/api/pipelines/getExecutionNode?nodeExecutionId=${deploymentId}`),
  );
  assert.deepEqual([node.identifier, node.startTs, node.endTs], ["release", now - 1_000, now]);

  const second = await startRun(platform, "ship");
  const [begun] = await content("/services", "&environmentIdentifier=e");
  assert.deepEqual([begun.running.planExecutionId, begun.latest.planExecutionId], [first, second]);
  assert.deepEqual([begun.latest.status, begun.latest.endTs], ["Running", null]);
  await finish();
  await finish(1);
  const [failed] = await content("/services", LIVE);
  assert.deepEqual([failed.running.version, failed.latest.version, failed.latest.status], ["1.1", "1.2", "Failed"]);
});

test("the history of a service or an environment is listed page by page", async () => {
  await ship();
  const all = await content("", LIVE);
  assert.deepEqual(
    all.map(({ runSequence, status }) => `${runSequence} ${status}`),
    ["3 Success", "2 Failed", "1 Success"],
  );
  assert.equal((await content("", "&serviceIdentifier=s")).length, 6);
  assert.deepEqual(await content("", `${LIVE}&serviceIdentifier=s`), all);
  assert.deepEqual(await content("", `${LIVE}&serviceIdentifier=other`), []);
  const seen: unknown[] = [];
  let cursor = "";
  for (let page = 0; page <= all.length; page += 1) {
    const found = await made(ask("", `${LIVE}&size=2${cursor}`));
    seen.push(...found.content);
    if (found.lastSeenDeploymentId === null) break;
    cursor = `&lastSeenDeploymentId=${found.lastSeenDeploymentId}&lastSeenStartTime=${found.lastSeenStartTime}`;
  }
  assert.deepEqual(seen, all);
  const targets = await made(ask("/services", "&size=1"));
  assert.deepEqual([targets.lastSeenEnvironment, targets.lastSeenService], ["e", "s"]);
  const next = await content("/services", "&size=1&lastSeenEnvironment=e&lastSeenService=s");
  assert.deepEqual(
    next.map(({ environmentIdentifier }) => environmentIdentifier),
    ["live"],
  );
});

test("what a request lacks is named", async () => {
  for (const [path, query, message] of [
    ["", "", /Send an environmentIdentifier, a serviceIdentifier, or both/],
    ["", `${LIVE}&lastSeenStartTime=1`, /lastSeenDeploymentId and lastSeenStartTime go together/],
    [
      "",
      `${LIVE}&lastSeenStartTime=1&lastSeenDeploymentId=x`,
      /lastSeenDeploymentId and lastSeenStartTime go together/,
    ],
    ["/services", "&lastSeenService=s", /lastSeenEnvironment and lastSeenService go together/],
    ["", `${LIVE}&size=101`, /size/],
  ] as const) {
    const { status, body } = await ask(path, query);
    assert.equal(status, 400);
    assert.match(body.message, message);
  }
});

test("a caller sees the deployments of the pipelines that it may see", async () => {
  await addStagesPipeline(platform, { id: "hotfix", stages: [deploys("fix", "live")] });
  await startRun(platform, "hotfix");
  await finish();
  const apiKey = await addPipelineViewer(platform, "ship");
  const pipelines = async (path: string, options: SendOptions = {}) =>
    (await content(path, LIVE, options)).map((one) => (one.running ?? one).pipelineIdentifier);
  assert.deepEqual(await pipelines("/services"), ["hotfix"]);
  assert.deepEqual(await pipelines("/services", { apiKey }), ["ship"]);
  assert.deepEqual((await pipelines("", { apiKey })).includes("hotfix"), false);
  await made(create.project(platform, projectYaml("q")));
  const elsewhere = "/pipeline/api/deployments/services?orgIdentifier=default&projectIdentifier=q";
  assert.deepEqual((await made(platform.send("GET", elsewhere))).content, []);
  assert.equal((await platform.send("GET", elsewhere, { apiKey })).status, 403);
  const other = await platform.addAccount();
  for (const path of ["", "/services"])
    assert.equal((await ask(path, LIVE, { apiKey: other.apiKey, account: other.accountId })).status, 404);
});

test("a retry does not deploy again what it takes over", async () => {
  const failed = await ship(1);
  const before = (await content("", "&environmentIdentifier=e")).length;
  await made(platform.send("PUT", `/pipeline/api/pipeline/execute/retry/${failed}?${SCOPE}`));
  await finish();
  assert.equal((await content("", "&environmentIdentifier=e")).length, before);
  const [latest] = await content("", LIVE);
  assert.deepEqual([latest.status, latest.version], ["Success", "1.5"]);
});

test("each iteration of a stage is a deployment; a skipped stage is none", async () => {
  const strategy = { matrix: { axis: ["a", "b"] } };
  const skipped = deploys("skipped", "live", { when: { pipelineStatus: "Success", condition: "false" } });
  await addStagesPipeline(platform, { id: "twice", stages: [deploys("each", "e", { strategy }), skipped] });
  const id = await startRun(platform, "twice");
  await finish();
  await finish();
  const found = await platform.db.query("select environment from deployments where execution_id = $1", [fromWire(id)]);
  assert.deepEqual(found, [{ environment: "e" }, { environment: "e" }]);
});

test("a secret is no version: the next variable is", async () => {
  await post(`/ng/api/v2/secrets?${SCOPE}`, {
    secret: {
      ...{ type: "SecretText", name: "hidden", identifier: "hidden", orgIdentifier: "default", projectIdentifier: "p" },
      spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "swordfish" },
    },
  });
  const fields = {
    variables: [variable("tag", "hidden", "Secret"), variable("image", "web:2")],
  };
  await addStagesPipeline(platform, { id: "secret", stages: [deploys("one", "e", fields)] });
  await startRun(platform, "secret");
  await finish();
  const [latest] = await content("", "&environmentIdentifier=e");
  assert.equal(latest.version, "web:2");
  assert.doesNotMatch(JSON.stringify(await content("", "&serviceIdentifier=s")), /swordfish|hidden/);
});

test("a webhook's commit belongs to the deployment", async () => {
  const body = triggerYaml("ship").replace("projectIdentifier: shop", "projectIdentifier: p");
  const { webhookUrl } = await made(
    platform.send("POST", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=ship`, {
      contentType: "application/yaml",
      body,
    }),
  );
  const head_commit = { id: "4f1c", timestamp: "2026-03-01T10:00:00+01:00" };
  await fetch(webhookUrl, { method: "POST", body: JSON.stringify({ head_commit }) });
  await eventually(async () => {
    await platform.platform.sweep();
    const [latest] = await content("", "&environmentIdentifier=e");
    return latest.triggerType === "MANUAL" ? undefined : latest;
  });
  const [latest] = await content("", "&environmentIdentifier=e");
  assert.deepEqual([latest.commitId, latest.committedAt], ["4f1c", Date.UTC(2026, 2, 1, 9)]);
  assert.equal(latest.triggeredBy.identifier, "hook");
  await finish();
  await finish();
});

test("an execution that cannot be advanced ends its deployments", async () => {
  const id = await startRun(platform, "ship");
  await platform.db.query("update executions set header = '{}' where id = $1", [fromWire(id)]);
  await finish();
  const [latest] = await content("", "&environmentIdentifier=e");
  assert.deepEqual([latest.planExecutionId, latest.status], [id, "Errored"]);
  assert.ok(latest.endTs);
});

test("the version that runs is known for longer than its execution, older ones are not", async () => {
  const [live] = await content("/services", LIVE);
  assert.ok((await content("", LIVE)).length > 3);
  const entry = { identifier: "execution_retention_days", value: "1", allowOverrides: true, updateType: "UPDATE" };
  await made(platform.send("PUT", "/ng/api/settings", { contentType: JSON_TYPE, body: JSON.stringify([entry]) }));
  platform.clock.advance(2 * 86_400_000);
  await platform.platform.sweep();
  assert.deepEqual(await content("", LIVE), [{ ...live.running, isExecutionDeleted: true }]);
  await made(platform.send("DELETE", "/ng/api/projects/p?orgIdentifier=default"));
  assert.deepEqual(await platform.db.query("select 1 from deployments"), []);
});
