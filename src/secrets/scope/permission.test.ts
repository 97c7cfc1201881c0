/** Widening a usage scope requires access to the secret and to the environments. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { serviceToken } from "../../../test/support/service-accounts.ts";

const SHOP = "orgIdentifier=default&projectIdentifier=shop";
const [EDIT, USE] = [["core_secret_view", "core_secret_edit"], ["core_secret_access"]];
const SEE_SHOP = ["core_project_view", "core_environment_view"];
const USE_SHOP = [...SEE_SHOP, "core_environment_access"];

let platform: TestPlatform;
let shop: string;
let live: string;
let secretId: string;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  shop = (await platform.graphql("{ applications { nodes { id } } }")).body.data.applications.nodes[0].id;
  const environment = {
    name: "Live",
    identifier: "live",
    type: "Production",
    orgIdentifier: "default",
    projectIdentifier: "shop",
  };
  live = (await post("/ng/api/environmentsV2", environment)).environment.id;
  secretId = (await graphql(platform.apiKey, CREATE, input("kept", {}))).body.data.createSecret.secret.id;
});
after(() => platform?.stop());

const post = (path: string, body: object) =>
  made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));

/** A service account with these permissions over all that lies in the account itself, and these in the project. */
async function holder(name: string, ofAccount: readonly string[], ofShop: readonly string[] = []): Promise<string> {
  await post("/ng/api/serviceaccount", { identifier: name, name, email: `${name}@service.example.com` });
  const principal = { identifier: name, type: "SERVICE_ACCOUNT", scopeLevel: "account" };
  for (const [scope, group, permissions] of [
    ["", "_all_account_level_resources", ofAccount],
    [SHOP, "_all_project_level_resources", ofShop],
  ] as const) {
    if (permissions.length === 0) continue;
    const identifier = `${name}_role_${scope.length}`;
    await post(`/authz/api/roles?${scope}`, { identifier, name: identifier, permissions });
    const assignment = { roleIdentifier: identifier, resourceGroupIdentifier: group, principal };
    await post(`/authz/api/roleassignments?${scope}`, assignment);
  }
  return serviceToken(platform, name);
}

const PROD = { filterType: "PRODUCTION_ENVIRONMENTS" };
const REST = { filterType: "NON_PRODUCTION_ENVIRONMENTS" };
const ALL = { filterType: "ALL" };
type Entry = readonly [application: object, environment: object];
const scope = (...entries: readonly Entry[]) => ({
  usageScope: { appEnvScopes: entries.map(([application, environment]) => ({ application, environment })) },
});

const CREATE = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";
const UPDATE = "mutation ($input: UpdateSecretInput!) { updateSecret(input: $input) { secret { id } } }";
const input = (name: string, more: object) => ({
  input: { secretType: "ENCRYPTED_TEXT", encryptedText: { name, value: "a value", ...more } },
});
const change = (encryptedText: object) => ({ input: { secretId, secretType: "ENCRYPTED_TEXT", encryptedText } });
const graphql = (apiKey: string, query: string, variables: object): Promise<Answer> =>
  platform.send("POST", `/gateway/api/graphql?accountId=${platform.accountId}`, {
    apiKey,
    contentType: JSON_TYPE,
    body: JSON.stringify({ query, variables }),
  });

/** The refusals of this moment: the code of each, and the permission and resource that it names. */
async function refusedNow(): Promise<readonly unknown[]> {
  await platform.platform.sweep();
  const rows = await platform.db.query<Record<string, unknown>>(
    `select code, permission, resource_type, resource_id, project_identifier from audit_entries
      where outcome = 'refused' and at = $1`,
    [platform.clock.now()],
  );
  return rows.map((row) => Object.values(row));
}

