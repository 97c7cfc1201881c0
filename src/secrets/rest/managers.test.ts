/** Secret managers over REST, and what their keys and scopes do to secrets. */
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type SendOptions, type TestPlatform } from "../../../test/support/platform.ts";
import { adminOf, dumpOf, secretsOf } from "../../../test/support/secrets.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { contentOf } from "../../platform/crypto/chunks.ts";
import type { RunPlace } from "../scope/usage-scope.ts";

const PATH = "/gateway/ng/api/secret-managers";
const HERE = { orgIdentifier: null, projectIdentifier: null };
const ALL = { filterType: "ALL" };
const PRODUCTION = { appEnvScopes: [{ application: ALL, environment: { filterType: "PRODUCTION_ENVIRONMENTS" } }] };

const folder = mkdtempSync(join(tmpdir(), "railhead-managers-"));
const broken = join(folder, "broken");
writeFileSync(broken, "#!/bin/sh\necho no token in the slot >&2\nexit 4\n");
chmodSync(broken, 0o700);

let platform: TestPlatform;
let shop: Uuid;
before(async () => {
  platform = await startTestPlatform({ secretCommands: new Map([["broken", [broken]]]) });
  await made(create.project(platform, projectYaml()));
  const { body } = await platform.graphql("{ applications { nodes { id } } }");
  shop = fromWire(body.data.applications.nodes[0].id) as Uuid;
});
after(async () => {
  await platform?.stop();
  rmSync(folder, { recursive: true });
});

const managerOf = (identifier: string, more: object = {}) => ({
  secretManager: { identifier, name: identifier, type: "Platform", ...more },
});
const send = (method: string, path: string, body?: unknown, how: SendOptions = {}): Promise<Answer> =>
  platform.send(method, `${PATH}${path}`, {
    ...(body === undefined ? {} : { contentType: "application/json", body: JSON.stringify(body) }),
    ...how,
  });
const refusal = async (answer: Promise<Answer>): Promise<unknown> => {
  const { status, body } = await answer;
  return [status, body.code];
};
const textOf = (identifier: string, manager: string, scoping: object = {}) =>
  ({
    ...HERE,
    identifier,
    name: identifier,
    description: "",
    tags: {},
    type: "ENCRYPTED_TEXT",
    manager: { by: "identifier", identifier: manager },
    scoping,
    content: contentOf(`value of ${identifier}`),
  }) as const;

test("managers are created, read, listed, changed under If-Match and deleted; answers have every field", async () => {
  const more = { name: "Vault 2", description: "For others", tags: { team: "a" }, spec: {}, usageScope: PRODUCTION };
  const answer = await send("POST", "", managerOf("second", more));
  const { id, ...secretManager } = answer.body.data.secretManager;
  assert.equal(answer.headers.get("etag"), '"1"');
  const production = [
    { application: { ...ALL, appId: null }, environment: { filterType: "PRODUCTION_ENVIRONMENTS", envId: null } },
  ];
  assert.deepEqual(secretManager, {
    ...more,
    identifier: "second",
    type: "Platform",
    usageScope: { appEnvScopes: production },
  });
  const data = await made(send("GET", "/second"));
  assert.deepEqual(data, answer.body.data);
  const at = platform.clock.now();
  assert.deepEqual([data.createdAt, data.lastModifiedAt], [at, at]);
  const listed = await made(send("GET", "?pageSize=1&pageIndex=1"));
  assert.deepEqual([listed.totalItems, listed.content], [2, [data]]);
  const { body } = await platform.graphql(
    `query ($id: String!) { secretManager(secretManagerId: $id) { name usageScope { appEnvScopes { application { filterType } } } } byName: secretManagerByName(name: "Vault 2") { id } }`,
    { id },
  );
  assert.deepEqual(body.data, {
    secretManager: { name: "Vault 2", usageScope: { appEnvScopes: [{ application: { filterType: "ALL" } }] } },
    byName: { id },
  });

  assert.deepEqual(await refusal(send("PUT", "/second", managerOf("second"), { headers: { "if-match": "7" } })), [
    402,
    "OPTIMISTIC_LOCKING_EXCEPTION",
  ]);
  const changed = await send("PUT", "/second", managerOf("second", { name: "Third" }), {
    headers: { "if-match": "1" },
  });
  assert.equal(changed.headers.get("etag"), '"2"');
  assert.equal(changed.body.data.secretManager.usageScope.appEnvScopes.length, 2);
  assert.equal(await made(send("DELETE", "/second", undefined, { headers: { "if-match": "2" } })), true);
  assert.deepEqual(await refusal(send("GET", "/second")), [404, "SECRET_MANAGEMENT_ERROR"]);
  const operations = await platform.db.query(
    "select operation from audit_entries where operation like 'secret-manager.%' order by id",
  );
  assert.deepEqual(
    operations.map(({ operation }) => operation),
    ["create", "update", "delete"].map((verb) => `secret-manager.${verb}`),
  );
});

