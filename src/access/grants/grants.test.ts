/** Grants of many principals read at once, compared with those read one by one. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assignRole } from "../../../test/support/access.ts";
import { create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { assignServiceAccountRole } from "../../../test/support/service-accounts.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import { findUserGrants } from "../store/grants.ts";
import { compile } from "./compile.ts";
import { createGrants, type Principal } from "./grants.ts";

let platform: TestPlatform;
let accountId: Uuid;
const everyone: Principal[] = [];
const SHOP = { orgIdentifier: "default", projectIdentifier: "shop" } as const;

const post = (path: string, body: object): Promise<string> =>
  made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));

async function lastId(table: "users" | "service_accounts"): Promise<Uuid> {
  const [row] = await platform.db.query<{ id: Uuid }>(`select id from ${table} order by id desc limit 1`);
  assert.ok(row);
  return row.id;
}

async function person(...given: Parameters<TestPlatform["addUser"]>): Promise<Uuid> {
  await platform.addUser(...given);
  const id = await lastId("users");
  everyone.push({ type: "USER", id });
  return id;
}

before(async () => {
  platform = await startTestPlatform();
  accountId = fromWire(platform.accountId) as Uuid;
  await made(create.project(platform, projectYaml()));
  await person("_account_admin");
  await person("_pipeline_executor", SHOP);
  const grouped = await person("_organization_viewer", { orgIdentifier: "default" });
  await post("/ng/api/user-groups", { identifier: "viewers", name: "Viewers", users: [toWire(grouped)] });
  const [group] = await platform.db.query<{ id: Uuid }>("select id from user_groups where identifier = 'viewers'");
  assert.ok(group);
  await assignRole(platform.db, { accountId, userId: group.id, role: "_account_viewer", at: 1 });
  await platform.db.query("update role_assignments set principal_type = 'USER_GROUP' where principal_id = $1", [
    group.id,
  ]);
  await post("/authz/api/roleassignments?orgIdentifier=default&projectIdentifier=shop", {
    principal: { identifier: "_project_all_users", type: "USER_GROUP" },
    roleIdentifier: "_project_viewer",
    resourceGroupIdentifier: "_all_project_level_resources",
  });
  const userWithoutRoles = await person("_account_viewer");
  await platform.db.query("delete from role_assignments where principal_id = $1", [userWithoutRoles]);
  await post("/ng/api/serviceaccount", { identifier: "robot", name: "robot", email: "robot@example.com" });
  await assignServiceAccountRole(platform, "robot", "_account_viewer");
  everyone.push({ type: "SERVICE_ACCOUNT", id: await lastId("service_accounts") });
});
after(() => platform?.stop());

/** A separate cache, which is empty. `asked` counts statements. */
function fresh() {
  const asked: string[] = [];
  const { db, clock } = platform;
  const counted = {
    ...db,
    // The cache is cleared when listening begins, at an unpredictable time.
    listen: () => () => undefined,
    query: ((text, values) => {
      asked.push(text);
      return db.query(text, values);
    }) as typeof db.query,
  };
  return { asked, ...createGrants({ db: counted, clock, onError: (error) => assert.fail(String(error)) }) };
}

test("grants read for many principals equal those read one by one, from every source", async () => {
  const [alone, together] = [fresh(), fresh()];
  const all = await together.grantsOfAll(accountId, everyone);
  const sizes: number[] = [];
  for (const one of everyone) {
    assert.deepEqual(all.get(one.id), await alone.grantsOf(accountId, one), one.type);
    sizes.push(all.get(one.id)?.length ?? -1);
  }
  assert.deepEqual(
    sizes,
    [1, 1, 2, 0, 1],
    "of their own, as everybody of the project (merged), through a group, nothing, a robot",
  );
  const [executor] = all.get(everyone[1]?.id as Uuid) ?? [];
  assert.ok(executor?.permissions.has("core_pipeline_execute") && executor.permissions.has("core_serviceaccount_view"));
  assert.equal(all.size, everyone.length);
  alone.stop();
  together.stop();
});

