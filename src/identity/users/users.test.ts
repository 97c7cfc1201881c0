/** Users in GraphQL, also as creators. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, pipelineYaml, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { graphqlAs } from "../../../test/support/service-accounts.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { listUsers } from "../store/users.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await platform.addUser("_account_viewer");
});
after(() => platform?.stop());

const WHOLE = `id name email isEmailVerified isImportedFromIdentityProvider isPasswordExpired
  isTwoFactorAuthenticationEnabled isUserLocked userGroups(limit: 5) { nodes { id name } pageInfo { total } }`;

async function ask(query: string, variables: object = {}) {
  const { body } = await platform.graphql(query, variables);
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  return body.data;
}

test("a user by id, by name and by e-mail address in any case of letters", async () => {
  const { userByName: admin } = await ask(`{ userByName(name: "admin") { ${WHOLE} } }`);
  assert.deepEqual(
    { ...admin, id: "" },
    {
      id: "",
      name: "admin",
      email: "admin@railhead.local",
      isEmailVerified: false,
      isImportedFromIdentityProvider: false,
      isPasswordExpired: true,
      isTwoFactorAuthenticationEnabled: false,
      isUserLocked: false,
      userGroups: { nodes: [], pageInfo: { total: 0 } },
    },
  );
  const byId = await ask(`query ($id: String!) { user(id: $id) { ${WHOLE} } }`, { id: admin.id });
  assert.deepEqual(byId.user, admin);
  const byEmail = await ask(`{ userByEmail(email: "Admin@RAILHEAD.local") { ${WHOLE} } }`);
  assert.deepEqual(byEmail.userByEmail, admin);
});

test("users: all users of the account by name, with limit and offset", async () => {
  const { users } = await ask(`{ users { nodes { id name isPasswordExpired } pageInfo { total hasMore } } }`);
  assert.deepEqual(users.pageInfo, { total: 2, hasMore: false });
  assert.equal(users.nodes[0].name, "admin");
  assert.deepEqual(
    users.nodes.map((one: { isPasswordExpired: boolean }) => one.isPasswordExpired),
    [true, false],
  );
  const { users: page } = await ask(`{ users(limit: 1, offset: 1) { nodes { id } } }`);
  assert.deepEqual(page.nodes, [{ id: users.nodes[1].id }]);
});

test("an unknown user, and a user of another account: User does not exist", async () => {
  await platform.addAccount();
  const theirs = await platform.db.query<{ id: string; name: string; email: string }>(
    "select id, name, email from users where account_id <> (select account_id from users where name = 'admin')",
  );
  const [one] = theirs;
  assert.ok(one);
  const id = Buffer.from(one.id.replaceAll("-", ""), "hex").toString("base64url");
  for (const [field, values] of [
    ["user(id: $text)", ["", "x", "AAAAAAAAAAAAAAAAAAAAAA", id]],
    ["userByName(name: $text)", ["", "unknown", one.name]],
    ["userByEmail(email: $text)", ["", "unknown@example.com", one.email]],
  ] as const)
    for (const text of values) {
      const { body } = await platform.graphql(`query ($text: String!) { ${field} { id } }`, { text });
      assert.match(body.errors[0].message, /: User does not exist\.$/, `${field} ${text}`);
    }
});

test("the creator of a pipeline and its application, with name and address", async () => {
  await made(create.project(platform, projectYaml()));
  for (const name of ["one", "two", "three"]) await made(create.pipeline(platform, pipelineYaml(name)));
  const MAKER = "createdBy { id name email isPasswordExpired }";
  const { applications } = await ask(`{ applications { nodes { ${MAKER} pipelines { nodes { name ${MAKER} } } } } }`);
  const [shop] = applications.nodes;
  assert.equal(shop.createdBy.email, "admin@railhead.local");
  assert.equal(shop.createdBy.isPasswordExpired, true);
  // An executor of the project sees the creators, but not their addresses, which stand in for a missing name.
  const apiKey = await platform.addUser("_pipeline_executor", { orgIdentifier: "default", projectIdentifier: "shop" });
  const shown = async (): Promise<unknown> => {
    const { body } = await graphqlAs(platform, apiKey, "{ pipelines { nodes { createdBy { id name email } } } }");
    return body.data.pipelines.nodes[0].createdBy;
  };
  const { id } = shop.createdBy;
  assert.deepEqual(await shown(), { id, name: "admin", email: null });
  await platform.db.query("update users set name = email where email = 'admin@railhead.local'");
  assert.deepEqual(await shown(), { id, name: "admin", email: null });
  await platform.db.query("update users set name = 'admin' where email = 'admin@railhead.local'");
  for (const { createdBy } of shop.pipelines.nodes) assert.deepEqual(createdBy, shop.createdBy);
  assert.equal(shop.pipelines.nodes.length, 3);
});

test("no list reads the attributes that a directory stored, up to 64 KiB for each user", async () => {
  const users = await listUsers(platform.db, fromWire(platform.accountId) as Uuid, {
    filter: {},
    window: { limit: 10, offset: 0 },
  });
  assert.ok(users.length > 0);
  assert.deepEqual(
    users.filter((user) => "directory" in user),
    [],
  );
});
