/**
 * Attack class 10: a directory changes only its own users, and grants no more than it holds. Also which callers SCIM
 * accepts.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromWire, type Uuid } from "../../src/core/ids.ts";
import { assignRole } from "../support/access.ts";
import { directoryToken } from "../support/clients/directory.ts";
import { JSON_TYPE, made } from "../support/contract.ts";
import {
  signToken,
  signingKey,
  startKeyServer,
  type KeyServer,
  type SigningKey,
} from "../support/services/key-server.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../support/platform.ts";
import { callScim } from "./replay.ts";

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

let platform: TestPlatform;
let token: string;
let keys: KeyServer;
let key: SigningKey;
before(async () => {
  keys = await startKeyServer();
  key = await signingKey("RS256", { kid: "k" });
  keys.serve([key.jwk]);
  platform = await startTestPlatform({ allowPrivateAddresses: ["127.0.0.0/8"] });
  token = await directoryToken(platform);
});
after(async () => {
  await platform?.stop();
  await keys?.close();
});

type How = { readonly body?: unknown; readonly as?: string };
const call = (method: string, path: string, { body, as = token }: How = {}): Promise<Answer> =>
  callScim(platform, { token: as }, method, path, body === undefined ? {} : { body });
const create = (fields: object, as = token): Promise<Answer> =>
  call("POST", "/Users", { body: { schemas: [USER], ...fields }, as });
const patch = (path: string, ...Operations: readonly unknown[]): Promise<Answer> =>
  call("PATCH", path, { body: { schemas: [PATCH], Operations } });
const adminId = async (): Promise<string> => (await made(platform.send("GET", "/ng/api/user/currentUser"))).uuid;
const rows = (): Promise<unknown[]> =>
  platform.db.query("select id, email, name, active, external_id, version from users order by id");

test("no user becomes an administrator by userName or address, in any spelling", async () => {
  const admin = "admin@railhead.local";
  const { body: mallory } = await create({ userName: "mallory@example.com" });
  const before = await rows();
  // Full width, the Kelvin sign, capitals, surrounding spaces, and an address of one user as the name of another.
  for (const text of [admin, "ADMIN@Railhead.LOCAL", "ａｄｍｉｎ@railhead.local", " admin@railhead.local "]) {
    const taken = await create({ userName: text });
    assert.deepEqual([taken.status, taken.body.scimType], [409, "uniqueness"], text);
    const byAddress = await create({ userName: "mal", emails: [{ value: text }] });
    assert.deepEqual([byAddress.status, byAddress.body.scimType], [409, "uniqueness"], text);
    for (const [path, value] of [
      ["userName", text],
      ["emails", [{ value: text }]],
    ])
      assert.equal((await patch(`/Users/${mallory.id}`, { op: "replace", path, value })).body.scimType, "uniqueness");
  }
  // A Cyrillic letter that looks the same is invalid in an address.
  assert.equal((await create({ userName: "\u0430dmin@railhead.local" })).body.scimType, "invalidValue");
  assert.equal((await create({ userName: "adm\u0131n@railhead.local" })).body.scimType, "invalidValue");
  assert.deepEqual(await rows(), before);
});

test("a user cannot get the name or address of another user, on creation or change", async () => {
  // Names and addresses are two columns: a unique index on each does not prevent this.
  const named = { userName: "ivy@example.com", emails: [{ value: "ivy.mail@example.com" }] };
  assert.equal((await create(named)).status, 201);
  const { body: other } = await create({ userName: "owl@example.com" });
  const before = await rows();
  for (const [field, value] of [
    ["userName", "ivy.mail@example.com"],
    ["emails", [{ value: "IVY@example.com" }]],
  ] as const) {
    const fields = { userName: "new@example.com", emails: [{ value: "new.mail@example.com" }], [field]: value };
    const asMade = await create(fields);
    assert.deepEqual([asMade.status, asMade.body.scimType], [409, "uniqueness"], field);
    const asChanged = await patch(`/Users/${other.id}`, { op: "replace", path: field, value });
    assert.deepEqual([asChanged.status, asChanged.body.scimType], [409, "uniqueness"], field);
  }
  assert.deepEqual(await rows(), before);
});

test("a deactivated user returns only by the same userName, and only through callers that may manage users", async () => {
  const inviter = await directoryToken(platform, "inviter", ["user_view", "user_invite"]);
  const { body: gone } = await create({ userName: "gone@example.com", emails: [{ value: "gone.mail@example.com" }] });
  await patch(`/Users/${gone.id}`, { op: "replace", path: "active", value: false });
  const before = await rows();
  const refused = await create({ userName: "gone@example.com" }, inviter);
  assert.equal(refused.status, 403, refused.text);
  const another = await create({ userName: "else@example.com", emails: [{ value: "gone.mail@example.com" }] });
  assert.deepEqual([another.status, another.body.scimType], [409, "uniqueness"]);
  assert.deepEqual(await rows(), before);
  assert.equal((await create({ userName: "new.one@example.com" }, inviter)).status, 201);
});

test("an externalId is no id: it finds and changes nothing, in any form", async () => {
  const admin = await adminId();
  const { body: eve } = await create({ userName: "eve@example.com", externalId: admin });
  assert.notEqual(eve.id, admin);
  assert.equal((await call("GET", `/Users/${admin}`)).body.userName, "admin@railhead.local");
  const found = await call("GET", `/Users?filter=${encodeURIComponent(`externalId eq "${admin}"`)}`);
  assert.deepEqual(
    found.body.Resources.map(({ id }: { id: string }) => id),
    [eve.id],
  );
  await create({ userName: "num@example.com", externalId: "1" });
  for (const id of ["1", "0", "eve@example.com", "00000000-0000-0000-0000-000000000000", "%00", "..%2f.."])
    assert.equal((await call("DELETE", `/Users/${id}`)).status, 404, id);
  assert.equal((await create({ userName: "x@example.com", externalId: 1 })).body.scimType, "invalidValue");
});

test("id, groups and roles grant nothing: the server's fields cannot be patched, and roles are only stored", async () => {
  const { body: eve } = await create({
    userName: "eve2@example.com",
    roles: [{ value: "_account_admin" }],
    id: await adminId(),
  });
  assert.notEqual(eve.id, await adminId());
  assert.deepEqual(eve.roles, [{ value: "_account_admin" }]);
  for (const [path, value] of [
    ["id", await adminId()],
    ["groups", [{ value: "x" }]],
    ["meta.version", "9"],
  ])
    assert.equal((await patch(`/Users/${eve.id}`, { op: "replace", path, value })).body.scimType, "mutability");
  await patch(`/Users/${eve.id}`, { op: "add", path: "roles", value: [{ value: "admin", primary: true }] });
  const given = await platform.db.query(
    "select 1 from role_assignments a join users u on u.id = a.principal_id where u.email = 'eve2@example.com'",
  );
  assert.deepEqual(given, []);
});

test("the last administrator can be neither deactivated nor deleted, in any way", async () => {
  const path = `/Users/${await adminId()}`;
  const before = await rows();
  const whole = { schemas: [USER], userName: "admin@railhead.local", active: false };
  for (const answer of [
    await patch(path, { op: "replace", path: "active", value: false }),
    await patch(path, { op: "Replace", value: { active: "False" } }),
    await call("PUT", path, { body: whole }),
    await call("DELETE", path),
  ]) {
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.detail, /At least one active user must remain Account Admin/);
  }
  await platform.platform.sweep();
  const kept = await platform.db.query<{ operation: string }>(
    "select distinct operation from audit_entries where code = 'access.last_administrator' and outcome = 'refused' order by 1",
  );
  assert.deepEqual(
    kept.map(({ operation }) => operation),
    ["scim-user.delete", "scim-user.patch", "scim-user.replace"],
  );
  assert.deepEqual(await rows(), before);
});

test("active: false and DELETE end tokens within a second, also if a directory reactivates the user", async () => {
  for (const how of ["patch", "put", "delete"] as const) {
    const apiKey = await platform.addUser("_account_viewer");
    const me = () => platform.send("GET", "/ng/api/user/currentUser", { apiKey });
    const { uuid, email } = await made(me());
    // A reactivated user may hold no more than the directory, which could not reactivate them otherwise.
    await platform.db.query("delete from role_assignments where principal_identifier = $1", [uuid]);
    const path = `/Users/${uuid}`;
    const done =
      how === "patch"
        ? await patch(path, { op: "Replace", path: "active", value: "False" })
        : how === "put"
          ? await call("PUT", path, { body: { schemas: [USER], userName: email, active: false } })
          : await call("DELETE", path);
    assert.ok(done.status < 300, done.text);
    platform.clock.advance(1_000);
    assert.equal((await me()).status, 401, how);
    if (how === "delete") continue;
    const back = await patch(path, { op: "replace", path: "active", value: true });
    assert.equal(back.body.active, true);
    platform.clock.advance(1_000);
    assert.equal((await me()).status, 401);
  }
});

test("a deactivated user who is created again keeps the id; a deleted one gets a new id", async () => {
  const { body: rosa } = await create({ userName: "Rosa@example.com", title: "Old" });
  await patch(`/Users/${rosa.id}`, { op: "replace", path: "active", value: false });
  const again = await create({ userName: "rosa@EXAMPLE.com", nickName: "New" });
  assert.equal(again.status, 201, again.text);
  assert.deepEqual(
    [again.body.id, again.body.active, again.body.title, again.body.nickName],
    [rosa.id, true, undefined, "New"],
  );
  await call("DELETE", `/Users/${rosa.id}`);
  const third = await create({ userName: "rosa@example.com" });
  assert.equal(third.status, 201);
  assert.notEqual(third.body.id, rosa.id);
});

test("a directory neither sees nor fills groups created here, and grants no more than it holds", async () => {
  await made(
    platform.send("POST", "/ng/api/user-groups", {
      contentType: JSON_TYPE,
      body: JSON.stringify({ identifier: "Owners", name: "Owners" }),
    }),
  );
  const found = await call("GET", `/Groups?filter=${encodeURIComponent('displayName eq "Owners"')}`);
  assert.equal(found.body.totalResults, 0);
  const [own] = await platform.db.query<{ id: string }>("select id from user_groups where identifier = 'Owners'");
  const id = Buffer.from((own?.id ?? "").replaceAll("-", ""), "hex").toString("base64url");
  for (const method of ["GET", "DELETE"]) assert.equal((await call(method, `/Groups/${id}`)).status, 404);
  const { body: theirs } = await call("POST", "/Groups", { body: { schemas: [GROUP], displayName: "Owners" } });
  assert.notEqual(theirs.id, id);
  const groups = await platform.db.query(
    "select identifier, externally_managed as theirs from user_groups where name = 'Owners' order by id",
  );
  assert.deepEqual(groups, [
    { identifier: "Owners", theirs: false },
    { identifier: "Owners_2", theirs: true },
  ]);
  // The ordinary API does not delete it.
  const refused = await platform.send("DELETE", "/ng/api/user-groups/Owners_2");
  assert.notEqual(refused.status, 200);
  // A directory may not fill a group that has an administrator role here.
  await platform.db.query(
    `insert into role_assignments
       (account_id, id, identifier, principal_type, principal_id, principal_identifier, principal_level, role_identifier,
        role_level, resource_group_identifier, disabled, created_at, updated_at)
     select account_id, gen_random_uuid(), 'owners', 'USER_GROUP', id, identifier, 'account', '_account_admin', 'account',
            '_all_resources_including_child_scopes', false, 0, 0 from user_groups where identifier = 'Owners_2'`,
  );
  const { body: eve } = await create({ userName: "eve3@example.com" });
  const filled = await patch(`/Groups/${theirs.id}`, { op: "add", path: "members", value: [{ value: eve.id }] });
  assert.equal(filled.status, 403, filled.text);
  assert.equal((await call("GET", `/Groups/${theirs.id}`)).body.members, undefined);
});

/** Gives a user a role over the whole account. */
const giveAll = (id: string): Promise<void> =>
  assignRole(platform.db, {
    accountId: fromWire(platform.accountId) as Uuid,
    userId: fromWire(id) as Uuid,
    role: "_account_admin",
    at: 0,
  });