test("many principals take one statement for each kind, and cached ones take none", async () => {
  const { asked, grantsOf, grantsOfAll, stop } = fresh();
  const first = await grantsOfAll(accountId, everyone);
  assert.equal(asked.length, 2);
  assert.equal(
    await grantsOfAll(accountId, everyone).then((all) => all.get(everyone[0]?.id as Uuid)),
    first.get(everyone[0]?.id as Uuid),
  );
  assert.equal(grantsOf(accountId, everyone[1] as Principal), first.get(everyone[1]?.id as Uuid), "the very same list");
  assert.equal(asked.length, 2);
  platform.clock.advance(1_000);
  await grantsOfAll(accountId, everyone.slice(0, 1));
  assert.equal(asked.length, 3);
  stop();
});

test("the content of a resource group is read once, however many assignments name it", async () => {
  const scope = "orgIdentifier=default&projectIdentifier=shop";
  await post(`/authz/api/v2/resourcegroup?${scope}`, {
    resourceGroup: {
      identifier: "images",
      name: "images",
      ...SHOP,
      resourceFilter: { resources: [{ resourceType: "CONNECTOR", identifiers: ["images"] }] },
    },
  });
  const id = await person("_account_viewer");
  for (const roleIdentifier of ["_project_viewer", "_pipeline_executor", "_project_admin"])
    await post(`/authz/api/roleassignments?${scope}`, {
      principal: { identifier: toWire(id), type: "USER" },
      roleIdentifier,
      resourceGroupIdentifier: "images",
    });
  const rows = (await findUserGrants(platform.db, accountId, id)).filter(
    ({ resourceGroup }) => resourceGroup === "images",
  );
  assert.deepEqual([rows.length, rows.filter(({ included }) => included).length], [3, 1]);
  const edit = compile(rows).find(({ permissions }) => permissions.has("core_connector_edit"));
  assert.deepEqual([...(edit?.resources ?? [])], [["CONNECTOR", new Set(["images"])]]);
  // Rows without the content grant nothing.
  assert.deepEqual(compile(rows.filter(({ included }) => !included)), []);
});

test("principals of another account hold nothing", async () => {
  const { grantsOfAll, stop } = fresh();
  const other = fromWire((await platform.addAccount()).accountId) as Uuid;
  const all = await grantsOfAll(other, everyone);
  assert.ok(everyone.every(({ id }) => all.get(id)?.length === 0));
  stop();
});

test("unchanged grants stay the same object when the cache ends; each kind of change makes a new one", async () => {
  const me = everyone[1] as Principal;
  const { asked, grantsOf, grantsOfAll, stop } = fresh();
  const first = await grantsOf(accountId, me);
  const ofAll = await grantsOfAll(accountId, everyone);
  asked.length = 0;
  platform.clock.advance(1_000);
  assert.equal(await grantsOf(accountId, me), first);
  assert.equal(asked.length, 1);
  platform.clock.advance(1_000);
  const again = await grantsOfAll(accountId, everyone);
  for (const { id } of everyone) assert.equal(again.get(id), ofAll.get(id), "also without any grant");
  assert.equal(asked.length, 3, "one statement for each kind, and none for rows");
  assert.ok(asked.every((text) => !text.includes("held.*") && text.includes("sum(held.version")));

  await post(`/authz/api/roles?${new URLSearchParams(SHOP).toString()}`, {
    identifier: "guests",
    name: "Guests",
    permissions: ["core_pipeline_view"],
  });
  let last = first;
  const changed = async (statement: string, message: string): Promise<void> => {
    await platform.db.query(statement, [accountId]);
    platform.clock.advance(1_000);
    const now = await grantsOf(accountId, me);
    assert.notEqual(now, last, message);
    last = now;
    platform.clock.advance(1_000);
    assert.equal(await grantsOf(accountId, me), last, `unchanged after: ${message}`);
  };
  await changed(
    `update role_assignments a set role_identifier = r.identifier, role_id = r.id from roles r
      where a.account_id = $1 and r.account_id = $1 and a.principal_identifier = '_project_all_users'`,
    "another assignment",
  );
  await changed(`update roles set permissions = '{core_secret_view}' where account_id = $1`, "another role");
  assert.ok(last.some(({ permissions }) => permissions.has("core_secret_view")));
  await changed(
    `delete from role_assignments where account_id = $1 and principal_identifier = '_project_all_users'`,
    "a removed assignment",
  );
  assert.ok(last.every(({ permissions }) => permissions.has("core_pipeline_execute")));
  stop();
});
