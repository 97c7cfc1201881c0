/** Which secrets a test of a connection sends: for whom, which ones, and what the audit trail says of it. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, afterEach, before, test } from "node:test";
import { connectorYaml, create, JSON_TYPE, made, projectYaml, YAML } from "../../../test/support/contract.ts";
import {
  connectionOf,
  newIdentity,
  pretendDelegate,
  type PretendDelegate,
} from "../../../test/support/pretend-delegate.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { toWire, type Uuid } from "../../core/ids.ts";

let platform: TestPlatform;
/** What the registry beside the server was sent as credentials. */
const shown: string[] = [];
const registry = createServer((request, response) => {
  const { authorization } = request.headers;
  if (authorization !== undefined) shown.push(Buffer.from(authorization.slice(6), "base64").toString());
  response.writeHead(authorization === undefined ? 401 : 200, {
    ...{ "content-type": "application/json", "www-authenticate": 'Basic realm="r"' },
  });
  response.end("{}");
});
let port: number;
before(async () => {
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  ({ port } = registry.address() as AddressInfo);
  platform = await startTestPlatform({ allowPrivateAddresses: [`127.0.0.1:${port}`] });
  await made(create.project(platform, projectYaml()));
});
after(async () => {
  registry.close();
  await platform?.stop();
});

const SECRETS = "/ng/api/v2/secrets";
const CONNECTORS = "/ng/api/connectors";
const json = (method: string, path: string, body: object): Promise<Answer> =>
  platform.send(method, path, { contentType: JSON_TYPE, body: JSON.stringify(body) });
const secret = (identifier: string, value: string): object => ({
  secret: { type: "SecretText", name: identifier, identifier, spec: { valueType: "Inline", value } },
});
const addSecret = (identifier: string, value: string): Promise<unknown> =>
  made(json("POST", SECRETS, secret(identifier, value)));
const rotate = (identifier: string, value: string): Promise<unknown> =>
  made(json("PUT", `${SECRETS}/${identifier}`, secret(identifier, value)));
const replace = async (identifier: string, value: string): Promise<void> => {
  await made(platform.send("DELETE", `${SECRETS}/${identifier}?forceDelete=true`));
  await addSecret(identifier, value);
};

const yaml = (identifier: string, password: string, more = "    delegateSelectors: [x]\n"): string =>
  connectorYaml(identifier)
    .replace("https://registry.example.com/v2/", `http://127.0.0.1:${port}/v2/`)
    .replace("type: Anonymous", `type: UsernamePassword\n      spec: {username: ada, passwordRef: account.${password}}`)
    .replace("    auth:", `${more}    auth:`);
const save = (method: "POST" | "PUT", body: string, apiKey?: string): Promise<unknown> =>
  made(platform.send(method, CONNECTORS, { body, contentType: YAML, ...(apiKey === undefined ? {} : { apiKey }) }));
const ask = (identifier: string, apiKey?: string): Promise<Answer> =>
  platform.send("POST", `${CONNECTORS}/testConnection/${identifier}`, apiKey === undefined ? {} : { apiKey });

let roles = 0;
/** A person who may do this everywhere in the account; `lose` takes one of the permissions away. */
async function person(...permissions: string[]) {
  const key = await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  const { id } = row;
  const given = new Map<string, string>();
  for (const permission of permissions) {
    roles += 1;
    const identifier = `role${roles}`;
    await made(json("POST", "/authz/api/roles", { identifier, name: identifier, permissions: [permission] }));
    const { roleAssignment } = await made(
      json("POST", "/authz/api/roleassignments", {
        principal: { identifier: toWire(id), type: "USER" },
        ...{ roleIdentifier: identifier, resourceGroupIdentifier: "_all_resources_including_child_scopes" },
      }),
    );
    given.set(permission, roleAssignment.identifier);
  }
  platform.clock.advance(1_001);
  const lose = async (permission: string): Promise<void> => {
    await made(platform.send("DELETE", `/authz/api/roleassignments/${given.get(permission)}`));
    platform.clock.advance(1_001);
  };
  return { key, id, lose };
}
const everything = ["core_secret_access", "core_connector_edit", "core_connector_access"];