let nth = 0;
/** What comes of it, for a secret that begins with `from`: "done", or the reason. */
async function outcome(apiKey: string, query: string, said: object, from: object = {}): Promise<string> {
  if (query === UPDATE) {
    const set = await graphql(platform.apiKey, UPDATE, change({ inheritScopesFromSM: false, ...from }));
    assert.equal(set.body.errors, undefined, set.text);
  }
  const variables = query === UPDATE ? change(said) : input(`secret ${(nth += 1)}`, said);
  const { body, text } = await graphql(apiKey, query, variables);
  const message: string | undefined = body.errors?.[0]?.message;
  if (message === undefined) return "done";
  for (const [reason, words] of [
    ["far", "where you lack core_environment_access"],
    ["secret", "core_secret_access"],
    ["unseen", "there is no"],
  ] as const)
    if (message.includes(words)) return reason;
  return text;
}

test("a user who may only edit secrets widens no scope, and changes all other fields", async () => {
  const key = await holder("editor", EDIT);
  const production = scope([ALL, PROD]);
  const cases: readonly (readonly [said: object, from: object, result: string])[] = [
    [scope([ALL, PROD], [ALL, REST]), production, "secret"],
    [{ inheritScopesFromSM: true }, production, "secret"],
    [production, { usageScope: null }, "secret"],
    [production, production, "done"],
    [{ name: "renamed", value: "another value" }, production, "done"],
    [scope([{ appId: shop }, PROD]), production, "unseen"],
    [{ usageScope: null }, production, "done"],
  ];
  for (const [said, from, result] of cases)
    assert.equal(await outcome(key, UPDATE, said, from), result, JSON.stringify(said));
  assert.equal(await outcome(key, CREATE, {}), "done");
  assert.equal(await outcome(key, CREATE, production), "far");
});

test("a refused scope is in the audit trail with the hidden application or environment", async () => {
  const [key, onlooker] = [
    await holder("blind", [...EDIT, ...USE]),
    await holder("looker", [...EDIT, ...USE], SEE_SHOP),
  ];
  const cases: readonly (readonly [by: string, entry: Entry, refusal: readonly unknown[]])[] = [
    [key, [{ appId: shop }, PROD], ["secret.bad_scope", "core_project_view", "PROJECT", "shop", "shop"]],
    [key, [ALL, { envId: live }], ["secret.bad_scope", "core_environment_view", "ENVIRONMENT", "live", "shop"]],
    [
      onlooker,
      [ALL, { envId: live }],
      ["secret.beyond_reach", "core_environment_access", "ENVIRONMENT", "live", "shop"],
    ],
    [onlooker, [ALL, PROD], ["secret.beyond_reach", "core_environment_access", "ENVIRONMENT", "", null]],
  ];
  for (const [by, entry, refusal] of cases) {
    // Each kind of refusal begins anew after a minute.
    platform.clock.advance(120_000);
    assert.notEqual(await outcome(by, CREATE, scope(entry)), "done");
    assert.deepEqual(await refusedNow(), [refusal]);
  }
});

test("a user with the secrets and environments of one project adds those to a scope, and no others", async () => {
  const [user, onlooker] = [
    await holder("user", [...EDIT, ...USE], USE_SHOP),
    await holder("onlooker", [...EDIT, ...USE], SEE_SHOP),
  ];
  const [ofShop, envLive]: [Entry, Entry] = [
    [{ appId: shop }, PROD],
    [ALL, { envId: live }],
  ];
  const rest: Entry = [{ appId: shop }, REST];
  for (const entry of [ofShop, envLive, [{ appId: shop }, { envId: live }]] as const) {
    assert.equal(await outcome(user, CREATE, scope(entry)), "done", JSON.stringify(entry));
    assert.equal(await outcome(onlooker, CREATE, scope(entry)), "far", JSON.stringify(entry));
    assert.equal(await outcome(user, UPDATE, scope(rest, entry), scope(rest)), "done", JSON.stringify(entry));
    assert.equal(await outcome(onlooker, UPDATE, scope(rest, entry), scope(rest)), "far", JSON.stringify(entry));
  }
  assert.equal(await outcome(user, CREATE, scope(ofShop, [ALL, PROD])), "far");
  assert.equal(await outcome(user, UPDATE, { inheritScopesFromSM: true }, scope(ofShop)), "far");
  // What it is used for elsewhere is not theirs: they must not bring it to where they are.
  assert.equal(await outcome(user, UPDATE, scope([ALL, PROD], rest), scope([ALL, PROD])), "far");
  assert.equal(await outcome(user, UPDATE, scope(ofShop), scope([ALL, PROD])), "done");
});

