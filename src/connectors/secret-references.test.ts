/** A secret that a connector names is not deleted by mistake, whichever of the two changes first. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { after, beforeEach, before, test } from "node:test";
import { connectorYaml, create, JSON_TYPE, made, projectYaml, YAML } from "../../test/support/contract.ts";
import { requestDuringChange } from "../../test/support/request-during-change.ts";
import { secretsOf } from "../../test/support/secrets.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());
beforeEach(async () => {
  for (const table of ["connectors", "secret_uses", "secrets"]) await platform.db.query(`delete from ${table}`);
});

const SECRETS = "/ng/api/v2/secrets";
const CONNECTORS = "/ng/api/connectors";
const SHOP = "?orgIdentifier=default&projectIdentifier=shop";
const IN_PROJECT = "  orgIdentifier: default\n  projectIdentifier: shop\n";

const makeSecret = (identifier: string, query = SHOP): Promise<unknown> =>
  made(
    platform.send("POST", `${SECRETS}${query}`, {
      contentType: JSON_TYPE,
      body: JSON.stringify({
        secret: { type: "SecretText", name: identifier, identifier, spec: { valueType: "Inline", value: "x" } },
      }),
    }),
  );
const deleteSecret = (identifier: string, query = SHOP): Promise<Answer> =>
  platform.send("DELETE", `${SECRETS}/${identifier}${query}`);
const registry = (identifier: string, spec: string): string =>
  connectorYaml(identifier, IN_PROJECT).replace("type: Anonymous", `type: UsernamePassword\n      spec: ${spec}`);
const save = (method: "POST" | "PUT", body: string): Promise<Answer> =>
  platform.send(method, CONNECTORS, { body, contentType: YAML });
const status = async (answer: Promise<Answer>): Promise<number> => (await answer).status;
const accountId = (): Uuid => fromWire(platform.accountId) as Uuid;

/** An API key that may only see and delete the secrets of the account. */
async function keeper(): Promise<string> {
  const apiKey = await platform.addUser("_account_viewer");
  const permissions = ["core_secret_view", "core_secret_delete"];
  const body = JSON.stringify({ identifier: "keeper", name: "Keeper", permissions });
  await made(platform.send("POST", "/authz/api/roles", { contentType: JSON_TYPE, body }));
  await platform.db.query(
    `update role_assignments set role_identifier = 'keeper', role_id = (select id from roles where identifier = 'keeper')
      where role_identifier = '_account_viewer'`,
  );
  return apiKey;
}

test("a referenced secret is deleted with forceDelete only; the error names the referrers, in REST and in GraphQL", async () => {
  await makeSecret("user");
  await makeSecret("password", "");
  await made(save("POST", registry("main", "{usernameRef: user, passwordRef: account.password}")));
  await made(save("POST", registry("other", "{username: me, passwordRef: account.password}")));
  const refused = await deleteSecret("user");
  assert.deepEqual([refused.status, refused.body.code], [402, "ENTITY_REFERENCE_EXCEPTION"]);
  assert.equal(refused.body.message, "Secret [user] is used by connector main of project shop and cannot be deleted.");
  const both = await deleteSecret("password", "");
  assert.match(both.body.message, /is used by connector main of project shop, connector other of project shop and/);
  // Who keeps the secrets of the account, and sees nothing of the project.
  const apiKey = await keeper();
  const hidden = await platform.send("DELETE", `${SECRETS}/password`, { apiKey });
  assert.match(hidden.body.message, /is used by 2 that you may not see and cannot be deleted/);
  const { body } = await platform.graphql('{ secretByName(name: "password", secretType: ENCRYPTED_TEXT) { id } }');
  const mutation = "mutation ($input: DeleteSecretInput!) { deleteSecret(input: $input) { clientMutationId } }";
  const input = { secretId: body.data.secretByName.id, secretType: "ENCRYPTED_TEXT" };
  const asked = await platform.graphql(mutation, { input });
  assert.match(
    asked.body.errors[0].message,
    /^Exception while fetching data \(\/deleteSecret\) : Secret \[password\] is used by/,
  );
  assert.equal(await status(platform.send("GET", `${SECRETS}/user${SHOP}`)), 200);
  assert.equal(await status(deleteSecret("user", `${SHOP}&forceDelete=true`)), 200);
  // One of the same name elsewhere is another one.
  await makeSecret("user", "");
  assert.equal(await status(deleteSecret("user", "")), 200);
});

