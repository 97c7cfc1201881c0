/** Whom a trigger acts for: its owner and the authors of what it runs, each with the permissions of the moment. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
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
  YAML,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { assignServiceAccountRole } from "../../../test/support/service-accounts.ts";
import { until } from "../../../test/support/until.ts";
import { builtInRoles, permits, type Permission } from "../../access/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { Scope } from "../../core/scope.ts";
import { actorOf } from "../actor.ts";

const EVERY = [...(builtInRoles.get("_account_admin")?.permissions ?? [])] as Permission[];
const IN_SHOP = "  orgIdentifier: default\n  projectIdentifier: shop\n";
let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  for (const query of ["", "orgIdentifier=default", SCOPE]) await made(secret(query));
});
after(() => platform?.stop());

type Which = (permission: string) => boolean;
type Person = { readonly key: string; readonly id: Uuid; readonly who: string; readonly role: string };
/** A person who holds these permissions everywhere. */
async function person(which: Which): Promise<Person> {
  const key = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  const [row] = await platform.db.query<{ id: Uuid; name: string; email: string }>(
    "select id, name, email from users order by id desc limit 1",
  );
  assert.ok(row);
  await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
  const role = `role_${row.id.replaceAll("-", "")}`;
  await made(post("/authz/api/roles", { identifier: role, name: role, permissions: EVERY.filter(which) }));
  const principal = { identifier: toWire(row.id), type: "USER" };
  const resourceGroupIdentifier = "_all_resources_including_child_scopes";
  await made(post("/authz/api/roleassignments", { principal, roleIdentifier: role, resourceGroupIdentifier }));
  return { key, id: row.id, role, who: `${row.name} (${row.email})` };
}
const without = (...missing: readonly string[]): Promise<Person> => person((one) => !missing.includes(one));
/** Changes what the role of a person gives. */
const setRole = ({ role }: Person, which: Which): Promise<unknown> =>
  made(
    platform.send("PUT", `/authz/api/roles/${role}`, {
      contentType: JSON_TYPE,
      body: JSON.stringify({ identifier: role, name: role, permissions: EVERY.filter(which) }),
    }),
  );

const post = (path: string, body: object): Promise<Answer> =>
  platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) });
