/** Each refused attempt has its own reason: the permission and the resource of the check that refused it. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import {
  create,
  createTargets,
  JSON_TYPE,
  made,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { WINDOW_MS } from "./repeats.ts";

let platform: TestPlatform;
/** May view all of the project `other`, and nothing of `shop`. */
let viewer: string;
/** May do everything in `shop`, and nothing in the account itself. */
let shopAdmin: string;
let shop: string;
let pipeline: string;
let trigger: { readonly id: string; readonly path: string };
let execution: string;
before(async () => {
  platform = await startTestPlatform();
  for (const identifier of ["shop", "other"]) await made(create.project(platform, projectYaml(identifier)));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml()));
  const { webhookUrl } = await made(create.trigger(platform, "deploy", triggerYaml()));
  const [found] = await platform.db.query<Record<"shop" | "pipeline" | "trigger", Uuid>>(
    "select p.project_id as shop, p.id as pipeline, t.id as trigger from pipelines p, triggers t",
    [],
  );
  assert.ok(found);
  [shop, pipeline] = [toWire(found.shop), toWire(found.pipeline)];
  trigger = { id: toWire(found.trigger), path: new URL(webhookUrl).pathname };
  ({
    planExecution: { uuid: execution },
  } = await made(create.run(platform, "deploy")));
  viewer = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "other" });
  shopAdmin = await platform.addUser("_project_admin", { orgIdentifier: "default", projectIdentifier: "shop" });
});
after(() => platform?.stop());
beforeEach(() => platform.clock.advance(2 * WINDOW_MS));

/** Operation, code, permission, type and name of the resource of each refusal that the test has caused, in order. */
async function refused(): Promise<readonly (readonly unknown[])[]> {
  await platform.platform.sweep();
  const rows = await platform.db.query<Record<string, unknown>>(
    `select operation, code, permission, resource_type, resource_id from audit_entries
      where outcome = 'refused' and at >= $1 order by operation, code`,
    [platform.clock.now()],
  );
  return rows.map((row) => Object.values(row));
}

const graphql = (query: string, apiKey = viewer) =>
  platform.send("POST", `/gateway/api/graphql?accountId=${platform.accountId}`, {
    apiKey,
    contentType: JSON_TYPE,
    body: JSON.stringify({ query }),
  });

const json = (apiKey: string, path: string, body: object) =>
  platform.send("POST", path, { apiKey, contentType: JSON_TYPE, body: JSON.stringify(body) });

test("each refused field of a GraphQL request has its own permission and resource, compiled or not", async () => {
  const query = `{
    hunter2: application(applicationId: "${shop}") { id }
    second: pipeline(pipelineId: "${pipeline}") { id }
    third: execution(executionId: "${execution}") { id }
  }`;
  for (let use = 0; use < 4; use += 1) {
    const { body } = await graphql(query);
    assert.equal(body.errors.length, 3);
    assert.deepEqual(await refused(), [
      ["graphql.application", "project.no_application", "core_project_view", "PROJECT", "shop"],
      ["graphql.execution", "execution.not_found", "core_pipeline_view", "PIPELINE", "deploy"],
      ["graphql.pipeline", "pipeline.no_such_id", "core_pipeline_view", "PIPELINE", "deploy"],
    ]);
    platform.clock.advance(2 * WINDOW_MS);
  }
});