const BEYOND = /You cannot grant core_\w+/;

test("a directory cannot take over a user with more permissions: by address, name or reactivation", async () => {
  const { body: boss } = await create({ userName: "boss@example.com" });
  await giveAll(boss.id);
  const path = `/Users/${boss.id}`;
  const replace = (at: string, value: unknown) => patch(path, { op: "replace", path: at, value });
  const elsewhere = [{ value: "mallory@evil.example", type: "work", primary: true }];
  const whole = { schemas: [USER], userName: "boss@example.com" };
  const refused = async (tries: readonly Promise<Answer>[]): Promise<void> => {
    const before = await rows();
    for (const answer of await Promise.all(tries)) {
      assert.equal(answer.status, 403, answer.text);
      assert.match(answer.text, BEYOND);
    }
    assert.deepEqual(await rows(), before);
  };
  await refused([
    replace("emails", elsewhere),
    replace("userName", "mallory@evil.example"),
    call("PUT", path, { body: { ...whole, emails: elsewhere } }),
    platform.send("POST", `/auth/users/${boss.id}/identities/allow`, { apiKey: token }),
  ]);
  assert.equal((await replace("displayName", "The Boss")).body.displayName, "The Boss");
  const inactive = { ...whole, active: false };
  const readdressed = (): readonly Promise<Answer>[] => [
    call("PUT", path, { body: { ...inactive, emails: elsewhere } }),
    call("PUT", path, { body: { ...inactive, userName: "mallory@evil.example", emails: elsewhere } }),
    patch(path, { op: "replace", value: { active: false, emails: elsewhere } }),
  ];
  await refused(readdressed());
  // Deactivation works together with any other change.
  const gone = await call("PUT", path, { body: { ...inactive, title: "Gone" } });
  assert.deepEqual([gone.status, gone.body.active], [200, false], gone.text);
  // A reactivation by an administrator must be for the same user.
  await refused([
    ...readdressed(),
    replace("emails", elsewhere),
    replace("userName", "mallory@evil.example"),
    create({ userName: "boss@example.com", emails: elsewhere, active: false }),
    replace("active", true),
    create({ userName: "boss@example.com" }),
    create({ userName: "boss@example.com", emails: elsewhere }),
    platform.send("POST", `/ng/api/user/${boss.id}/reactivate`, { apiKey: token }),
  ]);
  const byAdmin = await call("PUT", path, { body: { ...whole, active: true }, as: platform.apiKey });
  assert.deepEqual([byAdmin.status, byAdmin.body.active], [200, true], byAdmin.text);
});

