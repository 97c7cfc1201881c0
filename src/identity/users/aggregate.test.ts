import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

const SHOP = "orgIdentifier=default&projectIdentifier=shop";
type Aggregate = { readonly roleAssignmentMetadata: readonly unknown[] };
let platform: TestPlatform;
let ada: string;
let grace: string;
let lin: string;

const post = (path: string, body: object, how: { apiKey?: string } = {}): Promise<Answer> =>
  platform.send("POST", path, { body: JSON.stringify(body), contentType: JSON_TYPE, ...how });
const aggregates = (query: string, body: object = {}, how: { apiKey?: string } = {}): Promise<Answer> =>
  post(`/ng/api/user/aggregate?${query}`, body, how);
const emails = async (answer: Promise<Answer>): Promise<string[]> =>
  (await made(answer)).content.map(({ user }: { user: { email: string } }) => user.email);

async function assign(userId: string, role: string, group: string, query: string): Promise<string> {
  const body = {
    roleIdentifier: role,
    resourceGroupIdentifier: group,
    principal: { type: "USER", identifier: userId },
  };
  return (await made(post(`/authz/api/roleassignments?${query}`, body))).roleAssignment.identifier;
}

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  const people = ["ada@example.com", "grace@example.com", "lin@example.com"];
  await made(post("/ng/api/user/users", { emails: people }));
  const { content } = await made(post("/ng/api/user/batch", { emails: people }));
  [ada, grace, lin] = people.map((email) => content.find((one: { email: string }) => one.email === email).uuid) as [
    string,
    string,
    string,
  ];
});
after(() => platform?.stop());

test("users of the account and of a project, with the roles assigned to them there", async () => {
  await made(post(`/authz/api/roles?${SHOP}`, { identifier: "ops", name: "Operators", permissions: [] }));
  const first = await assign(ada, "_project_viewer", "_all_project_level_resources", SHOP);
  await assign(ada, "ops", "_all_project_level_resources", SHOP);
  await assign(grace, "_account_viewer", "_all_account_level_resources", "");
  const group = { identifier: "team", name: "Team", users: [lin], orgIdentifier: "default", projectIdentifier: "shop" };
  await made(post(`/ng/api/user-groups?${SHOP}`, group));

  assert.deepEqual(await emails(aggregates("searchTerm=@example.com")), [
    "ada@example.com",
    "grace@example.com",
    "lin@example.com",
  ]);
  assert.deepEqual(await emails(aggregates(SHOP)), ["ada@example.com", "lin@example.com"]);
  const { content, totalItems } = await made(aggregates(`${SHOP}&searchTerm=ADA&pageSize=1`));
  assert.equal(totalItems, 1);
  assert.deepEqual(content[0].user, {
    uuid: ada,
    name: "ada@example.com",
    email: "ada@example.com",
    locked: false,
    disabled: false,
    externallyManaged: false,
    twoFactorAuthenticationEnabled: false,
  });
  const [viewer, ops] = content[0].roleAssignmentMetadata;
  assert.deepEqual(viewer, {
    identifier: first,
    roleIdentifier: "_project_viewer",
    roleName: "Project Viewer",
    resourceGroupIdentifier: "_all_project_level_resources",
    resourceGroupName: "All Project Level Resources",
    managedRole: true,
    managedRoleAssignment: false,
  });
  assert.deepEqual([ops.roleIdentifier, ops.roleName, ops.managedRole], ["ops", "Operators", false]);

  const one = await made(platform.send("GET", `/ng/api/user/aggregate/${lin}?${SHOP}`));
  assert.deepEqual([one.user.email, one.roleAssignmentMetadata], ["lin@example.com", []]);
  for (const id of [grace, "AAAAAAAAAAAAAAAAAAAAAA", "x"]) {
    const { status } = await platform.send("GET", `/ng/api/user/aggregate/${id}?${SHOP}`);
    assert.equal(status, 404, "only people of the scope are there");
  }
});

test("the body filters the list by roles and resource groups", async () => {
  assert.deepEqual(await emails(aggregates(SHOP, { roleIdentifiers: ["ops"] })), ["ada@example.com"]);
  assert.deepEqual(await emails(aggregates(SHOP, { roleIdentifiers: ["other"] })), []);
  assert.deepEqual(await emails(aggregates(SHOP, { roleIdentifiers: [], resourceGroupIdentifiers: null })), [
    "ada@example.com",
    "lin@example.com",
  ]);
  const all = { resourceGroupIdentifiers: ["_all_account_level_resources"] };
  assert.deepEqual(await emails(aggregates("searchTerm=@example.com", all)), ["grace@example.com"]);
  assert.equal((await aggregates("orgIdentifier=none")).status, 404);
});

test("a caller who may view users but not roles gets users without roles and cannot filter by them", async () => {
  const apiKey = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  assert.ok(
    (await made(aggregates(SHOP, {}, { apiKey }))).content.some(
      (one: Aggregate) => one.roleAssignmentMetadata.length > 0,
    ),
  );
  await made(
    post(`/authz/api/roles?${SHOP}`, { identifier: "people", name: "People", permissions: ["core_user_view"] }),
  );
  await platform.db.query(`update role_assignments set role_identifier = 'people',
    role_id = (select id from roles where identifier = 'people') where principal_id = (select max(id::text) from users)::uuid`);
  platform.clock.advance(2_000);
  const seen = await made(aggregates(SHOP, {}, { apiKey }));
  assert.ok(seen.content.length > 0);
  assert.ok(seen.content.every((one: Aggregate) => one.roleAssignmentMetadata.length === 0));
  assert.equal((await aggregates(SHOP, { roleIdentifiers: ["ops"] }, { apiKey })).status, 403);
  assert.equal((await aggregates("", {}, { apiKey })).status, 403);
});