function secret(query: string): Promise<Answer> {
  const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" };
  const place = Object.fromEntries(new URLSearchParams(query));
  return post(`/ng/api/v2/secrets?${query}`, {
    secret: { type: "SecretText", name: "key", identifier: "key", ...place, spec },
  });
}
const of = (name: string): string => `<+secrets.getValue("${name}")>`;
const admin = (): string => platform.apiKey;
const save = (pipeline: string, body: string, apiKey = admin()): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=${pipeline}`, {
    contentType: YAML,
    body,
    apiKey,
  });
const put = (path: string, body: string, apiKey = admin()): Promise<Answer> =>
  platform.send("PUT", `/pipeline/api/${path}`, { contentType: YAML, body, apiKey });
const change = (name: string, body: string, apiKey?: string): Promise<Answer> =>
  put(`pipelines/${name}?${SCOPE}`, body, apiKey);
/** What creates, with a person's key. */
const by = ({ key }: Person): TestPlatform => ({
  ...platform,
  send: (method, path, options) => platform.send(method, path, { ...options, apiKey: key }),
});
/** What became of a call of the trigger's webhook. */
async function fate(webhookUrl: string, payload = "{}"): Promise<{ status: string; message: string }> {
  const response = await fetch(webhookUrl, { method: "POST", body: payload });
  const { data } = (await response.json()) as Answer["body"];
  return eventually(async () => {
    const [row] = await platform.db.query<{ status: string | null; message: string }>(
      "select status, message from webhook_deliveries where correlation_id = $1",
      [data.eventCorrelationId],
    );
    return row?.status ? { status: row.status, message: row.message } : undefined;
  });
}
const runs = async (webhookUrl: string, payload?: string): Promise<void> => {
  const { status, message } = await fate(webhookUrl, payload);
  assert.equal(status, "TARGET_EXECUTION_REQUESTED", message);
};
async function refuses(webhookUrl: string, message: string, payload?: string): Promise<void> {
  const told = await fate(webhookUrl, payload);
  assert.deepEqual([told.status, told.message], ["INVALID_RUNTIME_INPUT_YAML", message]);
}

const withVariable = (name: string, type: string, value: string): string =>
  pipelineYaml(name, "<+pipeline.variables.x>", `  variables: [{ name: x, type: ${type}, value: "${value}" }]\n`);
const givingX = (name: string, value: string): string =>
  `  inputYaml: |\n    pipeline:\n      identifier: ${name}\n      variables:\n        - name: x\n          value: ${value}\n`;
const toEnvironment = (name: string, where: string): string =>
  pipelineYaml(name).replace("environmentRef: staging", `environmentRef: ${where}`);
const set = (pipeline: string, name: string, where: string): string =>
  inputSetYaml(
    pipeline,
    name,
    `    stages:\n    - stage:\n        identifier: build\n        type: Deployment\n        spec:\n          infrastructure:\n            environmentRef: ${where}\n`,
  );

test("saving a trigger asks for access to the secrets of its pipeline, its inputs and its input sets", async () => {
  const builder = await without("core_secret_access");
  await made(create.pipeline(platform, pipelineYaml("uses_key", of("account.key"))));
  await made(create.pipeline(platform, withVariable("asks", "Secret", "<+input>")));
  const given = "    variables:\n      - { name: x, type: Secret, value: key }\n";
  await made(create.inputSet(platform, "asks", inputSetYaml("asks", "keyed", given)));
  for (const [pipeline, more] of [
    ["uses_key", ""],
    ["asks", givingX("asks", "org.key")],
    ["asks", "  inputSetRefs: [keyed]\n"],
  ] as const) {
    const yaml = triggerYaml(pipeline, `t${more.length}`, more);
    const { status, body, text } = await save(pipeline, yaml, builder.key);
    assert.deepEqual([status, body.code], [403, "NG_ACCESS_DENIED"], text);
    assert.match(body.message, /core_secret_access is missing/);
    const { webhookUrl } = await made(save(pipeline, yaml));
    await runs(webhookUrl);
  }
  const [{ n } = { n: 0 }] = await platform.db.query<{ n: number }>("select count(*) as n from triggers");
  assert.equal(n, 3);
});

test("saving a trigger needs the permissions to edit and to execute the pipeline, and access to its environment", async () => {
  await made(create.pipeline(platform, pipelineYaml("plain")));
  for (const missing of ["core_pipeline_execute", "core_pipeline_edit", "core_environment_access"]) {
    const { key } = await without(missing);
    const { status, body } = await save("plain", triggerYaml("plain", missing), key);
    assert.deepEqual([status, body.message], [403, `Missing permission ${missing}.`]);
  }
});

test("references from the payload are resolved in the trigger's project and its outer scopes", async () => {
  await made(create.environment(platform, "wide"));
  await made(create.environment(platform, "wide", "  orgIdentifier: default\n"));
  await made(create.pipeline(platform, toEnvironment("chooses", "<+trigger.payload.to>")));
  const { webhookUrl } = await made(save("chooses", triggerYaml("chooses")));
  for (const [to, status] of [
    ["staging", "TARGET_EXECUTION_REQUESTED"],
    ["org.wide", "TARGET_EXECUTION_REQUESTED"],
    ["account.wide", "TARGET_EXECUTION_REQUESTED"],
    ["wide", "INVALID_RUNTIME_INPUT_YAML"],
  ] as const)
    assert.equal((await fate(webhookUrl, JSON.stringify({ to }))).status, status, to);
});

test("the owner's current permissions decide: a revoked permission stops the trigger, a restored one lets it run", async () => {
  await made(create.pipeline(platform, toEnvironment("live", "<+trigger.payload.to>")));
  const owner = await person(() => true);
  const { webhookUrl } = await made(save("live", triggerYaml("live"), owner.key));
  const toStaging = JSON.stringify({ to: "staging" });
  await runs(webhookUrl, toStaging);
  const owned = `Version 1 of trigger 'hook' is owned by ${owner.who}`;
  await setRole(owner, (one) => one !== "core_environment_access");
  await refuses(webhookUrl, `${owned}, who may no longer use environment 'staging'.`, toStaging);
  // The answer is the same for an environment that does not exist.
  await refuses(webhookUrl, `${owned}, who may no longer use environment 'none'.`, JSON.stringify({ to: "none" }));
  await setRole(owner, (one) => one !== "core_pipeline_execute");
  await refuses(webhookUrl, `${owned}, who may no longer execute pipeline 'live'.`, toStaging);
  await setRole(owner, () => true);
  await runs(webhookUrl, toStaging);
  await made(post(`/ng/api/user/${toWire(owner.id)}/deactivate`, {}));
  const told = await fate(webhookUrl, toStaging);
  assert.match(told.message, /^Version 1 of trigger 'hook' is owned by .*, whose account is deactivated\.$/);
  // The trail has it, as refused to the trigger.
  await platform.platform.sweep();
  const [entry] = await platform.db.query(
    `select operation, code, outcome, actor_kind, resource_id from audit_entries
      where code = 'pipeline.principal_inactive' order by id desc limit 1`,
  );
  assert.deepEqual(entry, {
    ...{ operation: "execution.start", code: "pipeline.principal_inactive", outcome: "refused" },
    ...{ actor_kind: "trigger", resource_id: "live" },
  });
});

test("saving a trigger makes the actor its owner, and a rejected save changes nothing", async () => {
  await made(create.pipeline(platform, toEnvironment("anew", "<+trigger.payload.to>")));
  const yaml = triggerYaml("anew");
  const { webhookUrl } = await made(save("anew", yaml));
  const toStaging = JSON.stringify({ to: "staging" });
  await runs(webhookUrl, toStaging);
  const own = await without("core_environment_access");
  const again = (key?: string, name = "anew"): Promise<Answer> =>
    put(`triggers/hook?${SCOPE}&targetIdentifier=${name}`, triggerYaml(name), key);
  await made(again(own.key));
  const refusal = `Version 2 of trigger 'hook' is owned by ${own.who}, who may no longer use environment 'staging'.`;
  await refuses(webhookUrl, refusal, toStaging);
  await made(again());
  await runs(webhookUrl, toStaging);
  await made(create.pipeline(platform, pipelineYaml("names_it")));
  await made(save("names_it", triggerYaml("names_it")));
  const refused = await again(own.key, "names_it");
  assert.deepEqual([refused.status, refused.body.code], [403, "NG_ACCESS_DENIED"], refused.text);
  const rows = await platform.db.query(
    "select t.version, t.author_id <> $1 as other from triggers t join pipelines p on p.id = t.pipeline_id where p.identifier = 'names_it'",
    [own.id],
  );
  assert.deepEqual(rows, [{ version: 1, other: true }]);
});

test("a pipeline may be changed by who may not use what its triggers use: the trigger stops, and says whose version it is", async () => {
  const own = await without("core_environment_access");
  await made(create.pipeline(platform, toEnvironment("theirs", "staging")));
  const { webhookUrl } = await made(save("theirs", triggerYaml("theirs")));
  await runs(webhookUrl);
  for (const where of ["staging", '"<+trigger.payload.to>"', "later"])
    await made(change("theirs", toEnvironment("theirs", where), own.key));
  await made(create.environment(platform, "later", IN_SHOP));
  await refuses(
    webhookUrl,
    `Version 4 of pipeline 'theirs' was saved by ${own.who}, who may no longer use environment 'later'.`,
  );
  await made(change("theirs", toEnvironment("theirs", "later")));
  await runs(webhookUrl);
});

test("the author of each input set and overlay counts, and so does who made its text the name of a secret", async () => {
  const own = await without("core_environment_access");
  await made(create.pipeline(platform, toEnvironment("taking", "<+input>")));
  await made(create.inputSet(platform, "taking", set("taking", "where", "staging")));
  await made(create.overlay(platform, "taking", overlayYaml("chosen", "where")));
  const { webhookUrl } = await made(save("taking", triggerYaml("taking", "hook", "  inputSetRefs: [chosen]\n")));
  await runs(webhookUrl);
  const where = `inputSets/where?${SCOPE}&pipelineIdentifier=taking`;
  const whom = `was saved by ${own.who}, who may no longer use`;
  await made(put(where, set("taking", "where", "staging"), own.key));
  await refuses(webhookUrl, `Version 2 of input set 'where' ${whom} environment 'staging'.`);
  await made(put(where, set("taking", "where", "staging")));
  await runs(webhookUrl);
  await made(
    put(`inputSets/overlay/chosen?${SCOPE}&pipelineIdentifier=taking`, overlayYaml("chosen", "where"), own.key),
  );
  await refuses(webhookUrl, `Version 2 of input set 'chosen' ${whom} environment 'staging'.`);

  const blind = await without("core_secret_access");
  await made(create.pipeline(platform, withVariable("turned", "String", "<+input>")));
  const text = inputSetYaml("turned", "text", "    variables:\n      - { name: x, type: String, value: key }\n");
  await made(create.inputSet(by(blind), "turned", text.replace("type: String, ", "")));
  const turned = await made(save("turned", triggerYaml("turned", "hook", "  inputSetRefs: [text]\n")));
  await runs(turned.webhookUrl);
  await made(change("turned", withVariable("turned", "Secret", "<+input>")));
  await refuses(
    turned.webhookUrl,
    `Version 1 of input set 'text' was saved by ${blind.who}, who may no longer use secret 'key'.`,
  );
});

test("a document whose author is unknown is not run by a trigger until it is saved", async () => {
  await made(create.pipeline(platform, toEnvironment("former", "<+input>")));
  await made(create.inputSet(platform, "former", set("former", "where", "staging")));
  const yaml = triggerYaml("former", "hook", "  inputSetRefs: [where]\n");
  const { webhookUrl } = await made(save("former", yaml));
  await runs(webhookUrl);
  const ask = "has no known author. A person who may use what it names has to save or adopt it.";
  for (const [table, title, again] of [
    ["triggers", "trigger 'hook'", () => put(`triggers/hook?${SCOPE}&targetIdentifier=former`, yaml)],
    ["pipeline_versions", "pipeline 'former'", () => change("former", toEnvironment("former", "<+input>"))],
    [
      "input_sets",
      "input set 'where'",
      () => put(`inputSets/where?${SCOPE}&pipelineIdentifier=former`, set("former", "where", "staging")),
    ],
  ] as const) {
    await platform.db.query(
      `update ${table} set author_kind = null, author_id = null
        where pipeline_id = (select id from pipelines where identifier = 'former')`,
    );
    await refuses(webhookUrl, `Version 1 of ${title} ${ask}`);
    await made(again());
    await runs(webhookUrl);
  }
});

test("a run of a trigger that is started again acts for the trigger's owner and the pipeline's author, too", async () => {
  const [owner, author] = [await person(() => true), await person(() => true)];
  const yaml = withVariable("again", "Secret", "<+input>");
  await made(create.pipeline(platform, yaml));
  await made(change("again", yaml, author.key));
  const { webhookUrl } = await made(
    save("again", triggerYaml("again", "hook", givingX("again", "account.key")), owner.key),
  );
  await runs(webhookUrl);
  const [run] = await platform.db.query<{ id: Uuid }>("select id from executions order by id desc limit 1");
  assert.ok(run);
  const rerun = (id: Uuid): Promise<Answer> =>
    platform.send("POST", `/pipeline/api/pipeline/execute/rerun/${toWire(id)}/again?${SCOPE}`, { contentType: YAML });
  for (const [one, message] of [
    [owner, `Version 1 of trigger 'hook' is owned by ${owner.who}, who may no longer use secret 'account.key'.`],
    [author, `Version 2 of pipeline 'again' was saved by ${author.who}, who may no longer use secret 'account.key'.`],
  ] as const) {
    await setRole(one, (permission) => permission !== "core_secret_access");
    const { status, body } = await rerun(run.id);
    assert.deepEqual([status, body.message], [403, message]);
    await setRole(one, () => true);
  }
  await made(rerun(run.id));
  const [second] = await platform.db.query<{ id: Uuid; types: string[] }>(
    `select id, array(select p #>> '{authored,type}' from jsonb_array_elements(principals) p) as types
       from executions order by id desc limit 1`,
  );
  assert.deepEqual(second?.types, ["execution", "trigger", "pipeline"]);
  // A rerun of a rerun goes on to act for the trigger's owner.
  await setRole(owner, (permission) => permission !== "core_secret_access");
  assert.equal((await rerun(second?.id ?? run.id)).status, 403);
  await setRole(owner, () => true);
  await platform.db.query("update executions set principals = '[]' where id = $1", [run.id]);
  const unknown = await rerun(run.id);
  assert.deepEqual([unknown.status, /before owners of triggers were stored/.test(unknown.text)], [403, true]);
});

test("a trigger may run as a service account, whose tokens its saver may manage, and then outlives the saver", async () => {
  const account = { identifier: "robot", name: "Robot" };
  await made(post("/ng/api/serviceaccount", account));
  await assignServiceAccountRole(platform, "robot", "_account_admin");
  await made(create.pipeline(platform, pipelineYaml("automatic", of("key"))));
  const yaml = triggerYaml("automatic", "hook", "  runAs: account.robot\n");
  const unmanaging = await without("core_serviceaccount_manageapikey");
  const refused = await save("automatic", yaml, unmanaging.key);
  assert.deepEqual(
    [refused.status, refused.body.message],
    [403, "Missing permission core_serviceaccount_manageapikey."],
  );
  const lesser = await without("core_setting_edit");
  assert.equal((await save("automatic", yaml, lesser.key)).status, 403, "it may more than its saver");
  assert.equal((await save("automatic", yaml.replace("robot", "none"))).status, 404);
  const saver = await person(() => true);
  const { webhookUrl } = await made(save("automatic", yaml, saver.key));
  await made(post(`/ng/api/user/${toWire(saver.id)}/deactivate`, {}));
  await runs(webhookUrl);
  await made(platform.send("DELETE", "/ng/api/serviceaccount/robot"));
  await made(post("/ng/api/serviceaccount", account));
  await assignServiceAccountRole(platform, "robot", "_account_admin");
  await refuses(webhookUrl, "Version 1 of trigger 'hook' is owned by a deleted account, whose account is deleted.");
});

test("a save that waits for the deletion of what it names gives the trigger nothing of what is made in its place", async () => {
  const editor = await person((one) => !one.startsWith("core_environment_"));
  await made(create.environment(platform, "swapped", IN_SHOP));
  const group = { identifier: "one_environment", name: "one", orgIdentifier: "default", projectIdentifier: "shop" };
  const resources = [{ resourceType: "ENVIRONMENT", identifiers: ["swapped"] }];
  await made(
    post(`/resourcegroup/api/v2/resourcegroup?${SCOPE}`, {
      resourceGroup: { ...group, resourceFilter: { includeAllResources: false, resources } },
    }),
  );
  await made(
    post(`/authz/api/roleassignments?${SCOPE}`, {
      principal: { identifier: toWire(editor.id), type: "USER" },
      ...{ roleIdentifier: "_project_admin", resourceGroupIdentifier: "one_environment" },
    }),
  );
  await made(create.pipeline(platform, toEnvironment("racing", "<+input>")));
  const given = `  inputYaml: |\n    pipeline:\n      stages:\n        - stage:\n            identifier: build\n            spec: { infrastructure: { environmentRef: swapped } }\n`;
  const yaml = triggerYaml("racing", "hook", given);
  const { webhookUrl } = await made(save("racing", yaml, editor.key));
  await runs(webhookUrl);
  // The save has asked for everything, and then waits for the row; meanwhile the environment goes.
  const saving = await platform.db.transaction(async (tx) => {
    await tx.query("select 1 from triggers where identifier = 'hook' for update");
    const waits = put(`triggers/hook?${SCOPE}&targetIdentifier=racing`, yaml, editor.key);
    await until(
      () =>
        platform.db.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      ({ length }) => length === 1,
    );
    await made(platform.send("DELETE", `/ng/api/environmentsV2/swapped?${SCOPE}`));
    return [waits];
  });
  await made(saving[0] as Promise<Answer>);
  await made(create.environment(platform, "swapped", IN_SHOP));
  const seen = await platform.send("GET", `/ng/api/environmentsV2/swapped?${SCOPE}`, { apiKey: editor.key });
  assert.equal(seen.status, 403);
  await refuses(
    webhookUrl,
    `Version 2 of trigger 'hook' is owned by ${editor.who}, who may no longer use environment 'swapped'.`,
  );
});

test("what a project is called by then counts, and who made its pipeline what that names", async () => {
  const own = await without("core_environment_access");
  await made(create.pipeline(platform, pipelineYaml("by_name")));
  const { webhookUrl } = await made(save("by_name", triggerYaml("by_name")));
  await made(change("by_name", toEnvironment("by_name", "<+project.name>"), own.key));
  const [project] = await platform.db.query<{ name: string }>("select name from projects where identifier = 'shop'");
  await platform.db.query("update projects set name = 'staging' where identifier = 'shop'");
  const { status, message } = await fate(webhookUrl);
  await platform.db.query("update projects set name = $1 where identifier = 'shop'", [project?.name]);
  assert.deepEqual([status, message.includes("pipeline 'by_name'")], ["INVALID_RUNTIME_INPUT_YAML", true], message);
});

test("a delivery that waits for a pipeline of which another has taken the name runs none", async () => {
  await made(create.pipeline(platform, pipelineYaml("replaced")));
  await made(save("replaced", triggerYaml("replaced", "waiting")));
  const id = randomUUIDv7();
  await platform.db.query(
    `insert into webhook_deliveries (account_id, id, correlation_id, trigger_id, headers, payload, received_at, message)
     select account_id, $1, 'waiting', id, '{}', '{}', 0, '' from triggers where identifier = 'waiting'`,
    [id],
  );
  // As when the pipeline is replaced while the trigger's inputs are put together.
  await made(platform.send("DELETE", `/pipeline/api/pipelines/replaced?${SCOPE}`));
  await made(create.pipeline(platform, pipelineYaml("replaced")));
  await platform.platform.sweep();
  const [row] = await platform.db.query<{ status: string; message: string }>(
    "select status, message from webhook_deliveries where id = $1",
    [id],
  );
  assert.deepEqual(
    [row?.status, row?.message],
    ["INVALID_RUNTIME_INPUT_YAML", "The pipeline [replaced] of the trigger was deleted."],
  );
});

test("the default of a runtime input names a secret as a written-out one does, for who saves it and for its deletion", async () => {
  await made(create.pipeline(platform, pipelineYaml("harmless")));
  const own = await without("core_secret_access");
  for (const value of ["<+input>.default(account.key)", "<+input>.allowedValues(org.key,account.key)"]) {
    const { status, body, text } = await change("harmless", withVariable("harmless", "Secret", value), own.key);
    assert.deepEqual([status, body.code], [403, "NG_ACCESS_DENIED"], text);
    assert.match(text, /account\.key/);
  }
  const script = pipelineYaml("harmless", `<+input>.default(${of("account.key")})`);
  assert.equal((await change("harmless", script, own.key)).status, 403);
  await made(change("harmless", withVariable("harmless", "Secret", "<+input>.default(account.key)")));
  const gone = await platform.send("DELETE", "/ng/api/v2/secrets/key");
  assert.equal(gone.status, 402, gone.text);
  assert.match(gone.text, /harmless/);
});

const accountId = "01a1fc75-fee1-7000-8000-000000000001" as Uuid;
const AT = { orgIdentifier: "default", projectIdentifier: "shop" };
const TRIGGER = actorOf({ accountId, id: accountId, identifier: "hook", ...AT, pipelineIdentifier: "deploy" });
const ACCOUNT: Scope = { accountId };
const PROJECT: Scope = { ...ACCOUNT, ...AT };
const held = (scope: Scope, identifier?: string): readonly string[] =>
  EVERY.filter((permission) => permits(TRIGGER, permission, scope, identifier)).toSorted();

test("a trigger by itself runs its own pipeline and reads its input sets; it holds nothing else anywhere", () => {
  assert.deepEqual(held(PROJECT), ["core_inputset_view"]);
  assert.deepEqual(held(PROJECT, "another"), ["core_inputset_view"]);
  assert.deepEqual(held(PROJECT, "deploy"), ["core_inputset_view", "core_pipeline_execute", "core_pipeline_view"]);
  for (const scope of [
    ACCOUNT,
    { accountId, orgIdentifier: "default" },
    { accountId, orgIdentifier: "default", projectIdentifier: "bank" },
    { accountId: "01a1fc75-fee1-7000-8000-000000000002" as Uuid, ...AT },
  ])
    for (const name of [undefined, "deploy"]) assert.deepEqual(held(scope, name), []);
});
