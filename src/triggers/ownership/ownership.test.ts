/** What stops with an account, and how another person takes it over. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  overlayYaml,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { assignServiceAccountRole } from "../../../test/support/service-accounts.ts";
import { builtInRoles } from "../../access/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";

const EVERY = [...(builtInRoles.get("_account_admin")?.permissions ?? [])];
let platform: TestPlatform;
let webhookUrl: string;
let ada: Person;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" };
  await made(post("/ng/api/v2/secrets", { secret: { type: "SecretText", name: "key", identifier: "key", spec } }));
  ada = await person([]);
  const variables = "  variables: [{ name: x, type: Secret, value: <+input> }]\n";
  await made(create.pipeline(by(ada), pipelineYaml("deploy", "<+pipeline.variables.x>", variables)));
  // Nothing of these stops with the account: one has no trigger, the other's newest version is another person's.
  await made(create.pipeline(by(ada), pipelineYaml("untriggered")));
  await made(create.pipeline(by(ada), pipelineYaml("passed_on")));
  const again = { contentType: "application/yaml", body: pipelineYaml("passed_on") };
  await made(platform.send("PUT", `/pipeline/api/pipelines/passed_on?${SCOPE}`, again));
  await made(create.trigger(platform, "passed_on", triggerYaml("passed_on", "hook")));
  const given = "    variables:\n      - { name: x, type: Secret, value: account.key }\n";
  await made(create.inputSet(by(ada), "deploy", inputSetYaml("deploy", "values", given)));
  await made(create.overlay(by(ada), "deploy", overlayYaml("chosen", "values")));
  const more = "  inputSetRefs: [chosen]\n";
  ({ webhookUrl } = await made(create.trigger(by(ada), "deploy", triggerYaml("deploy", "hook", more))));
});
after(() => platform?.stop());

type Person = { readonly key: string; readonly id: Uuid };
/** A person who holds everything but these permissions. */
async function person(missing: readonly string[]): Promise<Person> {
  const key = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  const role = `role_${row.id.replaceAll("-", "")}`;
  const permissions = EVERY.filter((one) => !missing.includes(one));
  await made(post("/authz/api/roles", { identifier: role, name: role, permissions }));
  await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
  const principal = { identifier: toWire(row.id), type: "USER" };
  const resourceGroupIdentifier = "_all_resources_including_child_scopes";
  await made(post("/authz/api/roleassignments", { principal, roleIdentifier: role, resourceGroupIdentifier }));
  return { key, id: row.id };
}
const by = ({ key }: Person): TestPlatform => ({
  ...platform,
  send: (method, path, options) => platform.send(method, path, { apiKey: key, ...options }),
});
const post = (path: string, body: object, apiKey = platform.apiKey): Promise<Answer> =>
  platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body), apiKey });

const PATH = "/pipeline/api/ownership";
const listOf = (identifier: string, type = "USER", apiKey = platform.apiKey, more = ""): Promise<Answer> =>
  platform.send("GET", `${PATH}?principalType=${type}&principalIdentifier=${identifier}${more}`, { apiKey });
async function owned(identifier: string, type?: string): Promise<readonly string[]> {
  const { resources } = await made(listOf(identifier, type));
  return resources.content.map(
    (one: Record<string, string>) => `${one["type"]} ${one["pipelineIdentifier"]}/${one["identifier"]}`,
  );
}
const IN_DEPLOY = { orgIdentifier: "default", projectIdentifier: "shop", pipelineIdentifier: "deploy" };
const ALL = [
  { type: "INPUT_SET", ...IN_DEPLOY, identifier: "values" },
  { type: "PIPELINE", ...IN_DEPLOY },
  { type: "INPUT_SET", ...IN_DEPLOY, identifier: "chosen" },
  { type: "TRIGGER", ...IN_DEPLOY, identifier: "hook" },
];
const OF_ADA = ["TRIGGER deploy/hook", "PIPELINE deploy/deploy", "INPUT_SET deploy/chosen", "INPUT_SET deploy/values"];
const adopt = (resources: readonly object[], apiKey?: string): Promise<Answer> =>
  post(`${PATH}/adopt`, { resources }, apiKey);
async function call(): Promise<string> {
  const response = await fetch(webhookUrl, { method: "POST", body: "{}" });
  const { data } = (await response.json()) as Answer["body"];
  return eventually(async () => {
    const [row] = await platform.db.query<{ status: string | null; message: string }>(
      "select status, message from webhook_deliveries where correlation_id = $1",
      [data.eventCorrelationId],
    );
    return row?.status ? (row.status === "TARGET_EXECUTION_REQUESTED" ? "started" : row.message) : undefined;
  });
}

test("the list has what triggers run for a person, as far as the caller may see it, and counts the rest", async () => {
  assert.deepEqual(await owned(toWire(ada.id)), OF_ADA);
  const { resources } = await made(listOf(toWire(ada.id), "USER", platform.apiKey, "&pageSize=1&pageIndex=1"));
  assert.deepEqual(resources.content, [
    { type: "PIPELINE", ...IN_DEPLOY, identifier: "deploy", name: "deploy", version: 1 },
  ]);
  assert.equal(resources.totalItems, 4);
  const blind = await person(["core_pipeline_view"]);
  const seen = await made(listOf(toWire(ada.id), "USER", blind.key));
  assert.deepEqual([seen.resources.content, seen.resources.totalItems, seen.hidden], [[], 0, 4]);
  const { status } = await listOf(toWire(ada.id), "USER", (await person(["core_user_view"])).key);
  assert.equal(status, 403);
  assert.equal((await listOf("not-an-id")).status, 404);
  const other = await platform.addAccount();
  const path = `${PATH}?principalType=USER&principalIdentifier=${toWire(ada.id)}&accountIdentifier=${other.accountId}`;
  const foreign = await made(platform.send("GET", path, { apiKey: other.apiKey }));
  assert.deepEqual([foreign.resources.content, foreign.hidden], [[], 0]);
});