test("a directory renames and reactivates users without more permissions, and a new address revokes an allowed link", async () => {
  const { body: ada } = await create({ userName: "ordinary@example.com" });
  const allow = () => platform.send("POST", `/auth/users/${ada.id}/identities/allow`, { apiKey: token });
  const allowed = () => platform.db.query("select 1 from identity_links_allowed");
  const renamed = { op: "replace", path: "userName", value: "changed@example.com" };
  const endings = [renamed, { op: "replace", path: "active", value: false }];
  for (const ending of endings) {
    assert.equal((await allow()).status, 200);
    assert.equal((await patch(`/Users/${ada.id}`, { op: "add", path: "title", value: "Engineer" })).status, 200);
    assert.equal((await allowed()).length, 1);
    assert.equal((await patch(`/Users/${ada.id}`, ending)).status, 200);
    assert.deepEqual(await allowed(), []);
  }
  const back = await create({ userName: "changed@example.com" });
  assert.deepEqual([back.status, back.body.id, back.body.active], [201, ada.id, true]);
});

test("a caller that creates users must hold the permissions of all users of the account", async () => {
  await made(
    platform.send("POST", "/authz/api/roleassignments", {
      contentType: JSON_TYPE,
      body: JSON.stringify({
        identifier: "for_everybody",
        principal: { identifier: "_account_all_users", type: "USER_GROUP", scopeLevel: "account" },
        roleIdentifier: "_account_viewer",
        resourceGroupIdentifier: "_all_resources_including_child_scopes",
      }),
    }),
  );
  try {
    const before = await rows();
    const refused = await create({ userName: "newcomer@example.com" });
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.text, BEYOND);
    assert.deepEqual(await rows(), before);
    assert.equal((await create({ userName: "newcomer@example.com" }, platform.apiKey)).status, 201);
  } finally {
    await made(platform.send("DELETE", "/authz/api/roleassignments/for_everybody"));
  }
});

