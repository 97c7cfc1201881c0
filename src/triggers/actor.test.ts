/** What a trigger may do by itself, and what whoever saves one must hold: of its own pipeline, and of nothing else. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  inputSetYaml,
  JSON_TYPE,
  made,
  makeTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { builtInRoles, permits, type Permission } from "../access/index.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import type { Actor } from "../core/actor.ts";
import type { Grants } from "../core/grants.ts";
import { adminGrants } from "../../test/support/access.ts";
import { actorOf } from "./actor.ts";
import { authorityOf, keptAuthority, readAuthority } from "../pipelines/index.ts";

const EVERY = [...(builtInRoles.get("_account_admin")?.permissions ?? [])] as Permission[];
let platform: TestPlatform;
/** Edits and runs everything in the project, sees its secrets, and may use none. */
let builder: string;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await makeTargets(platform);
  for (const query of ["", "orgIdentifier=default", SCOPE]) await made(secret(query));
  builder = await person(({ noun, permission }) => NOUNS.has(noun) && permission !== "core_secret_access");
});
after(() => platform?.stop());

const NOUNS = new Set(["pipeline", "inputset", "secret"]);
type Which = (of: { readonly noun: string; readonly permission: string }) => boolean;
/** The key of somebody who holds these permissions everywhere. */
async function person(which: Which): Promise<string> {
  const key = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
  const identifier = `role_${row.id.replaceAll("-", "")}`;
  const permissions = EVERY.filter((permission) => which({ noun: permission.split("_")[1] ?? "", permission }));
  await made(post("/authz/api/roles", { identifier, name: identifier, permissions }));
  const principal = { identifier: toWire(row.id), type: "USER" };
  const resourceGroupIdentifier = "_all_resources_including_child_scopes";
  await made(post("/authz/api/roleassignments", { principal, roleIdentifier: identifier, resourceGroupIdentifier }));
  return key;
}

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
const save = (pipeline: string, body: string, apiKey = platform.apiKey): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=${pipeline}`, {
    contentType: YAML,
    body,
    apiKey,
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

test("saving a trigger asks for access to the secrets of its pipeline, its inputs and its input sets", async () => {
  await made(create.pipeline(platform, pipelineYaml("uses_key", of("account.key"))));
  await made(create.pipeline(platform, pipelineYaml("asks", "<+input>")));
  const variable = (value: string, indent: string): string =>
    `stages:\n- stage:\n    identifier: build\n    type: Deployment\n    spec:\n      execution:\n        steps:\n        - step:\n            identifier: go\n            type: ShellScript\n            spec:\n              environmentVariables:\n              - name: VALUE\n                type: String\n                value: '${value}'\n`.replaceAll(
      /^(?=.)/gm,
      indent,
    );
  await made(create.inputSet(platform, "asks", inputSetYaml("asks", "keyed", variable(of("key"), "    "))));
  const withInput = (value: string): string =>
    `  inputYaml: |\n    pipeline:\n      identifier: asks\n${variable(value, "      ")}`;
  for (const [pipeline, more] of [
    ["uses_key", ""],
    ["asks", withInput(of("org.key"))],
    ["asks", "  inputSetRefs: [keyed]\n"],
  ] as const) {
    const yaml = triggerYaml(pipeline, `t${more.length}`, more);
    const { status, body, text } = await save(pipeline, yaml, builder);
    assert.deepEqual([status, body.code], [403, "NG_ACCESS_DENIED"], text);
    assert.match(body.message, /core_secret_access is missing/);
    // It was the secret alone, and whoever may use it saves the same, and it runs.
    const { webhookUrl } = await made(save(pipeline, yaml));
    assert.equal((await fate(webhookUrl)).status, "TARGET_EXECUTION_REQUESTED");
  }
  const [{ n } = { n: 0 }] = await platform.db.query<{ n: number }>("select count(*) as n from triggers");
  assert.equal(n, 3);
  await made(save("asks", triggerYaml("asks", "plain", withInput("plain")), builder));
});

test("saving a trigger needs leave to edit and to run the pipeline: its address runs it", async () => {
  await made(create.pipeline(platform, pipelineYaml("plain")));
  for (const missing of ["core_pipeline_execute", "core_pipeline_edit"]) {
    const key = await person(({ permission }) => permission !== missing);
    const { status, body } = await save("plain", triggerYaml("plain", missing), key);
    assert.deepEqual([status, body.message], [403, `Missing permission ${missing}.`]);
  }
});

test("what the payload chooses is looked for in the trigger's own project and above it", async () => {
  await made(create.environment(platform, "wide"));
  await made(create.environment(platform, "wide", "  orgIdentifier: default\n"));
  const yaml = pipelineYaml("chooses").replace("environmentRef: staging", "environmentRef: <+trigger.payload.to>");
  await made(create.pipeline(platform, yaml));
  const { webhookUrl } = await made(save("chooses", triggerYaml("chooses")));
  for (const [to, status] of [
    ["staging", "TARGET_EXECUTION_REQUESTED"],
    ["org.wide", "TARGET_EXECUTION_REQUESTED"],
    ["account.wide", "TARGET_EXECUTION_REQUESTED"],
    ["wide", "INVALID_RUNTIME_INPUT_YAML"],
  ] as const)
    assert.equal((await fate(webhookUrl, JSON.stringify({ to }))).status, status, to);
});

const ACCESS = new Set(["connector", "environment", "service"].map((noun) => `core_${noun}_access`));

/** What creates, with somebody's key. */
const by = (apiKey: string): TestPlatform => ({
  ...platform,
  send: (method, path, options) => platform.send(method, path, { ...options, apiKey }),
});

test("who saves a trigger has to hold the access to the environment that it would deploy to, and the trigger no more than they", async () => {
  const plain = await person(({ permission }) => !permission.startsWith("core_secret") && !ACCESS.has(permission));
  await made(create.pipeline(platform, pipelineYaml("to_staging")));
  const refused = await save("to_staging", triggerYaml("to_staging"), plain);
  assert.deepEqual([refused.status, refused.body.code], [403, "NG_ACCESS_DENIED"], refused.text);
  // What the payload chooses is held against what they could use, too.
  const chooses = pipelineYaml("they_choose").replace(
    "environmentRef: staging",
    "environmentRef: <+trigger.payload.to>",
  );
  await made(create.pipeline(platform, chooses));
  const own = await person(({ permission }) => permission !== "core_environment_access");
  const { webhookUrl } = await made(save("they_choose", triggerYaml("they_choose"), own));
  const { status, message } = await fate(webhookUrl, JSON.stringify({ to: "staging" }));
  assert.equal(status, "INVALID_RUNTIME_INPUT_YAML");
  assert.match(message, /core_environment_access/);
});

test("a trigger that is saved anew asks whoever saves it, and uses from then on what they could, no more and no less", async () => {
  const chooses = pipelineYaml("anew").replace("environmentRef: staging", "environmentRef: <+trigger.payload.to>");
  await made(create.pipeline(platform, chooses));
  const yaml = triggerYaml("anew");
  const { webhookUrl } = await made(save("anew", yaml));
  const put = (apiKey: string, name = "anew", body = yaml): Promise<Answer> =>
    platform.send("PUT", `/pipeline/api/triggers/hook?${SCOPE}&targetIdentifier=${name}`, {
      contentType: YAML,
      body,
      apiKey,
    });
  const toStaging = () => fate(webhookUrl, JSON.stringify({ to: "staging" }));
  assert.equal((await toStaging()).status, "TARGET_EXECUTION_REQUESTED");
  const own = await person(({ permission }) => permission !== "core_environment_access");
  await made(put(own));
  const { status, message } = await toStaging();
  assert.equal(status, "INVALID_RUNTIME_INPUT_YAML");
  assert.match(message, /core_environment_access/);
  await made(put(platform.apiKey));
  assert.equal((await toStaging()).status, "TARGET_EXECUTION_REQUESTED");
  // What it names is asked for, as when it was made; and what was refused has changed nothing.
  await made(create.pipeline(platform, pipelineYaml("names_it")));
  await made(save("names_it", triggerYaml("names_it")));
  const refused = await put(own, "names_it", triggerYaml("names_it"));
  assert.deepEqual([refused.status, refused.body.code], [403, "NG_ACCESS_DENIED"], refused.text);
  for (const missing of ["core_pipeline_execute", "core_pipeline_edit"]) {
    const key = await person(({ permission }) => permission !== missing);
    const { body } = await put(key, "names_it", triggerYaml("names_it"));
    assert.equal(body.message, `Missing permission ${missing}.`);
  }
  const [row] = await platform.db.query<{ version: number }>(
    "select t.version from triggers t join pipelines p on p.id = t.pipeline_id where p.identifier = 'names_it'",
  );
  assert.equal(row?.version, 1);
});

test("a trigger that is deleted asks nothing any more of who changes its pipeline", async () => {
  const own = await person(({ permission }) => permission !== "core_secret_access");
  await made(create.pipeline(platform, withVariable("freed", "Secret", "<+input>")));
  await made(save("freed", triggerYaml("freed", "hook", givingX("freed", "account.key"))));
  const edited = withVariable("freed", "Secret", "<+input>").replace("echo $VALUE", "echo x$VALUE");
  const refused = await change("freed", edited, own);
  assert.deepEqual([refused.status, refused.body.message.includes("[hook]")], [403, true], refused.text);
  const path = `/pipeline/api/triggers/hook?${SCOPE}&targetIdentifier=freed`;
  await made(platform.send("DELETE", path, { apiKey: own }));
  await made(change("freed", edited, own));
});

const IN_SHOP = "  orgIdentifier: default\n  projectIdentifier: shop\n";
const withVariable = (name: string, type: string, value: string): string =>
  pipelineYaml(name, "<+pipeline.variables.x>", `  variables: [{ name: x, type: ${type}, value: "${value}" }]\n`);
const change = (name: string, body: string, apiKey?: string): Promise<Answer> =>
  platform.send("PUT", `/pipeline/api/pipelines/${name}?${SCOPE}`, {
    contentType: YAML,
    body,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
const givingX = (name: string, value: string): string =>
  `  inputYaml: |\n    pipeline:\n      identifier: ${name}\n      variables:\n        - name: x\n          value: ${value}\n`;

test("the default of a runtime input names a secret as a written-out one does, for whoever saves it and for its deletion", async () => {
  await made(create.pipeline(platform, pipelineYaml("harmless")));
  const { webhookUrl } = await made(save("harmless", triggerYaml("harmless"), platform.apiKey));
  const own = await person(({ permission }) => permission !== "core_secret_access");
  for (const value of ["<+input>.default(account.key)", "<+input>.allowedValues(org.key,account.key)"]) {
    const { status, body, text } = await change("harmless", withVariable("harmless", "Secret", value), own);
    assert.deepEqual([status, body.code], [403, "NG_ACCESS_DENIED"], text);
    assert.match(text, /account\.key/);
  }
  const beside = withVariable("harmless", "Secret", '<+input>", default: "account.key');
  const asked = await create.pipeline(by(own), beside.replaceAll("harmless", "untriggered"));
  assert.deepEqual([asked.status, asked.body.code], [403, "NG_ACCESS_DENIED"], asked.text);
  const script = pipelineYaml("harmless", `<+input>.default(${of("account.key")})`);
  const planted = await change("harmless", script, own);
  assert.equal(planted.status, 403, planted.text);
  assert.equal((await fate(webhookUrl)).status, "TARGET_EXECUTION_REQUESTED", "it is what it was");
  await made(change("harmless", withVariable("harmless", "Secret", "<+input>.default(account.key)")));
  const gone = await platform.send("DELETE", "/ng/api/v2/secrets/key");
  assert.equal(gone.status, 402, gone.text);
  assert.match(gone.text, /harmless/);
});

test("a text of a trigger or an input set that a change of the pipeline makes the name of a secret gives none", async () => {
  const own = await person(({ permission }) => permission !== "core_secret_access");
  await made(create.pipeline(by(own), withVariable("turned", "String", "<+input>")));
  await made(save("turned", triggerYaml("turned", "of_inputs", givingX("turned", "account.key")), own));
  const turn = (apiKey?: string): Promise<Answer> =>
    change("turned", withVariable("turned", "Secret", "<+input>"), apiKey);
  const refused = await turn(own);
  assert.deepEqual([refused.status, refused.body.code], [403, "NG_ACCESS_DENIED"], refused.text);
  assert.match(refused.body.message, /trigger \[of_inputs\]/);
  // Whoever may use the secret may turn it; the trigger has what its author had.
  await made(turn());
  const shown = await platform.send("GET", `/pipeline/api/triggers/of_inputs?${SCOPE}&targetIdentifier=turned`);
  const { status, message } = await fate(shown.body.data.webhookUrl);
  assert.equal(status, "INVALID_RUNTIME_INPUT_YAML");
  assert.match(message, /core_secret_access/);
});

test("an input set whose text has come to name a secret is outdated until it is saved again", async () => {
  const own = await person(({ permission }) => permission !== "core_secret_access");
  await made(create.pipeline(platform, withVariable("filled", "String", "<+input>")));
  const set = inputSetYaml("filled", "planted", "    variables:\n      - name: x\n        value: account.key\n");
  await made(create.inputSet(by(own), "filled", set));
  await made(change("filled", withVariable("filled", "Secret", "<+input>"), own));
  const run = (): Promise<Answer> =>
    platform.send("POST", `/pipeline/api/pipeline/execute/filled/inputSetList?${SCOPE}`, {
      contentType: JSON_TYPE,
      body: JSON.stringify({ inputSetReferences: ["planted"] }),
    });
  const outdated = await run();
  assert.equal(outdated.status, 400, outdated.text);
  assert.match(outdated.text, /has come to name a secret since the input set was saved/);
  const again = (apiKey?: string): Promise<Answer> =>
    platform.send("PUT", `/pipeline/api/inputSets/planted?${SCOPE}&pipelineIdentifier=filled`, {
      contentType: YAML,
      body: set,
      ...(apiKey === undefined ? {} : { apiKey }),
    });
  assert.equal((await again(own)).status, 403);
  await made(again());
  await made(run());
});

test("who changes the pipeline of somebody else's trigger has to hold what that uses, and all that its payload may choose", async () => {
  const own = await person(({ permission }) => permission !== "core_environment_access");
  const to = (where: string): string =>
    pipelineYaml("kept").replace("environmentRef: staging", `environmentRef: '${where}'`);
  await made(create.pipeline(by(own), to("staging")));
  // Whoever saves a trigger learns at once that its pipeline was last saved by somebody who may not use what it names.
  const early = await save("kept", triggerYaml("kept"));
  assert.deepEqual([early.status, early.body.code], [403, "NG_ACCESS_DENIED"], early.text);
  assert.match(
    early.body.message,
    /whoever saved version \d+ of the pipeline \[kept\] may not: .*core_environment_access/,
  );
  await made(change("kept", to("staging")));
  const { webhookUrl } = await made(save("kept", triggerYaml("kept")));
  for (const where of ["staging", "account.far", "<+trigger.payload.to>"]) {
    if (where === "account.far") await made(create.environment(platform, "far"));
    const { status, body, text } = await change("kept", to(where), own);
    assert.deepEqual([status, body.code], [403, "NG_ACCESS_DENIED"], `${where}: ${text}`);
    assert.match(body.message, /trigger \[hook\]/);
  }
  await made(create.environment(platform, "prod", IN_SHOP));
  for (const [where, payload] of [
    ['<+trigger == null ? "later" : "prod">', {}],
    ['<+trigger.type == null ? "later" : "prod">', {}],
    ["later", {}],
  ] as const) {
    // At the save it names what there is not, which is nobody's to use; at the call its author is held against it.
    await made(change("kept", to(where), own));
    if (where === "later") await made(create.environment(platform, "later", IN_SHOP));
    const { status, message } = await fate(webhookUrl, JSON.stringify(payload));
    assert.equal(status, "INVALID_RUNTIME_INPUT_YAML", where);
    assert.match(
      message,
      /whoever saved version \d+ of the pipeline \[kept\] may not: .*core_environment_access/,
      where,
    );
  }
  await made(change("kept", to("<+trigger.payload.to>")));
  assert.equal((await fate(webhookUrl, JSON.stringify({ to: "prod" }))).status, "TARGET_EXECUTION_REQUESTED");
});

test("who last saved a pipeline is held against the secrets that a trigger gives it", async () => {
  const own = await person(({ permission }) => permission !== "core_secret_access");
  const yaml = (more = ""): string =>
    pipelineYaml(
      "given",
      "<+pipeline.variables.x>",
      `  variables: [{ name: x, type: Secret, value: <+input> }, { name: y, type: String, value: <+input> }${more}]\n`,
    );
  const set = (more = ""): string =>
    inputSetYaml("given", "values", `    variables:\n      - { name: y, value: y }\n${more}`);
  await made(create.pipeline(platform, yaml()));
  await made(create.inputSet(platform, "given", set()));
  const more = `${givingX("given", "account.key")}  inputSetRefs: [values]\n`;
  const { webhookUrl } = await made(save("given", triggerYaml("given", "hook", more)));
  assert.equal((await fate(webhookUrl)).status, "TARGET_EXECUTION_REQUESTED");
  // A runtime input that nobody gives: the trigger cannot run, until somebody else gives it.
  await made(change("given", yaml(", { name: z, type: String, value: <+input> }"), own));
  const put = await platform.send("PUT", `/pipeline/api/inputSets/values?${SCOPE}&pipelineIdentifier=given`, {
    contentType: YAML,
    body: set("      - { name: z, value: z }\n"),
  });
  assert.equal(put.status, 200, put.text);
  const { status, message } = await fate(webhookUrl);
  assert.equal(status, "INVALID_RUNTIME_INPUT_YAML");
  assert.match(message, /whoever saved version \d+ of the pipeline \[given\] may not: .*core_secret_access is missing/);
});

test("a run of a trigger that somebody starts again is held against the authors, too", async () => {
  await made(create.pipeline(platform, withVariable("again", "Secret", "<+input>")));
  const { webhookUrl } = await made(save("again", triggerYaml("again", "hook", givingX("again", "account.key"))));
  assert.equal((await fate(webhookUrl)).status, "TARGET_EXECUTION_REQUESTED");
  const [run] = await platform.db.query<{ id: Uuid }>("select id from executions order by id desc limit 1");
  assert.ok(run);
  // As when somebody has saved it who may use nothing.
  await platform.db.query(
    `update pipeline_versions v set authority = '[]' from pipelines p
      where p.identifier = 'again' and v.pipeline_id = p.id and v.version = p.version`,
  );
  const { status, text } = await platform.send(
    "POST",
    `/pipeline/api/pipeline/execute/rerun/${toWire(run.id)}/again?${SCOPE}`,
    { contentType: YAML },
  );
  assert.equal(status, 403, text);
  assert.match(text, /whoever saved version \d+ of the pipeline \[again\] may not/);
});

test("what a server of the former version saves is taken to be by nobody who holds anything", async () => {
  await made(
    create.pipeline(platform, pipelineYaml("former").replace("environmentRef: staging", "environmentRef: <+input>")),
  );
  const where = inputSetYaml(
    "former",
    "where",
    `    stages:\n    - stage:\n        identifier: build\n        type: Deployment\n        spec:\n          infrastructure:\n            environmentRef: staging\n`,
  );
  await made(create.inputSet(platform, "former", where));
  const { webhookUrl } = await made(save("former", triggerYaml("former", "hook", "  inputSetRefs: [where]\n")));
  assert.equal((await fate(webhookUrl)).status, "TARGET_EXECUTION_REQUESTED");
  // As its statements are: the version goes on, and the author stays who it was.
  await platform.db.query("update input_sets set version = version + 1 where identifier = 'where'");
  const ofSet = await fate(webhookUrl);
  assert.match(ofSet.message, /whoever saved version 2 of the input set \[where\] may not/);
  await platform.db.query("update input_sets set authority_version = version where identifier = 'where'");
  await platform.db.query(
    `insert into pipeline_versions (account_id, pipeline_id, version, yaml, created_by, created_at)
     select account_id, pipeline_id, 2, yaml, created_by, created_at from pipeline_versions
      where pipeline_id = (select id from pipelines where identifier = 'former')`,
  );
  await platform.db.query("update pipelines set version = 2 where identifier = 'former'");
  const ofPipeline = await fate(webhookUrl);
  assert.match(ofPipeline.message, /whoever saved version 2 of the pipeline \[former\] may not/);
});

test("what a project is called by then counts, and who made its pipeline what that names", async () => {
  const own = await person(({ permission }) => permission !== "core_environment_access");
  const yaml = pipelineYaml("by_name").replace("environmentRef: staging", "environmentRef: <+project.name>");
  await made(create.pipeline(platform, pipelineYaml("by_name")));
  const { webhookUrl } = await made(save("by_name", triggerYaml("by_name")));
  await made(change("by_name", yaml, own));
  const [project] = await platform.db.query<{ name: string }>("select name from projects where identifier = 'shop'");
  await platform.db.query("update projects set name = 'staging' where identifier = 'shop'");
  const { status, message } = await fate(webhookUrl);
  await platform.db.query("update projects set name = $1 where identifier = 'shop'", [project?.name]);
  assert.deepEqual([status, message.includes("[by_name]")], ["INVALID_RUNTIME_INPUT_YAML", true], message);
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
  const pipeline = `/pipeline/api/pipelines/replaced?${SCOPE}`;
  await made(platform.send("DELETE", pipeline));
  await made(create.pipeline(platform, pipelineYaml("replaced")));
  await platform.platform.sweep();
  const [row] = await platform.db.query<{ status: string; message: string }>(
    "select status, message from webhook_deliveries where id = $1",
    [id],
  );
  assert.deepEqual(
    [row?.status, row?.message],
    ["INVALID_RUNTIME_INPUT_YAML", "The pipeline [replaced] of the trigger is gone."],
  );
});

test("an input set or an overlay that somebody saved who may not use what the run names stops the trigger that takes it", async () => {
  const own = await person(({ permission }) => permission !== "core_environment_access");
  await made(
    create.pipeline(platform, pipelineYaml("taking").replace("environmentRef: staging", "environmentRef: <+input>")),
  );
  const where = (name: string): string =>
    inputSetYaml(
      "taking",
      "where",
      `    stages:\n    - stage:\n        identifier: build\n        type: Deployment\n        spec:\n          infrastructure:\n            environmentRef: ${name}\n`,
    );
  await made(create.inputSet(platform, "taking", where("staging")));
  const { webhookUrl } = await made(save("taking", triggerYaml("taking", "hook", "  inputSetRefs: [where]\n")));
  const put = (name: string, apiKey?: string): Promise<Answer> =>
    platform.send("PUT", `/pipeline/api/inputSets/where?${SCOPE}&pipelineIdentifier=taking`, {
      contentType: YAML,
      body: where(name),
      ...(apiKey === undefined ? {} : { apiKey }),
    });
  await made(put('\'<+trigger == null ? "none" : "staging">\'', own));
  const { status, message } = await fate(webhookUrl);
  assert.equal(status, "INVALID_RUNTIME_INPUT_YAML");
  assert.match(message, /whoever saved version \d+ of the input set \[where\] may not: .*core_environment_access/);
  await made(put("staging"));
  assert.equal((await fate(webhookUrl)).status, "TARGET_EXECUTION_REQUESTED");
});

test("who changes what somebody else's trigger runs has to hold what it uses: by the pipeline, an input set, an overlay", async () => {
  const own = await person(({ permission }) => permission !== "core_environment_access");
  const to = (where: string): string =>
    pipelineYaml("theirs").replace("environmentRef: staging", `environmentRef: ${where}`);
  await made(create.environment(platform, "elsewhere", IN_SHOP));
  await made(create.pipeline(platform, to("<+input>")));
  const set = (name: string, where: string): string =>
    inputSetYaml(
      "theirs",
      name,
      `    stages:\n    - stage:\n        identifier: build\n        type: Deployment\n        spec:\n          infrastructure:\n            environmentRef: ${where}\n`,
    );
  for (const where of ["staging", "elsewhere"]) await made(create.inputSet(platform, "theirs", set(where, where)));
  const overlay = (list: string): string =>
    `overlayInputSet:\n  name: chosen\n  identifier: chosen\n  orgIdentifier: default\n  projectIdentifier: shop\n  pipelineIdentifier: theirs\n  inputSetReferences: [${list}]\n`;
  const putOverlay = (method: "POST" | "PUT", list: string, apiKey?: string): Promise<Answer> =>
    platform.send(
      method,
      `/pipeline/api/inputSets/overlay${method === "PUT" ? "/chosen" : ""}?${SCOPE}&pipelineIdentifier=theirs`,
      { contentType: YAML, body: overlay(list), ...(apiKey === undefined ? {} : { apiKey }) },
    );
  await made(putOverlay("POST", "staging"));
  const { webhookUrl } = await made(save("theirs", triggerYaml("theirs", "hook", "  inputSetRefs: [chosen]\n")));
  assert.equal((await fate(webhookUrl)).status, "TARGET_EXECUTION_REQUESTED");
  const putSet = (where: string, apiKey?: string): Promise<Answer> =>
    platform.send("PUT", `/pipeline/api/inputSets/staging?${SCOPE}&pipelineIdentifier=theirs`, {
      contentType: YAML,
      body: set("staging", where),
      ...(apiKey === undefined ? {} : { apiKey }),
    });
  for (const [what, changed] of [
    ["the pipeline", () => change("theirs", to("<+input>").replace("echo", "printf"), own)],
    ["the set", () => putSet("elsewhere", own)],
    ["the overlay", () => putOverlay("PUT", "elsewhere", own)],
  ] as const) {
    const { status, body, text } = await changed();
    assert.deepEqual([status, body.code], [403, "NG_ACCESS_DENIED"], `${what}: ${text}`);
    assert.match(body.message, /trigger \[hook\]/, what);
  }
  await made(putSet("elsewhere"));
  assert.equal((await fate(webhookUrl)).status, "TARGET_EXECUTION_REQUESTED");
  // Nor does one come in by the name of what is gone.
  await made(platform.send("DELETE", `/pipeline/api/inputSets/chosen?${SCOPE}&pipelineIdentifier=theirs`));
  const anew = await putOverlay("POST", "elsewhere", own);
  assert.deepEqual([anew.status, anew.body.code], [403, "NG_ACCESS_DENIED"], anew.text);
});

const accountId = "01a1fc75-fee1-7000-8000-000000000001" as Uuid;
const AT = { orgIdentifier: "default", projectIdentifier: "shop" };
const author = (grants: Grants): Actor => ({
  ...{ kind: "user", accountId, id: accountId, grants },
  ...{ name: "ada", email: "ada@example.com" },
});
const triggerOf = (by: Actor): Actor =>
  actorOf({
    ...{ accountId, id: accountId, identifier: "hook", ...AT, pipelineIdentifier: "deploy" },
    authority: readAuthority(JSON.parse(keptAuthority(authorityOf(by, AT)))),
  });
const TRIGGER = triggerOf(author(adminGrants));
const ACCOUNT: Scope = { accountId };
const ORG: Scope = { ...ACCOUNT, orgIdentifier: "default" };
const PROJECT: Scope = { ...ORG, projectIdentifier: "shop" };
const FOREIGN: readonly Scope[] = [
  { accountId, orgIdentifier: "other" },
  { accountId, orgIdentifier: "default", projectIdentifier: "bank" },
  { accountId, orgIdentifier: "other", projectIdentifier: "shop" },
  { accountId: "01a1fc75-fee1-7000-8000-000000000002" as Uuid },
];
const held = (scope: Scope, identifier?: string, trigger = TRIGGER): readonly string[] =>
  EVERY.filter((permission) => permits(trigger, permission, scope, identifier)).toSorted();

test("a trigger holds nothing of another project, organization or account", () => {
  for (const scope of FOREIGN) for (const name of [undefined, "deploy"]) assert.deepEqual(held(scope, name), []);
});

test("in its project a trigger runs its own pipeline and uses what that names; above it, it uses", () => {
  const uses = ["connector", "environment", "secret", "service"].flatMap((noun) => [
    `core_${noun}_access`,
    `core_${noun}_view`,
  ]);
  assert.deepEqual(held(ACCOUNT), uses);
  assert.deepEqual(held(ORG), uses);
  const others = [...uses, "core_inputset_view"].toSorted();
  assert.deepEqual(held(PROJECT), others, "no pipeline in general");
  assert.deepEqual(held(PROJECT, "another"), others);
  const own = [...others, "core_pipeline_execute", "core_pipeline_view"].toSorted();
  assert.deepEqual(held(PROJECT, "deploy"), own);
  assert.deepEqual(held(ACCOUNT, "deploy"), uses);
});

test("what a trigger may use is what its author could: of a scope, of single things, and nothing of who has nothing", () => {
  const narrow = triggerOf(
    author([
      {
        ...{ scope: { orgIdentifier: "default" }, children: true },
        permissions: new Set(["core_secret_view", "core_secret_access", "core_pipeline_delete"]),
        resources: new Map([["SECRET", new Set(["one"])]]),
      },
    ]),
  );
  const one = ["core_secret_access", "core_secret_view"];
  assert.deepEqual(held(ORG, "one", narrow), one);
  assert.deepEqual(held(ORG, "two", narrow), []);
  assert.deepEqual(held(ACCOUNT, "one", narrow), []);
  assert.deepEqual(
    held(PROJECT, "one", narrow),
    [...one, "core_inputset_view"].toSorted(),
    "children of the organization, too",
  );
  assert.deepEqual(held(PROJECT, "x", triggerOf(author([]))), ["core_inputset_view"]);
  assert.deepEqual(held(PROJECT, "x", triggerOf({ kind: "delegate", accountId, id: accountId, name: "d" })), [
    "core_inputset_view",
  ]);
});
