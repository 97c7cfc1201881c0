/** What a trigger may do by itself, and what whoever saves one must hold: of its own pipeline, and of nothing else. */
import assert from "node:assert/strict";
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
} from "../../test/harness/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/harness/platform.ts";
import { builtInRoles, permits, type Permission } from "../access/index.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import { actorOf } from "./actor.ts";

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

const accountId = "01a1fc75-fee1-7000-8000-000000000001" as Uuid;
const TRIGGER = actorOf({
  ...{ accountId, id: accountId, identifier: "hook" },
  ...{ orgIdentifier: "default", projectIdentifier: "shop", pipelineIdentifier: "deploy" },
});
const ACCOUNT: Scope = { accountId };
const ORG: Scope = { ...ACCOUNT, orgIdentifier: "default" };
const PROJECT: Scope = { ...ORG, projectIdentifier: "shop" };
const FOREIGN: readonly Scope[] = [
  { accountId, orgIdentifier: "other" },
  { accountId, orgIdentifier: "default", projectIdentifier: "bank" },
  { accountId, orgIdentifier: "other", projectIdentifier: "shop" },
  { accountId: "01a1fc75-fee1-7000-8000-000000000002" as Uuid },
];
const held = (scope: Scope, identifier?: string): readonly string[] =>
  EVERY.filter((permission) => permits(TRIGGER, permission, scope, identifier)).toSorted();

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