test("each request needs the permission of the service account or the user", async () => {
  const reader = await directoryToken(platform, "reader", ["user_view", "usergroup_view"]);
  const powerless = await directoryToken(platform, "powerless", ["setting_view"]);
  const admin = await adminId();
  const body = { schemas: [USER], userName: "perm@example.com" };
  const patchBody = { schemas: [PATCH], Operations: [{ op: "replace", path: "title", value: "x" }] };
  const before = await rows();
  for (const [method, path, sent] of [
    ["POST", "/Users", body],
    ["PUT", `/Users/${admin}`, body],
    ["PATCH", `/Users/${admin}`, patchBody],
    ["DELETE", `/Users/${admin}`, undefined],
    ["POST", "/Groups", { schemas: [GROUP], displayName: "x" }],
  ] as const)
    for (const as of [reader, powerless]) {
      const answer = await call(method, path, { body: sent, as });
      assert.equal(answer.status, 403, `${method} ${path}: ${answer.text}`);
      assert.equal(answer.body.status, "403");
    }
  for (const path of ["/Users", `/Users/${admin}`, "/Groups", "/Schemas", "/ServiceProviderConfig"]) {
    assert.equal((await call("GET", path, { as: reader })).status, 200, path);
    assert.equal((await call("GET", path, { as: powerless })).status, 403, path);
  }
  assert.deepEqual(await rows(), before);
});