test("adopting takes all that is named or none, asks for what saving asks for, and lets the trigger run again", async () => {
  assert.equal(await call(), "started");
  await made(post(`/ng/api/user/${toWire(ada.id)}/deactivate`, {}));
  assert.match(await call(), /^Version 1 of trigger 'hook' is owned by .*, whose account is deactivated\.$/);
  assert.deepEqual(await owned(toWire(ada.id)), OF_ADA, "a deactivated person is listed, too");

  for (const [missing, title] of [
    ["core_pipeline_execute", "Trigger [default/shop/deploy/hook]"],
    ["core_pipeline_edit", "Trigger [default/shop/deploy/hook]"],
    ["core_inputset_edit", "Input set [default/shop/deploy/chosen]"],
    ["core_environment_access", "Trigger [default/shop/deploy/hook]"],
  ] as const) {
    const { status, body } = await adopt(ALL, (await person([missing])).key);
    assert.equal(status, 403);
    assert.equal(body.message, `${title} cannot be adopted: Missing permission ${missing}.`);
  }
  const blind = await person(["core_secret_access"]);
  const refused = await adopt([{ type: "INPUT_SET", ...IN_DEPLOY, identifier: "values" }], blind.key);
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.body.message, /Input set \[default\/shop\/deploy\/values\] cannot be adopted: .*account\.key/);
  const unknown = await adopt([...ALL, { type: "TRIGGER", ...IN_DEPLOY, identifier: "none" }]);
  assert.equal(unknown.status, 404, unknown.text);
  assert.deepEqual(await owned(toWire(ada.id)), OF_ADA, "nothing was adopted");

  const grace = await person([]);
  await made(adopt(ALL, grace.key));
  assert.deepEqual(await owned(toWire(ada.id)), []);
  assert.deepEqual(await owned(toWire(grace.id)), OF_ADA);
  assert.equal(await call(), "started");
  const entries = await platform.db.query<{ operation: string; difference: { changes: object[] } }>(
    "select operation, difference from audit_entries where operation like '%.adopt'",
  );
  const ids = { before: toWire(ada.id), after: toWire(grace.id) };
  // Ids made in the same millisecond are in no order.
  assert.deepEqual(
    entries
      .toSorted((a, b) => a.operation.localeCompare(b.operation))
      .map(({ operation, difference }) => [operation, difference.changes.at(-1)]),
    ["input_set", "input_set", "pipeline", "trigger"].map((noun) => [`${noun}.adopt`, { field: "author.id", ...ids }]),
  );
});

test("resources without a known author are adopted, too", async () => {
  for (const table of ["triggers", "pipeline_versions", "input_sets"])
    await platform.db.query(
      `update ${table} set author_kind = null, author_id = null
        where pipeline_id = (select id from pipelines where identifier = 'deploy')`,
    );
  assert.match(await call(), /has no known author\. A person who may use what it names has to save or adopt it\.$/);
  await made(adopt(ALL));
  assert.equal(await call(), "started");
});

test("resources that run as a service account are listed for it, and adopted by actors who may manage its tokens", async () => {
  await made(post("/ng/api/serviceaccount", { identifier: "robot", name: "Robot" }));
  await assignServiceAccountRole(platform, "robot", "_account_viewer");
  const yaml = triggerYaml("passed_on", "automatic", "  runAs: account.robot\n");
  await made(create.trigger(platform, "passed_on", yaml));
  assert.deepEqual(await owned("robot", "SERVICE_ACCOUNT"), ["TRIGGER passed_on/automatic"]);
  assert.equal((await listOf("none", "SERVICE_ACCOUNT")).status, 404);
  const resources = [{ ...ALL[3], pipelineIdentifier: "passed_on", identifier: "automatic" }];
  const unmanaging = await person(["core_serviceaccount_manageapikey"]);
  assert.equal((await adopt(resources, unmanaging.key)).status, 403);
  await made(adopt(resources));
  assert.deepEqual(await owned("robot", "SERVICE_ACCOUNT"), ["TRIGGER passed_on/automatic"], "it stays the owner");
});

test("a document that is changed while it is adopted is not adopted", async () => {
  const locked = await platform.db.transaction(async (tx) => {
    await tx.query("update triggers set version = version + 1 where identifier = 'hook'");
    const waits = adopt(ALL);
    await eventually(async () => {
      const waiting = await platform.db.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return waiting.length > 0 ? true : undefined;
    });
    return [waits];
  });
  const { status, text } = await (locked[0] as Promise<Answer>);
  assert.equal(status, 402, text);
  assert.match(text, /Trigger \[hook\] was changed while it was being adopted/);
});

test("requests that cannot be: no resources, too many, unknown types and fields", async () => {
  for (const body of [
    {},
    { resources: [] },
    { resources: Array.from({ length: 101 }, () => ALL[0]) },
    { resources: [{ ...ALL[0], type: "SECRET" }] },
  ])
    assert.equal((await post(`${PATH}/adopt`, body)).status, 400);
});