let delegates = 0;
const joined: PretendDelegate[] = [];
const join = async (more: object = {}): Promise<PretendDelegate> => {
  delegates += 1;
  const token = await platform.delegateToken();
  const delegate = await pretendDelegate({ url: platform.url, token, name: `x${delegates}`, tags: ["x"], ...more });
  joined.push(delegate);
  await delegate.next("welcome");
  return delegate;
};
afterEach(async () => {
  for (const delegate of joined.splice(0)) await delegate.close();
});
/** The answer to a test that sends no task to the delegate; fails when the delegate gets one. */
async function askUnsent(delegate: PretendDelegate, identifier: string, apiKey?: string): Promise<Answer> {
  const sending = delegate.next("run").then((run) => {
    tested(delegate, run);
    return assert.fail(`a test with ${JSON.stringify(connectionOf(run).secrets)} was sent`);
  });
  // The connection ends first when nothing is sent.
  sending.catch(() => undefined);
  return Promise.race([ask(identifier, apiKey), sending]);
}
const tested = (delegate: PretendDelegate, { task, epoch }: { task: string; epoch: number }): void =>
  delegate.send({
    ...{ kind: "finished", task, epoch, offset: 0, data: "", startedAt: 1, endedAt: 2 },
    outcome: { kind: "tested", fault: null },
  });
/** What the test that is asked for sends to the delegate; it answers that all is well. */
async function sent(delegate: PretendDelegate, identifier: string, apiKey?: string): Promise<string[]> {
  const asked = ask(identifier, apiKey);
  const refused = asked.then((answer) => assert.fail(`there was no test: ${answer.text}`));
  const run = await Promise.race([delegate.next("run"), refused]);
  refused.catch(() => undefined);
  tested(delegate, run);
  assert.equal((await asked).body.data.status, "SUCCESS");
  return connectionOf(run).secrets.map(({ value }) => value);
}
const trail = () =>
  platform.db.query<{ who: string; outcome: string; resource: string; after: Record<string, unknown> }>(
    `select actor_kind as who, outcome, resource_id as resource, difference from audit_entries
      where operation = 'secret.deliver' order by id`,
  );

test("a test sends a secret only while its tester and the connector's last saver may use it", async () => {
  await addSecret("dbpass", "the first value");
  const delegate = await join();
  const mallory = await person(...everything);
  await save("POST", yaml("mine", "dbpass"), mallory.key);
  assert.deepEqual(await sent(delegate, "mine", mallory.key), ["the first value"]);
  const entries = await trail();
  assert.deepEqual(
    entries.map(({ who, outcome, resource }) => [who, outcome, resource]),
    [["delegate", "success", "dbpass"]],
  );
  assert.match(JSON.stringify(entries[0]), /"mine"/);

  await mallory.lose("core_secret_access");
  await rotate("dbpass", "the value after that");
  for (const [who, deed, key] of [
    ["the tester", "who tests it", mallory.key],
    ["the saver", "who saved it last", undefined],
  ] as const) {
    const refused = await askUnsent(delegate, "mine", key);
    assert.deepEqual([refused.status, refused.body.code], [403, "NG_ACCESS_DENIED"], who);
    assert.match(refused.body.message, new RegExp(`${deed}, may not use its secret 'account.dbpass'`), who);
  }
  await made(json("POST", `/ng/api/user/${toWire(mallory.id)}/deactivate`, {}));
  platform.clock.advance(1_001);
  const inactive = await askUnsent(delegate, "mine");
  assert.equal(inactive.status, 403);
  assert.match(inactive.body.message, /who saved it last, is deactivated/);
  assert.equal((await trail()).length, 1);
  await delegate.close();

  await save("PUT", yaml("mine", "dbpass"));
  const another = await join();
  assert.deepEqual(await sent(another, "mine"), ["the value after that"], "a rotated value is the same secret");
  await another.close();
});

test("another secret under a referenced name is not sent until the connector is saved again", async () => {
  await addSecret("renewed", "old");
  const delegate = await join();
  await save("POST", yaml("holder", "renewed"));
  assert.deepEqual(await sent(delegate, "holder"), ["old"]);
  await replace("renewed", "another one");
  const { data } = (await askUnsent(delegate, "holder")).body;
  assert.deepEqual([data.status, data.errors[0].reason], ["FAILURE", "Secret refused"]);
  assert.match(data.errorSummary, /'account\.renewed' was deleted and created again. Save the connector again/);
  assert.deepEqual(
    (await trail()).filter(({ resource }) => resource === "renewed").map(({ outcome }) => outcome),
    ["success", "refused"],
  );
  await delegate.close();
  await save("PUT", yaml("holder", "renewed"));
  assert.deepEqual(await sent(await join(), "holder"), ["another one"]);
});

