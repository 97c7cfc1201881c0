/** Reruns, light lists, inputs, nodes, the older abort, and what is refused by its name. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../test/support/contract.ts";
import { startTestPlatform, type SendOptions, type TestPlatform } from "../../test/support/platform.ts";

const EXECUTE = "/pipeline/api/pipeline/execute";
const EXECUTION = "/pipeline/api/pipelines/execution";
const NOBODY = "AAAAAAAAAAAAAAAAAAAAAA";

let platform: TestPlatform;
let viewer: string;
let first: string;

const variable = (value: string): string => `  variables: [{ name: color, type: String, value: ${value} }]\n`;
const inputs = (color: string): string =>
  `pipeline: { identifier: deploy, variables: [{ name: color, type: String, value: ${color} }] }`;

before(async () => {
  platform = await startTestPlatform();
  viewer = await platform.addUser("_account_viewer");
  await made(create.project(platform, projectYaml("shop")));
  await createTargets(platform);
  await made(create.project(platform, projectYaml("depot")));
  await made(
    create.pipeline(
      platform,
      pipelineYaml("deploy", "<+pipeline.variables.color>", `  tags: { team: red }\n${variable("<+input>")}`),
    ),
  );
  await made(create.pipeline(platform, pipelineYaml("called", "<+trigger.payload.tag>")));
  first = (await made(create.run(platform, "deploy", inputs("blue")))).planExecution.uuid;
});
after(() => platform?.stop());

const rerun = (original: string, pipeline = "deploy", how: SendOptions = {}, suffix = "") =>
  platform.send("POST", `${EXECUTE}/rerun/${original}/${pipeline}${suffix}?${SCOPE}`, how);
const inputsOf = async (id: string): Promise<string> =>
  (await platform.send("GET", `${EXECUTION}/${id}/inputset`)).text;
const infoOf = async (id: string) =>
  (await made(platform.send("GET", `${EXECUTION}/${id}`))).pipelineExecutionSummary.executionTriggerInfo;

test("a rerun is a fresh run with the same inputs, and says what it repeats", async () => {
  assert.deepEqual([(await infoOf(first)).isRerun, (await infoOf(first)).rerunInfo], [false, null]);
  const again = (await made(rerun(first))).planExecution;
  assert.notEqual(again.uuid, first);
  assert.equal(again.metadata.runSequence, 2);
  assert.equal(await inputsOf(again.uuid), inputs("blue"));
  const info = { prevExecutionId: first, prevTriggerType: "MANUAL", rootExecutionId: first, rootTriggerType: "MANUAL" };
  assert.deepEqual(again.metadata.triggerInfo.rerunInfo, info);
  assert.deepEqual((await infoOf(again.uuid)).rerunInfo, info);
  const third = (await made(rerun(again.uuid, "deploy", {}, "/v2"))).planExecution;
  assert.deepEqual((await infoOf(third.uuid)).rerunInfo, { ...info, prevExecutionId: again.uuid });
});

test("a rerun takes other inputs, as YAML or JSON; inputs that were JSON are read as JSON again", async () => {
  const yaml = (await made(rerun(first, "deploy", { body: inputs("green"), contentType: YAML }))).planExecution.uuid;
  assert.equal(await inputsOf(yaml), inputs("green"));
  const text = JSON.stringify(
    { pipeline: { identifier: "deploy", variables: [{ name: "color", value: "\u2028x" }] } },
    null,
    "\t",
  );
  const json = (await made(rerun(yaml, "deploy", { body: text, contentType: JSON_TYPE }))).planExecution.uuid;
  assert.equal(await inputsOf((await made(rerun(json))).planExecution.uuid), text);
});

test("a rerun of what a trigger started reads the same event", async () => {
  const { webhookUrl } = await made(create.trigger(platform, "called", triggerYaml("called")));
  await fetch(webhookUrl, { method: "POST", body: '{"tag":"v1"}' });
  const original = await eventually(async () => {
    await platform.platform.sweep();
    const { content } = await made(platform.send("POST", `${EXECUTION}/summary?${SCOPE}&pipelineIdentifier=called`));
    return content[0]?.planExecutionId as string | undefined;
  });
  const again = (await made(rerun(original, "called"))).planExecution;
  assert.equal(again.metadata.triggerInfo.triggerType, "MANUAL");
  assert.equal(again.metadata.triggerInfo.rerunInfo.prevTriggerType, "WEBHOOK_CUSTOM");
  const [row] = await platform.db.query<{ tag: string }>(
    "select plan -> 'context' -> 'trigger' -> 'payload' ->> 'tag' as tag from executions order by id desc limit 1",
  );
  assert.equal(row?.tag, "v1");
});

test("a rerun of another pipeline's, another project's, another account's or no execution: 404; without the right: 403", async () => {
  const rows = async () => (await platform.db.query("select count(*) as n from executions"))[0];
  const earlier = await rows();
  assert.equal((await rerun(first, "called")).status, 404);
  for (const id of ["x", NOBODY]) assert.equal((await rerun(id)).status, 404);
  const depot = `${EXECUTE}/rerun/${first}/deploy?orgIdentifier=default&projectIdentifier=depot`;
  assert.equal((await platform.send("POST", depot)).status, 404);
  const other = await platform.addAccount();
  assert.equal((await rerun(first, "deploy", { apiKey: other.apiKey, account: other.accountId })).status, 404);
  assert.equal((await rerun(first, "deploy", { apiKey: viewer })).status, 403);
  assert.deepEqual(await rows(), earlier);
});

test("the inputs of a run, and what its pipeline asks for", async () => {
  const data = await made(platform.send("GET", `${EXECUTION}/${first}/inputsetV2?${SCOPE}`));
  assert.equal(data.inputSetYaml, inputs("blue"));
  assert.match(data.inputSetTemplateYaml, /name: color\n\s+type: String\n\s+value: <\+input>/);
  assert.equal(data.latestTemplateYaml, data.inputSetTemplateYaml);
  assert.deepEqual([data.resolvedYaml, data.expressionValues], [null, null]);
  const none = (await made(create.run(platform, "deploy", inputs("x")))).planExecution.uuid;
  for (const path of [
    `${EXECUTION}/${NOBODY}/inputset`,
    `${EXECUTION}/${none}/inputsetV2?orgIdentifier=default&projectIdentifier=depot`,
  ])
    assert.equal((await platform.send("GET", path)).status, 404);
});

const outline = (query = "", body?: unknown) =>
  made(
    platform.send("POST", `${EXECUTION}/summary/outline?${SCOPE}${query}`, {
      ...(body === undefined ? {} : { body: JSON.stringify(body), contentType: JSON_TYPE }),
    }),
  );

test("a light list goes on from its cursors and shows each execution once, newest first", async () => {
  const { content } = await made(platform.send("POST", `${EXECUTION}/summary?${SCOPE}&size=100`));
  const all = content.map(({ planExecutionId }: { planExecutionId: string }) => planExecutionId);
  assert.ok(all.length > 5);
  const seen: string[] = [];
  let query = "&size=2";
  for (let page = 0; page <= all.length; page += 1) {
    const found = await outline(query);
    seen.push(...found.content.map(({ planExecutionId }: { planExecutionId: string }) => planExecutionId));
    if (found.lastSeenExecutionId === null) break;
    query = `&size=2&lastSeenExecutionId=${found.lastSeenExecutionId}&lastSeenStartTime=${found.lastSeenStartTime}`;
  }
  assert.deepEqual(seen, all);
  const [newest] = (await outline("&size=1")).content;
  assert.deepEqual(Object.keys(newest), [
    "planExecutionId",
    "pipelineIdentifier",
    "name",
    "runSequence",
    "status",
    "startTs",
    "endTs",
  ]);
  for (const half of [
    `&lastSeenExecutionId=${first}`,
    "&lastSeenStartTime=1",
    "&lastSeenExecutionId=x&lastSeenStartTime=1",
  ])
    assert.equal((await platform.send("POST", `${EXECUTION}/summary/outline?${SCOPE}${half}`)).status, 400);
});

const summaries = (query = "", body?: unknown) =>
  platform.send("POST", `${EXECUTION}/summary?${SCOPE}${query}`, {
    ...(body === undefined ? {} : { body: JSON.stringify(body), contentType: JSON_TYPE }),
  });

test("a list with stages goes on from the same cursors, and counts only as far as it is asked to", async () => {
  const all = await made(summaries("&size=100"));
  assert.deepEqual([all.last, all.lastSeenExecutionId, all.lastSeenStartTime], [true, null, null]);
  const seen: unknown[] = [];
  let page = await made(summaries("&size=2&countAtMost=1"));
  assert.deepEqual([page.first, page.last, page.totalElements], [true, false, 2]);
  for (let n = 0; n <= all.content.length && !page.empty; n += 1) {
    seen.push(...page.content);
    if (page.last) break;
    const cursor = `&lastSeenExecutionId=${page.lastSeenExecutionId}&lastSeenStartTime=${page.lastSeenStartTime}`;
    page = await made(summaries(`&size=2${cursor}`));
    assert.deepEqual([page.first, page.number, page.totalElements], [false, 0, page.content.length]);
  }
  assert.deepEqual(seen, all.content);
  const [newest] = all.content;
  const cursor = `&lastSeenExecutionId=${newest.planExecutionId}&lastSeenStartTime=${newest.startTs}`;
  const next = await made(summaries(`&size=1${cursor}&countAtMost=100`));
  assert.deepEqual([next.content, next.totalElements], [[all.content[1]], all.content.length]);
  assert.equal((await made(summaries("&size=1&countAtMost=0"))).totalElements, 1);
  const twice = await summaries(`&page=1${cursor}`);
  assert.deepEqual(
    [twice.status, twice.body.message],
    [400, "A page after lastSeenExecutionId has no number. Leave out page."],
  );
  assert.equal((await summaries("&countAtMost=1000001")).status, 400);
});

type Listed = {
  readonly executionTriggerInfo: {
    readonly triggerType: string;
    readonly triggeredBy: { readonly uuid: string; readonly identifier: string };
  };
};

test("lists are filtered by who or what started them, by service and by environment", async () => {
  const of = async (body: object): Promise<readonly Listed[]> => (await made(summaries("&size=100", body))).content;
  const all = await of({});
  const byTrigger = all.filter(({ executionTriggerInfo }) => executionTriggerInfo.triggerType === "WEBHOOK_CUSTOM");
  const byPerson = all.filter((one) => !byTrigger.includes(one));
  assert.ok(byTrigger.length > 0 && byPerson.length > 0);
  const user = byPerson[0]?.executionTriggerInfo.triggeredBy.uuid;
  const trigger = byTrigger[0]?.executionTriggerInfo.triggeredBy.identifier ?? "";
  assert.deepEqual(await of({ triggerTypes: ["WEBHOOK_CUSTOM"] }), byTrigger);
  assert.deepEqual(await of({ triggerTypes: ["MANUAL", "WEBHOOK_CUSTOM"] }), all);
  assert.deepEqual(await of({ triggerIdentifiers: [trigger, "other"] }), byTrigger);
  for (const other of [trigger.toUpperCase(), trigger.slice(1), "%"])
    assert.deepEqual(await of({ triggerIdentifiers: [other] }), []);
  assert.deepEqual(await of({ triggeredBy: [user] }), byPerson);
  assert.deepEqual(await of({ triggeredBy: [user, NOBODY] }), byPerson);
  assert.deepEqual(await of({ triggeredBy: [NOBODY] }), []);
  assert.deepEqual(await of({ triggeredBy: [user], triggerTypes: ["WEBHOOK_CUSTOM"] }), []);
  assert.deepEqual(await of({ serviceIdentifiers: ["other", "web"], environmentIdentifiers: ["staging"] }), all);
  assert.deepEqual(await of({ serviceIdentifiers: ["account.web"] }), []);
  assert.deepEqual(await of({ environmentIdentifiers: ["stag"] }), []);
  const nothing = { triggerTypes: [], triggerIdentifiers: [], triggeredBy: [], serviceIdentifiers: [] };
  assert.deepEqual(await of({ ...nothing, environmentIdentifiers: [] }), all);
  for (const bad of [
    { triggeredBy: ["a@b.c"] },
    { triggerTypes: ["CRON"] },
    { triggerIdentifiers: Array(21).fill("x") },
  ])
    assert.equal((await summaries("", bad)).status, 400, JSON.stringify(bad));
});

test("lists are filtered by pipeline name, search, tags, module and who started them", async () => {
  const count = async (query: string, body?: unknown): Promise<number> =>
    (await outline(`&size=100${query}`, body)).content.length;
  const [all, called] = [await count(""), await count("&pipelineIdentifier=called")];
  assert.equal(called, 2);
  assert.equal(await count("", { pipelineName: "CALL" }), called);
  assert.equal(await count("&searchTerm=ALLE"), called);
  assert.equal(await count("&searchTerm=%25"), 0);
  assert.equal(await count("", { pipelineTags: [{ key: "team", value: "red" }] }), all - called);
  assert.equal(await count("", { pipelineTags: [{ key: "team" }, { key: "none" }] }), 0);
  assert.equal(await count("&module=CD"), all);
  assert.equal(await count("&module=ci"), 0);
  assert.equal(await count("&status=Running&status=Failed"), all);
  assert.equal(await count("&status=Failed"), 0);
  assert.equal(await count("&myDeployments=true"), all - 1);
  assert.equal(await count("&myDeployments=false"), all);
  const second = await platform.addUser("_account_admin");
  const mine = await platform.send("POST", `${EXECUTION}/summary/outline?${SCOPE}&myDeployments=true`, {
    apiKey: second,
  });
  assert.deepEqual(mine.body.data.content, []);
});

test("a node is found by its id alone, as the whole graph shows it", async () => {
  const { executionGraph } = await made(platform.send("GET", `${EXECUTION}/${first}`));
  const path = "/pipeline/api/pipelines/getExecutionNode?nodeExecutionId=";
  for (const [id, node] of Object.entries(executionGraph.nodeMap))
    assert.deepEqual(await made(platform.send("GET", path + id)), node);
  const root = executionGraph.rootNodeId;
  for (const id of ["x", NOBODY, first, `${root}&orgIdentifier=default&projectIdentifier=depot`])
    assert.equal((await platform.send("GET", path + id)).status, 404, id);
  const other = await platform.addAccount();
  const foreign = await platform.send("GET", path + root, { apiKey: other.apiKey, account: other.accountId });
  assert.equal(foreign.status, 404);
  assert.equal((await platform.send("GET", "/pipeline/api/pipelines/getExecutionNode")).status, 400);
});

test("the older abort: its envelope, its words, and its errors", async () => {
  const { execution } = (await platform.graphql(`{ execution(executionId: "${first}") { application { id } } }`)).body
    .data;
  const appId = execution.application.id;
  const body = JSON.stringify({ executionInterruptType: "ABORT_ALL" });
  const abort = (query = "", how: SendOptions = {}, id = first) =>
    platform.send("PUT", `/gateway/api/executions/${id}?routingId=${platform.accountId}${query}`, {
      account: null,
      contentType: JSON_TYPE,
      body,
      ...how,
    });
  for (const type of ["PAUSE_ALL", "RESUME_ALL"]) {
    const refused = await abort("", { body: JSON.stringify({ executionInterruptType: type }) });
    assert.equal(refused.status, 400);
    assert.equal(
      refused.body.responseMessages[0].message,
      `interruptType '${type}' is not supported; supported: ABORT_ALL.`,
    );
  }
  assert.equal((await abort("&appId=x")).status, 404);
  assert.equal((await abort("", {}, NOBODY)).status, 404);
  assert.equal((await abort("", { apiKey: viewer })).status, 403);
  const { status, body: answer } = await abort(`&appId=${appId}`);
  assert.equal(status, 200);
  const { uuid, createdBy, createdAt, ...rest } = answer.resource;
  assert.deepEqual([answer.metaData, answer.responseMessages], [{}, []]);
  assert.deepEqual(rest, {
    appId,
    accountId: platform.accountId,
    executionInterruptType: "ABORT_ALL",
    seized: true,
    environmentId: null,
    executionUuid: first,
    stateExecutionInstanceId: null,
    properties: null,
  });
  assert.equal(uuid.length, 22);
  assert.equal(createdAt, platform.clock.now());
  assert.equal(typeof createdBy.email, "string");
  assert.equal((await made(platform.send("GET", `${EXECUTION}/${first}`))).pipelineExecutionSummary.status, "Aborted");
  const late = await abort();
  assert.deepEqual([late.status, late.body.responseMessages[0].code], [402, "ENGINE_INTERRUPT_PROCESSING_EXCEPTION"]);
});

test("what is not supported yet is refused by its name, after the permission", async () => {
  const refused = platform.platform.http
    .routes()
    .filter(({ doc, path }) => doc === "refused" && path.startsWith(EXECUTE));
  assert.equal(refused.length, 2);
  for (const { method, path } of refused) {
    const answer = await platform.send(method, `${path.replaceAll(/:\w+/g, "x")}?${SCOPE}`);
    assert.deepEqual([answer.status, answer.body.code], [400, "UNSUPPORTED_OPERATION_EXCEPTION"], path);
    assert.match(answer.body.message, / is not supported yet\.$/);
  }
});