test("widening a secret manager's scope requires its secrets and the environments; a refusal is in the audit trail", async () => {
  const connectors = ["core_connector_view", "core_connector_edit"];
  const [key, wide] = [await holder("connectors", connectors), await holder("wide", [...connectors, ...USE])];
  const send = async (method: string, apiKey: string, path: string, more: object): Promise<number> => {
    const body = JSON.stringify({ secretManager: { identifier: "vault", name: "vault", type: "Platform", ...more } });
    return (await platform.send(method, `/ng/api/secret-managers${path}`, { apiKey, contentType: JSON_TYPE, body }))
      .status;
  };
  assert.equal(await send("POST", key, "", scope([ALL, PROD])), 403);
  assert.equal(await send("POST", key, "", {}), 200, "which names nothing");
  assert.equal(await send("PUT", platform.apiKey, "/vault", scope([ALL, PROD])), 200);
  for (const apiKey of [key, wide])
    for (const wider of [{}, scope([ALL, PROD], [ALL, REST])])
      assert.equal(await send("PUT", apiKey, "/vault", wider), 403, JSON.stringify(wider));
  assert.equal(await send("PUT", key, "/vault", { description: "of what is live", ...scope([ALL, PROD]) }), 200);
  assert.equal(await send("PUT", key, "/vault", { usageScope: null }), 200);
  assert.equal(await send("PUT", platform.apiKey, "/vault", {}), 200);
  await platform.platform.sweep();
  const refused = await platform.db.query(
    "select code from audit_entries where operation = 'secret-manager.create' and outcome = 'refused'",
  );
  assert.deepEqual(refused, [{ code: "secret.beyond_reach" }]);
});

test("over REST the scope is read and changed, with the same permissions and its version", async () => {
  const path = "/ng/api/v2/secrets/kept/usage-scope";
  const send = (method: string, apiKey: string, body?: object, version?: string): Promise<Answer> =>
    platform.send(method, path, {
      apiKey,
      ...(body && { contentType: JSON_TYPE, body: JSON.stringify(body) }),
      headers: version === undefined ? {} : { "if-match": version },
    });
  const { apiKey } = platform;
  assert.equal((await send("PUT", apiKey, { inheritScopesFromSM: true })).status, 200);
  const inherits = await send("GET", apiKey);
  assert.deepEqual(inherits.body.data, {
    ...{ inheritScopesFromSM: true, scopedToAccount: false, usageScope: null },
    secretManagerIdentifier: "platformSecretManager",
  });
  const version = inherits.headers.get("etag") ?? assert.fail();
  const changed = await send("PUT", apiKey, scope([ALL, PROD]), version);
  assert.deepEqual(
    [changed.body.data.inheritScopesFromSM, changed.body.data.usageScope.appEnvScopes.length],
    [false, 1],
  );
  assert.equal((await send("PUT", apiKey, scope([ALL, REST]), version)).status, 402);
  const editor = await holder("editor_of_scopes", EDIT);
  const wider = await send("PUT", editor, scope([ALL, PROD], [ALL, REST]));
  assert.deepEqual([wider.status, /core_secret_access/.test(wider.text)], [403, true]);
  assert.equal((await send("PUT", editor, { usageScope: null })).status, 200);
  assert.equal((await send("GET", editor)).body.data.usageScope, null);
  const viewer = await platform.addUser("_account_viewer");
  assert.deepEqual([(await send("GET", viewer)).status, (await send("PUT", viewer, {})).status], [200, 403]);
  assert.equal((await send("PUT", apiKey, scope([{}, PROD]))).status, 400);
  assert.equal((await platform.send("GET", path.replace("kept", "none"))).status, 404);
});