const set = (values: Readonly<Record<string, string>>): Promise<Answer> =>
  platform.send("PUT", "/ng/api/settings", {
    contentType: JSON_TYPE,
    body: JSON.stringify(
      Object.entries(values).map(([name, value]) => ({
        identifier: `scim_jwt_token_${name}`,
        value,
        allowOverrides: false,
        updateType: "UPDATE",
      })),
    ),
  });

test("a signed token acts as the service account of the settings, at once, on every replica, for SCIM only", async () => {
  const replica = await platform.replica();
  const claims = { client: "entra", exp: platform.clock.now() / 1_000 + 3_600 };
  const jwt = await signToken(key.privateKey, { alg: "RS256", kid: "k" }, claims);
  const on = (which: TestPlatform, path = "/Users?count=1", method = "GET", body?: unknown): Promise<Answer> =>
    callScim(which, { token: jwt }, method, path, body === undefined ? {} : { body });
  const statuses = async (): Promise<number[]> => [(await on(platform)).status, (await on(replica)).status];
  assert.deepEqual(await statuses(), [401, 401]);
  const four = { jwks_keys_url: keys.url, key_field: "client", value_field: "entra", service_account_id: "directory" };
  assert.equal((await set(four)).status, 200);
  assert.deepEqual(await statuses(), [200, 200], "without advancing the clock");
  const { status, body } = await on(replica, "/Users", "POST", { schemas: [USER], userName: "jwt@example.com" });
  assert.equal(status, 201);
  const [entry] = await platform.db.query<{ kind: string; name: string }>(
    `select actor_kind as kind, actor_name as name from audit_entries where resource_id = $1`,
    [body.id],
  );
  assert.deepEqual(entry, { kind: "service_account", name: "directory" });
  // For no other interface and no other account.
  for (const headers of [{ authorization: `Bearer ${jwt}` }, { "x-api-key": jwt }] as Record<string, string>[])
    assert.equal((await platform.send("GET", "/ng/api/user/currentUser", { apiKey: null, headers })).status, 401);
  const other = await platform.addAccount();
  const theirs = await callScim(
    platform,
    { token: jwt, base: `/ng/api/scim/account/${other.accountId}` },
    "GET",
    "/Users",
  );
  assert.equal(theirs.status, 401);
  await set({ value_field: "okta" });
  assert.deepEqual(await statuses(), [401, 401]);
  await set({ value_field: "entra", service_account_id: "reader" });
  assert.deepEqual(await statuses(), [200, 200]);
  assert.equal((await on(platform, "/Users", "POST", { schemas: [USER], userName: "no@example.com" })).status, 403);
  await platform.db.query("delete from role_assignments where principal_identifier = 'reader'");
  platform.clock.advance(1_000);
  assert.deepEqual(await statuses(), [403, 403]);
});
