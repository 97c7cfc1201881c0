/** The life cycle of a user over GraphQL and REST: created, renamed, deactivated, reactivated, deleted. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, pipelineYaml, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

async function ask(query: string, input: object) {
  const { body } = await platform.graphql(query, { input });
  return body;
}
const CREATE = `mutation ($input: CreateUserInput!) { createUser(input: $input) { clientMutationId user { id name email isDisabled } } }`;
const UPDATE = `mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { id name email } } }`;
const DELETE = `mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { clientMutationId } }`;

async function person(email: string, name?: string): Promise<string> {
  const { data, errors } = await ask(CREATE, { email, ...(name === undefined ? {} : { name }) });
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data.createUser.user.id;
}
/** Creates a user of the account with a key. Returns both. */
async function withKey(role: "_account_admin" | "_account_viewer", on = platform) {
  const apiKey = await on.addUser(role);
  const { uuid } = await made(on.send("GET", "/ng/api/user/currentUser", { apiKey }));
  return { apiKey, id: uuid as string };
}
const sendTo = (path: string, method = "POST", headers = {}) =>
  platform.send(method, `/ng/api/user/${path}`, { headers });
const operationsOn = async (id: string): Promise<unknown[]> => {
  const resourceId = `select operation from audit_entries where resource_type = 'USER' and resource_id = $1 order by id`;
  return (await platform.db.query<{ operation: string }>(resourceId, [id])).map(({ operation }) => operation);
};

test("an address is stored in lower case, found in any spelling, and belongs to one user", async () => {
  const { data } = await ask(CREATE, { email: " Ada.Kay@Example.COM ", name: "Ada Kay", clientMutationId: "m1" });
  assert.equal(data.createUser.clientMutationId, "m1");
  const { id, ...rest } = data.createUser.user;
  assert.deepEqual(rest, { name: "Ada Kay", email: "ada.kay@example.com", isDisabled: false });
  const found = await platform.graphql(`{ userByEmail(email: "ADA.kay@example.com") { id } }`);
  assert.equal(found.body.data.userByEmail.id, id);
  // Full-width letters and the Kelvin sign fold to the existing address.
  for (const email of [
    "ada.kay@example.com",
    "ADA.KAY@EXAMPLE.COM",
    "ａｄａ.kay@example.com",
    "ada.\u212Aay@example.com",
  ]) {
    const { errors } = await ask(CREATE, { email });
    assert.match(errors[0].message, /already exists\.$/, email);
  }
  assert.deepEqual(await operationsOn(id), ["user.create"]);
});

test("an invalid or confusable address, and a name that cannot be displayed, are refused", async () => {
  for (const email of [
    "",
    "ada",
    "ada@",
    "@example.com",
    "a da@example.com",
    "ada@exa_mple.com",
    "\u0430da@example.com", // Cyrillic a
    "ada@ex\u0000ample.com",
    `${"a".repeat(65)}@example.com`,
    `ada@${"a.".repeat(130)}com`,
  ]) {
    const { errors } = await ask(CREATE, { email });
    assert.match(errors[0].message, /is not an e-mail address in ASCII/, email);
  }
  for (const name of ["", "a\nb", "a\u202eb", "a".repeat(257)]) {
    const { errors } = await ask(CREATE, { email: "names@example.com", name });
    assert.match(errors[0].message, /The name must have/, JSON.stringify(name));
  }
});

test("a name is changed; an unknown group is refused, and nothing of that request is applied", async () => {
  const id = await person("grace@example.com");
  const { data } = await ask(UPDATE, { id, name: "Grace" });
  assert.deepEqual(data.updateUser.user, { id, name: "Grace", email: "grace@example.com" });
  const groups = { id, name: "Other", userGroupIds: ["AAAAAAAAAAAAAAAAAAAAAA"] };
  const { errors } = await ask(UPDATE, groups);
  assert.match(errors[0].message, /User group \[\w+\] not found/);
  const whole = await made(sendTo(id, "GET"));
  assert.equal(whole.name, "Grace");
  const refused = await ask(CREATE, { email: "group@example.com", userGroupIds: ["x"] });
  assert.match(refused.errors[0].message, /User group \[\w+\] not found/);
  assert.match((await ask(UPDATE, { id: "x", name: "y" })).errors[0].message, /User does not exist\.$/);
});