test("a secret can be deleted once the connector references another one or is deleted", async () => {
  for (const name of ["one", "two"]) await makeSecret(name);
  await made(save("POST", registry("main", "{username: me, passwordRef: one}")));
  await made(save("PUT", registry("main", "{username: me, passwordRef: two}")));
  assert.equal(await status(deleteSecret("one")), 200);
  assert.equal(await status(deleteSecret("two")), 402);
  assert.equal(await status(platform.send("DELETE", `${CONNECTORS}/main${SHOP}`)), 200);
  assert.equal(await status(deleteSecret("two")), 200);
});

test("if a secret is deleted while a connector is created, the connector is rejected and leaves nothing", async () => {
  await makeSecret("fleeting");
  const answer = await requestDuringChange(
    platform.db,
    (tx) => tx.query("delete from secrets where identifier = 'fleeting'"),
    () => save("POST", registry("late", "{username: me, passwordRef: fleeting}")),
  );
  assert.deepEqual([answer.status, answer.body.code], [400, "INVALID_REQUEST"], answer.text);
  assert.deepEqual(await platform.db.query("select 1 from connectors union all select 1 from secret_uses"), []);
});

test("a connector that is being saved protects its secret from deletion", async () => {
  await makeSecret("kept");
  const user = { type: "CONNECTOR", id: randomUUIDv7() as Uuid, identifier: "main" } as const;
  const place = { orgIdentifier: "default", projectIdentifier: "shop" };
  const answer = await requestDuringChange(
    platform.db,
    (tx) => secretsOf(platform).noteUses(tx, accountId(), { ...user, ...place }, ["kept"]),
    () => deleteSecret("kept"),
  );
  assert.equal(answer.status, 402, answer.text);
});

test("the migration records the references of older connectors", async () => {
  await makeSecret("a");
  for (const query of ["", "?orgIdentifier=default"]) await makeSecret("b", query);
  await made(save("POST", registry("one", "{usernameRef: a, passwordRef: account.b}")));
  await made(save("POST", registry("two", "{username: me, passwordRef: org.b}")));
  await made(save("POST", connectorYaml("three", IN_PROJECT)));
  const rows = () => platform.db.query("select * from secret_uses order by user_id, identifier");
  const noted = await rows();
  assert.equal(noted.length, 3);
  await platform.db.query("delete from secret_uses");
  const [file = ""] = globSync("migrations/*_secret_uses.sql");
  const sql = readFileSync(file, "utf8");
  await platform.db.query(sql.slice(sql.indexOf("insert into secret_uses")));
  assert.deepEqual(await rows(), noted);
});

test("saving a connector requires access to its secrets, because a test sends them to its address", async () => {
  await makeSecret("password");
  const scope = { orgIdentifier: "default", projectIdentifier: "shop" };
  const editor = await platform.addUser("_project_viewer", scope);
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  const permissions = ["core_connector_edit", "core_connector_access", "core_secret_view"];
  const post = (path: string, body: object): Promise<unknown> =>
    made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));
  await post(`/authz/api/roles${SHOP}`, { identifier: "editor", name: "editor", permissions });
  await post(`/authz/api/roleassignments${SHOP}`, {
    principal: { identifier: toWire(row.id), type: "USER" },
    ...{ roleIdentifier: "editor", resourceGroupIdentifier: "_all_project_level_resources" },
  });
  platform.clock.advance(1_000);
  const by = (method: "POST" | "PUT", body: string): Promise<Answer> =>
    platform.send(method, CONNECTORS, { body, contentType: YAML, apiKey: editor });
  const refused = await by("POST", registry("mine", "{username: me, passwordRef: password}"));
  assert.deepEqual([refused.status, refused.body.code], [403, "NG_ACCESS_DENIED"], refused.text);
  await made(by("POST", connectorYaml("mine", IN_PROJECT)));
  const changed = await by("PUT", registry("mine", "{username: me, passwordRef: password}"));
  assert.deepEqual([changed.status, changed.body.code], [403, "NG_ACCESS_DENIED"], changed.text);
  assert.match(changed.body.message, /core_secret_access is missing/);
  assert.deepEqual(await platform.db.query("select 1 from secret_uses"), []);
  const unseen = await by("PUT", registry("mine", "{username: me, passwordRef: account.password}"));
  assert.equal(unseen.status, 400, "what may not be seen is not there");
});