test("a permission lost or a save between start and delivery of a test is respected", async () => {
  await addSecret("moving", "moving value");
  const eve = await person(...everything);
  for (const [connector, change, message] of [
    ["lost", () => eve.lose("core_secret_access"), /who tests it, may not use its secret/],
    ["saved", () => save("PUT", yaml("saved", "moving")), /test it again/],
  ] as const) {
    await save("POST", yaml(connector, "moving"));
    const known = { identity: newIdentity(), name: connector };
    const delegate = await join(known);
    const asked = ask(connector, connector === "lost" ? eve.key : undefined);
    await delegate.next("run");
    // It gets the task again when it connects again, and the secret only if it is allowed then.
    await delegate.cut();
    await change();
    const again = await join(known);
    const sending = again.next("run").then(() => assert.fail(`the secret of '${connector}' was sent`));
    sending.catch(() => undefined);
    const { data } = (await Promise.race([asked, sending])).body;
    assert.equal(data.status, "FAILURE", connector);
    assert.match(data.errorSummary, message);
    await again.close();
  }
});

test("tests of the server follow the same rules and are in the audit trail", async () => {
  await addSecret("near", "near value");
  await save("POST", yaml("here", "near", "    executeOnDelegate: false\n"));
  assert.equal((await ask("here")).body.data.status, "SUCCESS");
  assert.deepEqual(shown, ["ada:near value"]);
  const near = async () => (await trail()).filter(({ resource }) => resource === "near");
  assert.deepEqual(
    (await near()).map(({ who, outcome }) => [who, outcome]),
    [["system", "success"]],
  );
  const reader = await person("core_connector_access");
  assert.equal((await ask("here", reader.key)).status, 403);
  await replace("near", "another one");
  const { data } = (await ask("here")).body;
  assert.deepEqual([data.status, data.errors[0].reason], ["FAILURE", "Secret refused"]);
  assert.deepEqual(shown, ["ada:near value"], "nothing was sent");
  assert.deepEqual(
    (await near()).map(({ who, outcome }) => [who, outcome]),
    [
      ["system", "success"],
      ["system", "refused"],
    ],
  );
});

test("for a connector with an unknown author, only the tester's permission counts", async () => {
  await addSecret("plain", "plain value");
  await save("POST", yaml("older", "plain"));
  await platform.db.query(
    "update connectors set author_kind = null, author_id = null, secret_ids = null where identifier = 'older'",
  );
  const delegate = await join();
  const reader = await person("core_connector_access");
  assert.equal((await askUnsent(delegate, "older", reader.key)).status, 403);
  await delegate.close();
  const user = await person("core_connector_access", "core_secret_access");
  assert.deepEqual(await sent(await join(), "older", user.key), ["plain value"]);
});

test("the migration stores the ids of the secrets that connectors and SSH credentials reference", async () => {
  const SHOP = "?orgIdentifier=default&projectIdentifier=shop";
  for (const query of ["", "?orgIdentifier=default", SHOP])
    await made(json("POST", `${SECRETS}${query}`, secret("level", "x")));
  const inShop = (identifier: string, spec: string): string =>
    connectorYaml(identifier, "  orgIdentifier: default\n  projectIdentifier: shop\n").replace(
      "type: Anonymous",
      `type: UsernamePassword\n      spec: ${spec}`,
    );
  await save("POST", inShop("both", "{usernameRef: level, passwordRef: account.level}"));
  await save("POST", inShop("org_only", "{username: me, passwordRef: org.level}"));
  await save("POST", connectorYaml("none"));
  const login = (identifier: string, password: string): object => ({
    secret: {
      ...{ type: "SSHKey", name: identifier, identifier },
      spec: {
        port: 22,
        auth: { type: "SSH", spec: { credentialType: "Password", spec: { userName: "x", password } } },
      },
    },
  });
  for (const [nth, reference] of ["level", "org.level", "account.level"].entries())
    await made(json("POST", `${SECRETS}${SHOP}`, login(`login${nth}`, reference)));
  const rows = () =>
    platform.db.query<{ name: string; ids: object | null }>(
      `select identifier as name, secret_ids as ids from connectors where identifier in ('both', 'org_only', 'none')
        union all select identifier, ssh -> 'ids' from secrets where ssh is not null order by 1`,
    );
  const stored = await rows();
  const counts = Object.fromEntries(stored.map(({ name, ids }) => [name, Object.keys(ids ?? {}).length]));
  assert.deepEqual(counts, { both: 2, org_only: 1, none: 0, login0: 1, login1: 1, login2: 1 });
  await platform.db.query("update connectors set secret_ids = null");
  await platform.db.query("update secrets set ssh = ssh - 'ids' where ssh is not null");
  const [file = ""] = globSync("migrations/*_ids_of_named_secrets.sql");
  const sql = readFileSync(file, "utf8");
  for (const statement of sql.slice(sql.indexOf("update connectors")).split(/;\n/))
    if (statement.includes("update ")) await platform.db.query(statement);
  assert.deepEqual(await rows(), stored);
});