test("each operation that reports a hidden resource as unknown records the missing permission", async () => {
  const [found] = await platform.db.query<{ environment: Uuid }>("select id as environment from environments", []);
  const environment = toWire(found?.environment ?? assert.fail());
  const group = await made(json(platform.apiKey, "/ng/api/user-groups", { identifier: "ops", name: "ops" }));
  assert.equal(group.identifier, "ops");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from user_groups where identifier = 'ops'", []);
  const ops = toWire(row?.id ?? assert.fail());
  const otherAdmin = await platform.addUser("_project_admin", {
    orgIdentifier: "default",
    projectIdentifier: "other",
  });
  const project = ["core_project_view", "PROJECT", "shop"];
  const pipelines = ["core_pipeline_view", "PIPELINE", "deploy"];
  const run = `applicationId: "${shop}", entityId: "${pipeline}", executionType: PIPELINE`;
  for (const [text, code, refusal] of [
    [`{ pipelineByName(applicationId: "${shop}", pipelineName: "deploy") { id } }`, "pipeline.no_such_name", pipelines],
    [`{ userGroup(userGroupId: "${ops}") { id } }`, "access.no_group", ["core_usergroup_view", "USERGROUP", "ops"]],
    [`{ userGroupByName(name: "ops") { id } }`, "access.no_group", ["core_usergroup_view", "USERGROUP", "ops"]],
    [
      `mutation { attachTag(input: { entityId: "${environment}", entityType: ENVIRONMENT, name: "a" }) { clientMutationId } }`,
      "environment.no_such_id",
      ["core_environment_view", "ENVIRONMENT", "staging"],
    ],
    [`mutation { startExecution(input: { ${run} }) { clientMutationId } }`, "execution.no_pipeline", pipelines],
    [
      `mutation { deleteApplication(input: { applicationId: "${shop}" }) { clientMutationId } }`,
      "project.no_application",
      project,
    ],
    [
      `mutation { updateApplication(input: { applicationId: "${shop}" }) { clientMutationId } }`,
      "project.no_application",
      project,
    ],
  ] as const) {
    platform.clock.advance(2 * WINDOW_MS);
    const { body, text: answer } = await graphql(text, otherAdmin);
    assert.equal(body.errors?.length, 1, answer);
    const field = /[{] (\w+)/.exec(text)?.[1];
    assert.deepEqual(await refused(), [[`graphql.${field}`, code, ...refusal]], text);
  }
});

test("a denial that leads to another outcome makes no refusal of the errors beside it", async () => {
  const { body } = await graphql(
    `{ trigger(triggerId: "${trigger.id}") { id } applications(limit: -1) { __typename } }`,
  );
  assert.equal(body.data.trigger, null);
  assert.equal(body.errors.length, 1);
  assert.deepEqual(await refused(), []);
});

test("a refusal keeps its reason where another problem replaces it", async () => {
  const prefix = `${platform.accountId}/pipeline/deploy/1/-${execution}`;
  const log = `/log-service/blob/download?accountID=${platform.accountId}&prefix=${encodeURIComponent(prefix)}`;
  const { status, text } = await platform.send("POST", log, { apiKey: viewer });
  assert.equal(status, 404, text);
  const secret = {
    type: "SecretText",
    name: "hidden",
    identifier: "hidden",
    spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "hunter2" },
  };
  await made(json(platform.apiKey, "/ng/api/v2/secrets", { secret }));
  const value = '<+secrets.getValue("account.missing")><+secrets.getValue("account.hidden")>';
  const bad = await platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    apiKey: shopAdmin,
    contentType: YAML,
    body: pipelineYaml("uses", value),
  });
  assert.equal(bad.status, 400, bad.text);
  assert.deepEqual(await refused(), [
    ["log-service.download", "execution.no_log", "core_pipeline_view", "PIPELINE", "deploy"],
    ["pipeline.create", "pipeline.bad_references", "core_secret_access", "SECRET", "missing"],
  ]);
});

test("a refused webhook call is recorded with the account of its key, and without the secret of its address", async () => {
  const setting = { identifier: "mandate_custom_webhook_authorization", value: "true" };
  const body = JSON.stringify([{ ...setting, allowOverrides: true, updateType: "UPDATE" }]);
  await platform.send("PUT", `/ng/api/settings?${SCOPE}`, { contentType: JSON_TYPE, body });
  platform.clock.advance(1_001);
  const { status, text } = await json(viewer, trigger.path, {});
  assert.equal(status, 403, text);
  const wrong = platform.apiKey.replace(/[^.]+$/, "hunter2");
  assert.equal((await json(wrong, trigger.path, {})).status, 401);
  assert.deepEqual(await refused(), [
    ["webhook.receive", "http.no_credential", null, "WEBHOOK", platform.apiKey.split(".")[2]],
    ["webhook.receive", "trigger.not_permitted", "core_pipeline_execute", "PIPELINE", "deploy"],
  ]);
  const rows = await platform.db.query<{ kind: string; path: string }>(
    `select actor_kind as kind, request_path as path from audit_entries
      where operation = 'webhook.receive' order by code`,
    [],
  );
  const path = "/gateway/pipeline/api/webhook/custom/:token/v3";
  assert.deepEqual(rows, [
    { kind: "anonymous", path },
    { kind: "user", path },
  ]);
});