test("wrong input is rejected by name", async () => {
  const cases: [body: unknown, wanted: unknown][] = [
    [managerOf("platformSecretManager"), [400, "DUPLICATE_FIELD"]],
    [managerOf("other", { name: "Platform Secrets Manager" }), [400, "DUPLICATE_FIELD"]],
    [managerOf("a b"), [400, "SCHEMA_VALIDATION_FAILED"]],
    [managerOf("org"), [400, "SCHEMA_VALIDATION_FAILED"]],
    [managerOf("x", { type: "Vault" }), [400, "SCHEMA_VALIDATION_FAILED"]],
    [managerOf("x", { spec: { key: "AAAA" } }), [400, "SCHEMA_VALIDATION_FAILED"]],
    [managerOf("x", { id: "x" }), [400, "SCHEMA_VALIDATION_FAILED"]],
    [managerOf("x", { type: "Command" }), [400, "SCHEMA_VALIDATION_FAILED"]],
    [managerOf("x", { type: "Command", spec: { command: "/bin/sh" } }), [400, "SCHEMA_VALIDATION_FAILED"]],
    [managerOf("x", { type: "Command", spec: { command: "unknown" } }), [402, "SECRET_MANAGEMENT_ERROR"]],
    [managerOf("x", { type: "Command", spec: { command: "broken" } }), [402, "SECRET_MANAGEMENT_ERROR"]],
    [
      managerOf("x", { usageScope: { appEnvScopes: [{ application: {}, environment: {} }] } }),
      [400, "INVALID_USAGE_RESTRICTION"],
    ],
  ];
  const nobody = {
    appEnvScopes: [
      { application: { appId: platform.accountId }, environment: PRODUCTION.appEnvScopes[0]?.environment },
    ],
  };
  cases.push([managerOf("x", { usageScope: nobody }), [400, "INVALID_USAGE_RESTRICTION"]]);
  const before = await dumpOf(platform);
  for (const [body, wanted] of cases)
    assert.deepEqual(await refusal(send("POST", "", body)), wanted, JSON.stringify(body));
  assert.deepEqual(await refusal(send("PUT", "/none", managerOf("none"))), [404, "SECRET_MANAGEMENT_ERROR"]);
  assert.deepEqual(await refusal(send("PUT", "/other", managerOf("none"))), [400, "INVALID_REQUEST"]);
  const astray = managerOf("platformSecretManager", { usageScope: nobody });
  assert.deepEqual(await refusal(send("PUT", "/platformSecretManager", astray)), [400, "INVALID_USAGE_RESTRICTION"]);
  const other = managerOf("platformSecretManager", { type: "Command", spec: { command: "broken" } });
  assert.deepEqual(await refusal(send("PUT", "/platformSecretManager", other)), [400, "INVALID_REQUEST"]);
  assert.deepEqual(await refusal(send("DELETE", "/platformSecretManager")), [402, "INVALID_REQUEST"]);
  assert.equal(await dumpOf(platform), before);
});