test("groups are set as a whole, together with the user and never mixed with another request's", async () => {
  const group = async (name: string): Promise<string> => {
    const query = "mutation ($input: CreateUserGroupInput!) { createUserGroup(input: $input) { userGroup { id } } }";
    return (await platform.graphql(query, { input: { name } })).body.data.createUserGroup.userGroup.id;
  };
  const [one, two] = [await group("One"), await group("Two")];
  const shown = async (id: string): Promise<string[]> => {
    const { body } = await platform.graphql(`{ user(id: "${id}") { userGroups { nodes { name } } } }`);
    return body.data.user.userGroups.nodes.map(({ name }: { name: string }) => name);
  };
  const { data } = await ask(CREATE, { email: "member@example.com", userGroupIds: [one] });
  const { id } = data.createUser.user;
  assert.deepEqual(await shown(id), ["One"]);
  await ask(UPDATE, { id, userGroupIds: [two, two] });
  assert.deepEqual(await shown(id), ["Two"]);
  await ask(UPDATE, { id, name: "Member" });
  assert.deepEqual(await shown(id), ["Two"], "left out, they stay");
  await ask(UPDATE, { id, userGroupIds: [] });
  assert.deepEqual(await shown(id), []);
  const refused = await ask(CREATE, { email: "half@example.com", userGroupIds: [one, "x"] });
  assert.match(refused.errors[0].message, /User group \[x\] not found/);
  const none = await platform.graphql(`{ userByEmail(email: "half@example.com") { id } }`);
  assert.match(none.body.errors[0].message, /User does not exist/);
});

test("a deleted user is not found, stays the creator of its objects, and its address can be used for a new user", async () => {
  const { apiKey, id } = await withKey("_account_admin");
  const { email } = await made(sendTo(id, "GET"));
  await made(create.project(platform, projectYaml()));
  const pipeline = await platform.send("POST", "/pipeline/api/pipelines?orgIdentifier=default&projectIdentifier=shop", {
    apiKey,
    contentType: "application/yaml",
    body: pipelineYaml(),
  });
  assert.equal(pipeline.status, 200, pipeline.text);
  const { data } = await ask(DELETE, { id, clientMutationId: "bye" });
  assert.equal(data.deleteUser.clientMutationId, "bye");
  for (const field of [`user(id: "${id}")`, `userByEmail(email: "${email}")`]) {
    const { body } = await platform.graphql(`{ ${field} { id } }`);
    assert.match(body.errors[0].message, /User does not exist\.$/);
  }
  const list = await made(platform.send("POST", "/ng/api/user/batch"));
  assert.ok(!list.content.some((one: { uuid: string }) => one.uuid === id));
  assert.match((await ask(DELETE, { id })).errors[0].message, /User does not exist\.$/);
  const MAKER = "createdBy { id name email isDisabled isEmailVerified }";
  const { body } = await platform.graphql(`{ applications { nodes { pipelines { nodes { ${MAKER} } } } } }`);
  const maker = body.data.applications.nodes[0].pipelines.nodes[0].createdBy;
  assert.deepEqual({ ...maker, name: "" }, { id, name: "", email, isDisabled: true, isEmailVerified: false });
  assert.notEqual(await person(email), id);
  assert.deepEqual(await operationsOn(id), ["user.delete"]);
});

