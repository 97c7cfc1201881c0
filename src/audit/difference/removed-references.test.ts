/**
 * The entry of a deletion lists everything that was deleted or dereferenced with the resource, without secrets and with
 * limits.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assignRole } from "../../../test/support/access.ts";
import { create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { serviceToken } from "../../../test/support/service-accounts.ts";
import { shownRemovals, type RemovedReference } from "../../platform/removed-reference.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";

let platform: TestPlatform;
let accountId: Uuid;
before(async () => {
  platform = await startTestPlatform();
  accountId = fromWire(platform.accountId) as Uuid;
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const send = (method: string, path: string, body?: object) =>
  made(platform.send(method, `/ng/api/${path}`, body ? { contentType: JSON_TYPE, body: JSON.stringify(body) } : {}));

/** The removed references in the newest entry of the operation. */
async function lost(operation: string): Promise<readonly RemovedReference[]> {
  const [row] = await platform.db.query<{ difference: { changes: { field: string; before: RemovedReference[] }[] } }>(
    "select difference from audit_entries where operation = $1 order by id desc limit 1",
    [operation],
  );
  return row?.difference.changes.find(({ field }) => field === "goneToo")?.before ?? [];
}

/** Creates a user with a key and its token, a role in the project, one in the account, and two groups. */
async function furnished(): Promise<{ readonly id: string; readonly userId: Uuid }> {
  const before = await platform.db.query<{ id: Uuid }>("select id from users");
  await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users where id <> all ($1)", [
    before.map(({ id }) => id),
  ]);
  assert.ok(row);
  const userId = row.id;
  const within = { orgIdentifier: "default", projectIdentifier: "shop" };
  await assignRole(platform.db, { accountId, userId, role: "_project_admin", at: 0 }, within);
  const id = toWire(userId);
  for (const identifier of ["ops", "dev"]) {
    const body = { identifier: `${identifier}_${userId.slice(-4)}`, name: identifier, users: [id] };
    await send("POST", "user-groups", body);
  }
  await platform.db.query(
    `insert into sessions (account_id, id, user_id, secret_hash, method, remote_address, user_agent, created_at, last_seen_at, expires_at)
     values ($1, gen_random_uuid(), $2, '', 'PASSWORD', '', '', 0, 0, 9000000000000)`,
    [accountId, userId],
  );
  return { id, userId };
}

test("a deleted user loses roles, groups, keys and tokens; a deactivated one keeps the roles", async () => {
  for (const how of ["deactivate", "delete"] as const) {
    const { id, userId } = await furnished();
    const tail = userId.slice(-4);
    await (how === "delete" ? send("DELETE", `user/${id}`) : send("POST", `user/${id}/deactivate`));
    const all = Object.fromEntries((await lost(`user.${how}`)).map((one) => [one.type, one]));
    const kept = how === "deactivate" ? {} : { ROLE_ASSIGNMENT: 2 };
    const counts = Object.entries(all).map(([type, { count }]) => [type, count]);
    assert.deepEqual(Object.fromEntries(counts), { ...kept, USER_GROUP: 2, SESSION: 1, API_KEY: 1, TOKEN: 1 });
    assert.deepEqual(all["USER_GROUP"]?.identifiers, [`dev_${tail}`, `ops_${tail}`]);
    if (how === "deactivate") continue;
    assert.deepEqual(all["ROLE_ASSIGNMENT"]?.identifiers, [
      `USER ${id}: _account_viewer over _all_resources_including_child_scopes`,
      `USER ${id}: _project_admin over _all_project_level_resources in default/shop`,
    ]);
  }
});

test("a deleted group: its members and its roles are listed", async () => {
  const [admin] = await platform.db.query<{ id: Uuid; email: string }>(
    "select id, email from users order by id limit 1",
  );
  assert.ok(admin);
  await send("POST", "user-groups", { identifier: "night", name: "Night", users: [toWire(admin.id)] });
  await assignRole(platform.db, { accountId, userId: admin.id, role: "_account_viewer", at: 0 });
  await platform.db.query(
    `update role_assignments set principal_type = 'USER_GROUP', principal_identifier = 'night',
            principal_id = (select id from user_groups where identifier = 'night')
      where principal_id = $1 and role_identifier = '_account_viewer'`,
    [admin.id],
  );
  await send("DELETE", "user-groups/night");
  assert.deepEqual(await lost("user-group.delete"), [
    {
      type: "ROLE_ASSIGNMENT",
      count: 1,
      identifiers: ["USER_GROUP night: _account_viewer over _all_resources_including_child_scopes"],
    },
    { type: "MEMBER", count: 1, identifiers: [admin.email] },
  ]);
});

test("a deleted service account: its tokens are counted, and the first of very many are named", async () => {
  await send("POST", `serviceaccount?accountIdentifier=${platform.accountId}`, {
    ...{ identifier: "robot", name: "robot", email: "", accountIdentifier: platform.accountId },
  });
  const text = await serviceToken(platform, "robot");
  await platform.db.query(
    `insert into tokens select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'identifier', 'many_' || lpad(n::text, 3, '0')))).*
       from tokens t, generate_series(1, 200) n where t.identifier = 't'`,
  );
  await send("DELETE", "serviceaccount/robot");
  const [tokens, ...others] = await lost("service-account.delete");
  assert.deepEqual(others, []);
  assert.deepEqual([tokens?.type, tokens?.count, tokens?.identifiers.length], ["TOKEN", 201, 20]);
  assert.equal(tokens?.identifiers[0], "many_001");
  const [row] = await platform.db.query<{ all: string }>(
    "select difference::text as all from audit_entries where operation = 'service-account.delete'",
  );
  assert.ok(!row?.all.includes(text.split(".")[3] ?? text));
});

test("long names do not displace the counts", () => {
  const long = (nth: number): RemovedReference => ({
    type: `T${nth}`,
    count: 20,
    identifiers: Array.from({ length: 20 }, (_, at) => `${at}${"ä".repeat(200)}`),
  });
  const { goneToo: shown = [] } = shownRemovals(Array.from({ length: 14 }, (_, nth) => long(nth)));
  assert.deepEqual(
    shown.map(({ count }) => count),
    Array.from({ length: 14 }, () => 20),
  );
  assert.ok(Buffer.byteLength(JSON.stringify(shown)) < 12_000);
  assert.deepEqual(shownRemovals([]), {});
});