test("a viewer reads and does not write; another account finds nothing", async () => {
  await made(send("POST", "", managerOf("mine")));
  const apiKey = await platform.addUser("_account_viewer");
  assert.equal((await made(send("GET", "/mine", undefined, { apiKey }))).secretManager.identifier, "mine");
  for (const [method, path, body] of [
    ["POST", "", managerOf("theirs")],
    ["PUT", "/mine", managerOf("mine")],
    ["DELETE", "/mine", undefined],
  ] as const)
    assert.equal((await send(method, path, body, { apiKey })).status, 403, method);
  const stranger = await platform.addAccount();
  const as = { apiKey: stranger.apiKey, account: stranger.accountId };
  for (const [method, body] of [
    ["GET", undefined],
    ["PUT", managerOf("mine")],
    ["DELETE", undefined],
  ] as const)
    assert.deepEqual(await refusal(send(method, "/mine", body, as)), [404, "SECRET_MANAGEMENT_ERROR"], method);
});

test("each manager has its own key; one that is used is not deleted", async () => {
  const secrets = secretsOf(platform);
  const admin = adminOf(platform);
  await made(send("POST", "", managerOf("own_key")));
  await secrets.create(admin, textOf("by_own", "own_key"));
  assert.equal(await secrets.openText(admin, HERE, "by_own"), "value of by_own");
  // The same root key, and yet the key of one manager does not open what another has wrapped.
  await platform.db.query(
    "update secret_contents set manager_id = account_id where secret_id = (select id from secrets where identifier = 'by_own')",
  );
  await assert.rejects(secrets.openText(admin, HERE, "by_own"), { code: "secret.unreadable" });
  assert.deepEqual(await refusal(send("DELETE", "/own_key")), [402, "ENTITY_REFERENCE_EXCEPTION"]);
  await secrets.delete(admin, { by: "identifier", key: { ...HERE, identifier: "by_own" } });
  assert.equal(await made(send("DELETE", "/own_key")), true);
});

test("deleting a manager while a secret is created: one of the two succeeds, never both", async () => {
  const secrets = secretsOf(platform);
  for (let round = 0; round < 5; round += 1) {
    await made(send("POST", "", managerOf("leaving")));
    const [deleted, created] = await Promise.allSettled([
      send("DELETE", "/leaving"),
      secrets.create(adminOf(platform), textOf(`last_${round}`, "leaving")),
    ]);
    assert.ok(deleted.status === "fulfilled");
    if (created.status === "fulfilled") {
      assert.equal(deleted.value.status, 402);
      await secrets.delete(adminOf(platform), { by: "identifier", key: { ...HERE, identifier: `last_${round}` } });
      await made(send("DELETE", "/leaving"));
    } else {
      assert.equal(deleted.value.status, 200);
      assert.ok(["secret.no_manager", "db.conflict"].includes((created.reason as { code: string }).code));
    }
  }
});

test("a changed scope of a manager applies at once, to inheriting secrets and to those with their own scope", async () => {
  const secrets = secretsOf(platform);
  const admin = adminOf(platform);
  const live: RunPlace = {
    applicationId: shop,
    environmentId: null,
    production: true,
    names: { application: "p", environment: "e" },
  };
  const trial = { ...live, production: false };
  await made(send("POST", "", managerOf("scoped")));
  await secrets.create(admin, textOf("inheriting", "scoped"));
  const own = [{ applicationId: shop, environmentId: null, environments: "NON_PRODUCTION_ENVIRONMENTS" }];
  await secrets.create(admin, textOf("with_own", "scoped", { usageScope: own }));
  for (const name of ["inheriting", "with_own"]) await secrets.openText(admin, HERE, name, trial);
  await made(send("PUT", "/scoped", managerOf("scoped", { usageScope: PRODUCTION })));
  for (const name of ["inheriting", "with_own"])
    await assert.rejects(secrets.resolve(admin, HERE, name, trial), { code: "secret.use_refused" }, name);
  assert.equal(await secrets.openText(admin, HERE, "inheriting", live), "value of inheriting");
  await assert.rejects(secrets.create(admin, textOf("wider", "scoped", { usageScope: own })), {
    code: "secret.beyond_manager",
  });
  await made(send("PUT", "/scoped", managerOf("scoped", { usageScope: null })));
  await assert.rejects(secrets.resolve(admin, HERE, "inheriting", live), { code: "secret.use_refused" });
  assert.equal(await secrets.openText(admin, HERE, "inheriting"), "value of inheriting");
});