test("deactivated and deleted users are refused within a second on every replica, and their tokens stay invalid", async () => {
  const replica = await platform.replica();
  for (const end of ["deactivate", "delete"] as const) {
    const { apiKey, id } = await withKey("_account_viewer");
    const works = async (): Promise<number[]> => {
      const answers = [platform, replica].map((on) => on.send("GET", "/ng/api/user/currentUser", { apiKey }));
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    assert.deepEqual(await works(), [200, 200]);
    const done = await (end === "delete" ? sendTo(id, "DELETE") : sendTo(`${id}/deactivate`));
    assert.equal(done.status, 200, done.text);
    platform.clock.advance(1_000);
    assert.deepEqual(await works(), [401, 401]);
    if (end === "delete") continue;
    assert.equal(done.body.data.disabled, true);
    const back = await made(sendTo(`${id}/reactivate`));
    assert.equal(back.disabled, false);
    platform.clock.advance(1_000);
    assert.deepEqual(await works(), [401, 401]);
    assert.deepEqual(await operationsOn(id), ["user.deactivate", "user.reactivate"]);
  }
});

test("the last administrator stays, also when two are removed at once", async () => {
  const other = await startTestPlatform();
  const go = (id: string, end: "deactivate" | "delete") =>
    end === "delete" ? other.send("DELETE", `/ng/api/user/${id}`) : other.send("POST", `/ng/api/user/${id}/deactivate`);
  try {
    const { uuid: first } = await made(other.send("GET", "/ng/api/user/currentUser"));
    await withKey("_account_viewer", other);
    for (const end of ["deactivate", "delete"] as const) {
      const refused = await go(first, end);
      assert.equal(refused.body.code, "INVALID_REQUEST");
      assert.match(refused.body.message, /At least one active user must remain Account Admin/);
    }
    const { apiKey } = await withKey("_account_admin", other);
    const { id: second } = await withKey("_account_admin", other);
    const { uuid: caller } = await made(other.send("GET", "/ng/api/user/currentUser", { apiKey }));
    const answers = await Promise.all([go(first, "deactivate"), go(second, "delete"), go(caller, "deactivate")]);
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 200, 400],
    );
    const [row] = await other.db.query<{ n: number }>(
      `select count(*)::int as n from users u join role_assignments a on a.principal_id = u.id
        where u.active and u.deleted_at is null and a.role_identifier = '_account_admin'`,
    );
    assert.equal(row?.n, 1);
  } finally {
    await other.stop();
  }
});

test("REST: the current user, lists with a search, users by id, several addresses at once, If-Match", async () => {
  const me = await made(platform.send("GET", "/ng/api/user/currentUser"));
  assert.equal(me.email, "admin@railhead.local");
  assert.equal(me.defaultAccountId, platform.accountId);
  const body = JSON.stringify({ emails: ["Lin@Example.com", "lin@example.com", "invalid", "lou@example.com"] });
  const { addUserResponseMap } = await made(
    platform.send("POST", "/ng/api/user/users", { contentType: JSON_TYPE, body }),
  );
  assert.deepEqual(addUserResponseMap, {
    "Lin@Example.com": "USER_ADDED_SUCCESSFULLY",
    "lin@example.com": "USER_ALREADY_ADDED",
    invalid: "FAIL",
    "lou@example.com": "USER_ADDED_SUCCESSFULLY",
  });
  const found = await made(platform.send("POST", "/ng/api/user/batch?searchTerm=LIN@"));
  assert.deepEqual(
    found.content.map(({ email, name, disabled }: Record<string, unknown>) => ({ email, name, disabled })),
    [{ email: "lin@example.com", name: "lin@example.com", disabled: false }],
  );
  const { uuid } = found.content[0];
  const byFilter = JSON.stringify({ identifiers: [uuid, "x"], emails: ["LIN@example.com"] });
  const one = await made(platform.send("POST", "/ng/api/user/batch", { contentType: JSON_TYPE, body: byFilter }));
  assert.equal(one.totalItems, 1);
  const read = await sendTo(uuid, "GET");
  assert.equal(read.headers.get("etag"), '"1"');
  const stale = await sendTo(`${uuid}/deactivate`, "POST", { "if-match": "7" });
  assert.equal(stale.status, 402, stale.text);
  const changed = await sendTo(`${uuid}/deactivate`, "POST", { "if-match": '"1"' });
  assert.equal(changed.headers.get("etag"), '"2"');
  assert.equal((await sendTo(`${uuid}/deactivate`)).headers.get("etag"), '"2"', "nothing changed");
  for (const path of ["x", "AAAAAAAAAAAAAAAAAAAAAA"]) assert.equal((await sendTo(path, "GET")).status, 404);
});

test("invitations are refused by name, since no mail is sent", async () => {
  for (const [method, path] of [
    ["GET", ""],
    ["POST", ""],
    ["POST", "/aggregate"],
    ["PUT", "/x"],
    ["DELETE", "/x"],
  ] as const) {
    const { status, body } = await platform.send(method, `/ng/api/invites${path}`);
    assert.equal(status, 400);
    assert.match(body.message, /no mail is sent/);
  }
});

test("users of another account are not found", async () => {
  const theirs = await platform.addAccount();
  const { body } = await platform.send("GET", `/ng/api/user/currentUser?accountIdentifier=${theirs.accountId}`, theirs);
  for (const answer of [
    await sendTo(body.data.uuid, "GET"),
    await sendTo(body.data.uuid, "DELETE"),
    await sendTo(`${body.data.uuid}/deactivate`),
  ])
    assert.equal(answer.status, 404);
});
