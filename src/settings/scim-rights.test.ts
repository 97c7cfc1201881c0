/** The SCIM settings decide whose tokens act as a service account, so a change requires its permissions. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { JSON_TYPE, made } from "../../test/support/contract.ts";
import { assignServiceAccountRole } from "../../test/support/service-accounts.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { toWire, type Uuid } from "../core/ids.ts";

const URL_OF_KEYS = "scim_jwt_token_jwks_keys_url";
const CLAIM = "scim_jwt_token_key_field";
const VALUE = "scim_jwt_token_value_field";
const ACCOUNT = "scim_jwt_token_service_account_id";
const ALL = "_all_resources_including_child_scopes";
const OTHERS: Readonly<Record<string, string>> = {
  [URL_OF_KEYS]: "https://mallory.example.com/keys",
  [CLAIM]: "sub",
  [VALUE]: "mallory",
};

let platform: TestPlatform;
/** May change settings and look at connectors, everywhere; nothing else. */
let setter: string;
before(async () => {
  platform = await startTestPlatform();
  setter = await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
  for (const [name, permissions] of [
    ["setter", ["core_setting_edit", "core_connector_view"]],
    ["looker", ["core_connector_view"]],
  ] as const)
    await made(post("/authz/api/roles", { identifier: name, name, permissions }));
  await made(assign({ identifier: toWire(row.id), type: "USER" }, "setter"));
  for (const name of ["mighty", "modest", "other"]) {
    await made(post("/ng/api/serviceaccount", { identifier: name, name }));
    if (name !== "mighty") await made(assign({ identifier: name, type: "SERVICE_ACCOUNT" }, "looker"));
  }
  await assignServiceAccountRole(platform, "mighty", "_account_admin");
});
after(() => platform?.stop());
beforeEach(() => platform.db.query("delete from settings"));

const post = (path: string, body: object): Promise<Answer> =>
  platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) });
const assign = (principal: object, roleIdentifier: string): Promise<Answer> =>
  post("/authz/api/roleassignments", { principal, roleIdentifier, resourceGroupIdentifier: ALL });

type Change = readonly [identifier: string, value: string | null];
/** What became of each entry: undefined where it was done. */
async function put(changes: readonly Change[], apiKey?: string, query = ""): Promise<(string | undefined)[]> {
  const { status, body, text } = await platform.send("PUT", `/ng/api/settings?${query}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify(
      changes.map(([identifier, value]) => ({
        identifier,
        ...(value === null ? { updateType: "RESTORE" } : { value, updateType: "UPDATE" }),
      })),
    ),
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  assert.equal(status, 200, text);
  assert.deepEqual(
    body.data.map(({ identifier }: { identifier: string }) => identifier),
    changes.map(([identifier]) => identifier),
    "in the order in which they were asked",
  );
  return body.data.map(({ errorMessage }: { errorMessage: string | null }) => errorMessage ?? undefined);
}
const name = (to: string): Promise<(string | undefined)[]> => put([[ACCOUNT, to]]);
const kept = async (): Promise<unknown> =>
  platform.db.query("select identifier, value from settings order by identifier");

async function refused(changes: readonly Change[]): Promise<void> {
  const before = await kept();
  for (const why of await put(changes, setter))
    assert.match(
      why ?? "done",
      /^scim_\w+ decides who acts as a service account\. You cannot grant core_\w+: you do not hold it in this scope\.$/,
    );
  assert.deepEqual(await kept(), before);
}
const done = async (changes: readonly Change[]): Promise<void> =>
  assert.deepEqual(
    await put(changes, setter),
    changes.map(() => undefined),
  );

test("while a service account that holds more is named, none of the four is changed or taken away", async () => {
  await name("mighty");
  for (const [setting, value] of Object.entries(OTHERS)) {
    await refused([[setting, value]]);
    await refused([[setting, null]]);
  }
  // It cannot be exchanged for a service account with fewer permissions either.
  await refused([[ACCOUNT, "modest"]]);
  await refused([[ACCOUNT, null]]);
  assert.deepEqual(await put([[URL_OF_KEYS, "https://idp.example.com/keys"]]), [undefined], "an administrator may");
});

test("naming a service account requires its permissions, in any order of changes", async () => {
  await refused([[ACCOUNT, "mighty"]]);
  await name("modest");
  await done(Object.entries(OTHERS));
  await refused([[ACCOUNT, "mighty"]]);
});

test("an actor with the permissions of the service account changes all four settings, in one request or in several", async () => {
  await done([...Object.entries(OTHERS), [ACCOUNT, "modest"]]);
  await done([[ACCOUNT, "other"]]);
  await done([[URL_OF_KEYS, "https://idp.example.com/keys"]]);
  await done([[VALUE, null]]);
  await done([[ACCOUNT, null]]);
});

test("without a named or existing service account, a change requires all permissions", async () => {
  await refused(Object.entries(OTHERS));
  // A rejected change names no service account.
  const [url, account] = await put(
    [
      [URL_OF_KEYS, "https://mallory.example.com"],
      [ACCOUNT, "no account"],
    ],
    setter,
  );
  assert.match(url ?? "", /decides who acts/);
  assert.match(account ?? "", /must be the identifier/);
  await refused([[ACCOUNT, "comes_later"]]);
  assert.deepEqual(await name("comes_later"), [undefined]);
  await refused(Object.entries(OTHERS));
  await refused([[ACCOUNT, "modest"]]);
});

test("a role assigned to the service account without a notification is respected", async () => {
  await name("modest");
  await done([[VALUE, "one"]]);
  await assignServiceAccountRole(
    { ...platform, clock: { ...platform.clock, advance: () => {} } },
    "modest",
    "_account_viewer",
  );
  await refused([[VALUE, "two"]]);
  await platform.db.query("delete from role_assignments where role_identifier = '_account_viewer'");
});

test("the settings cannot be changed below the account, and roles below it give no permission in the account", async () => {
  const below = await platform.addUser("_organization_admin", { orgIdentifier: "default" });
  const query = "orgIdentifier=default";
  for (const [setting, value] of Object.entries({ ...OTHERS, [ACCOUNT]: "modest" }))
    assert.deepEqual(await put([[setting, value]], below, query), [`${setting} can be set for the account only.`]);
  const above = await platform.send("PUT", "/ng/api/settings", { contentType: JSON_TYPE, body: "[]", apiKey: below });
  assert.equal(above.status, 403);
});

test("an entry that was refused so stands in the trail", async () => {
  await refused([[ACCOUNT, "mighty"]]);
  const [entry] = await platform.db.query(
    `select operation, resource_id, outcome, code, status, difference from audit_entries
      where resource_type = 'SETTING' order by id desc limit 1`,
  );
  assert.deepEqual(entry, {
    ...{ operation: "setting.update", resource_id: ACCOUNT, outcome: "refused" },
    ...{ code: "access.beyond_own", status: 403, difference: null },
  });
});
