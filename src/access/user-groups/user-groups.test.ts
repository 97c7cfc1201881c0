/** User groups over REST and GraphQL: life cycle, members, and the permissions of members. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assignRole } from "../../../test/support/access.ts";
import { JSON_TYPE } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";

let platform: TestPlatform;
/** A user without any role, with a key. */
let guest: { readonly id: string; readonly apiKey: string; readonly email: string };
before(async () => {
  platform = await startTestPlatform();
  guest = await person();
});
after(() => platform?.stop());

async function person(): Promise<typeof guest> {
  const apiKey = await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid; email: string }>(
    "select id, email from users order by id desc limit 1",
  );
  assert.ok(row);
  await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
  return { id: toWire(row.id), apiKey, email: row.email };
}

const send = (method: string, path: string, body?: object, apiKey?: string): Promise<Answer> =>
  platform.send(method, `/ng/api/${path}`, {
    ...(body ? { body: JSON.stringify(body), contentType: JSON_TYPE } : {}),
    ...(apiKey === undefined ? {} : { apiKey }),
  });
async function data<T>(answer: Promise<Answer>): Promise<T> {
  const { status, text, body } = await answer;
  assert.equal(status, 200, text);
  return body.data as T;
}
const refused = async (answer: Promise<Answer>, status: number, words: RegExp): Promise<void> => {
  const { status: given, text } = await answer;
  assert.equal(given, status, text);
  assert.match(text, words);
};

test("a group is created, read, listed, changed and deleted, with every field of the response", async () => {
  const made = await data(
    send("POST", "user-groups", {
      identifier: "ops",
      name: "Operators",
      description: "Nights too",
      tags: { team: "a" },
      users: [guest.id],
    }),
  );
  assert.deepEqual(made, {
    accountIdentifier: platform.accountId,
    orgIdentifier: null,
    projectIdentifier: null,
    identifier: "ops",
    name: "Operators",
    description: "Nights too",
    tags: { team: "a" },
    notificationConfigs: [],
    externallyManaged: false,
    platformManaged: false,
    ssoLinked: false,
    users: [guest.id],
  });
  assert.deepEqual(await data(send("GET", "user-groups/ops")), made);
  const { content } = await data<{ content: { identifier: string }[] }>(send("GET", "user-groups?searchTerm=OPER"));
  assert.deepEqual(content, [made]);
  await refused(send("POST", "user-groups", { identifier: "ops", name: "x" }), 400, /DUPLICATE_FIELD/);
  const changed = await data<typeof made>(send("PUT", "user-groups", { identifier: "ops", name: "Ops", users: [] }));
  assert.deepEqual(changed, { ...(made as object), name: "Ops", description: "", tags: {}, users: [] });
  await data(send("DELETE", "user-groups/ops"));
  await refused(send("GET", "user-groups/ops"), 404, /User group \[ops\] not found/);
  await refused(send("DELETE", "user-groups/ops"), 404, /not found/);
});

test("members are added one by one, by id and by e-mail address, in organizations, too", async () => {
  await data(send("POST", "user-groups?orgIdentifier=default", { identifier: "team", name: "Team" }));
  const path = `user-groups/team/member/${guest.id}?orgIdentifier=default`;
  assert.equal(await data(send("GET", path)), false);
  await data(send("PUT", path));
  await data(send("PUT", path));
  assert.equal(await data(send("GET", path)), true);
  const { content } = await data<{ content: unknown[] }>(
    send("POST", "user-groups/team/users?orgIdentifier=default", {}),
  );
  assert.equal(content.length, 1);
  const v2 = await data<{ users: { uuid: string }[] }>(send("GET", "v2/user-groups/team?orgIdentifier=default"));
  assert.equal(v2.users[0]?.uuid, guest.id);
  await data(send("DELETE", path));
  assert.equal(await data(send("GET", path)), false);
  const byMail = { identifier: "team", name: "Team", users: [guest.email.toUpperCase()] };
  const put = await data<{ users: { email: string }[] }>(send("PUT", "v2/user-groups?orgIdentifier=default", byMail));
  assert.equal(put.users[0]?.email, guest.email);
  await refused(
    send("PUT", "v2/user-groups?orgIdentifier=default", { ...byMail, users: ["unknown@example.com"] }),
    400,
    /no user \[unknown@example.com\]/,
  );
  const unknownId = "AAAAAAAAAAAAAAAAAAAAAA";
  await refused(send("PUT", path.replace(guest.id, unknownId)), 400, /USER_DOES_NOT_EXIST/);
  await refused(send("PUT", path.replace(guest.id, "x")), 400, /USER_DOES_NOT_EXIST/);
  await refused(send("GET", "user-groups/team?orgIdentifier=nowhere"), 404, /not found/);
  await refused(send("POST", "user-groups?orgIdentifier=nowhere", { identifier: "t", name: "t" }), 404, /nowhere/);
  await refused(
    send("POST", "user-groups?orgIdentifier=default", { identifier: "t", name: "t", orgIdentifier: "o" }),
    400,
    /not the one/,
  );
});

test("the built-in group of all users exists in every scope and cannot be changed", async () => {
  for (const [query, identifier] of [
    ["", "_account_all_users"],
    ["?orgIdentifier=default", "_organization_all_users"],
  ]) {
    const group = await data<{ platformManaged: boolean }>(send("GET", `user-groups/${identifier}${query}`));
    assert.equal(group.platformManaged, true);
    const { content } = await data<{ content: { identifier: string }[] }>(send("GET", `user-groups${query}`));
    assert.equal(content[0]?.identifier, identifier);
    await refused(send("DELETE", `user-groups/${identifier}${query}`), 400, /belong to the platform/);
    await refused(send("PUT", `user-groups/${identifier}/member/${guest.id}${query}`), 400, /belong to the platform/);
    await refused(send("POST", `user-groups${query}`, { identifier, name: "mine" }), 400, /belong to the platform/);
    await refused(send("POST", `user-groups/${identifier}/users${query}`, {}), 400, /all users of its scope/);
  }
  const page = await data<{ content: { identifier: string }[]; totalItems: number }>(
    send("GET", "user-groups?pageSize=1&pageIndex=1"),
  );
  assert.notEqual(page.content[0]?.identifier, "_account_all_users");
});

test("grants of a group apply to its members at once, and end at once", async () => {
  await data(send("POST", "user-groups", { identifier: "viewers", name: "Viewers" }));
  const [row] = await platform.db.query<{ id: Uuid }>("select id from user_groups where identifier = 'viewers'");
  const accountId = fromWire(platform.accountId) as Uuid;
  const to = { accountId, userId: row?.id as Uuid, role: "_account_viewer", at: 1 } as const;
  await assignRole(platform.db, to);
  await platform.db.query("update role_assignments set principal_type = 'USER_GROUP' where principal_id = $1", [
    row?.id,
  ]);
  const looks = (): Promise<Answer> => send("GET", "organizations", undefined, guest.apiKey);
  assert.equal((await looks()).status, 403);
  await data(send("PUT", `user-groups/viewers/member/${guest.id}`));
  assert.equal((await looks()).status, 200);
  await data(send("DELETE", `user-groups/viewers/member/${guest.id}`));
  assert.equal((await looks()).status, 403);
  await data(send("PUT", `user-groups/viewers/member/${guest.id}`));
  assert.equal((await looks()).status, 200);
  const second = await platform.replica();
  const there = (): Promise<Answer> => second.send("GET", "/ng/api/organizations", { apiKey: guest.apiKey });
  assert.equal((await there()).status, 200);
  await data(send("DELETE", "user-groups/viewers"));
  assert.equal((await looks()).status, 403);
  platform.clock.advance(1_000);
  assert.equal((await there()).status, 403, "after a second at the latest, on every replica");
});

test("an actor cannot add users to a group that grants more than the actor holds", async () => {
  await data(send("POST", "user-groups", { identifier: "chiefs", name: "Chiefs" }));
  const [row] = await platform.db.query<{ id: Uuid }>("select id from user_groups where identifier = 'chiefs'");
  const accountId = fromWire(platform.accountId) as Uuid;
  await assignRole(platform.db, { accountId, userId: row?.id as Uuid, role: "_account_admin", at: 1 });
  await platform.db.query("update role_assignments set principal_type = 'USER_GROUP' where principal_id = $1", [
    row?.id,
  ]);
  // The user may manage groups and nothing else.
  await platform.db.query(
    `insert into roles (account_id, id, identifier, name, description, tags, permissions, scope_levels, created_at, updated_at)
     values ($1, $1, 'manager', 'm', '', '{}', '{core_usergroup_view,core_usergroup_manage}', '{account}', 1, 1)`,
    [accountId],
  );
  const manager = await platform.addUser("_account_viewer");
  await platform.db.query(
    `update role_assignments set role_identifier = 'manager', role_id = $1
      where principal_id = (select id from users order by id desc limit 1)`,
    [accountId],
  );
  await refused(
    send("PUT", `user-groups/chiefs/member/${guest.id}`, undefined, manager),
    403,
    /You cannot grant core_\w+/,
  );
  assert.equal(await data(send("GET", `user-groups/chiefs/member/${guest.id}`)), false);
  await data(send("POST", "user-groups", { identifier: "plain", name: "Plain", users: [guest.id] }, manager));
  await data(send("PUT", `user-groups/chiefs/member/${guest.id}`));
});

test("GraphQL: the groups of the account, and the same operations", async () => {
  const WHOLE =
    "id name identifier description importedByScim isSSOLinked users { nodes { id email } pageInfo { total } }";
  const ask = async (query: string, input?: object) => {
    const { body } = await platform.graphql(query, input && { input });
    assert.equal(body.errors, undefined, JSON.stringify(body.errors));
    return body.data;
  };
  const { createUserGroup } = await ask(
    `mutation ($input: CreateUserGroupInput!) { createUserGroup(input: $input) { clientMutationId userGroup { ${WHOLE} } } }`,
    { name: "On Call", description: "d", userIds: [guest.id], clientMutationId: "1" },
  );
  assert.equal(createUserGroup.clientMutationId, "1");
  const group = createUserGroup.userGroup;
  assert.equal(group.identifier, "On_Call");
  assert.deepEqual(group.users, { nodes: [{ id: guest.id, email: guest.email }], pageInfo: { total: 1 } });
  assert.deepEqual((await ask(`{ userGroupByName(name: "On Call") { ${WHOLE} } }`)).userGroupByName, group);
  assert.deepEqual((await ask(`{ userGroup(userGroupId: "${group.id}") { ${WHOLE} } }`)).userGroup, group);
  const { userGroups } = await ask("{ userGroups(limit: 100) { nodes { name } pageInfo { total } } }");
  assert.ok(userGroups.nodes.some(({ name }: { name: string }) => name === "On Call"));
  assert.equal(userGroups.pageInfo.total, userGroups.nodes.length);
  const { user } = await ask(`{ user(id: "${guest.id}") { userGroups { nodes { id name } } } }`);
  assert.ok(user.userGroups.nodes.some(({ id }: { id: string }) => id === group.id));
  const change = (verb: string, type: string) =>
    ask(`mutation ($input: ${type}Input!) { ${verb}(input: $input) { userGroup { users { nodes { id } } } } }`, {
      userGroupId: group.id,
      userId: guest.id,
    });
  const gone = await change("removeUserFromUserGroup", "RemoveUserFromUserGroup");
  assert.deepEqual(gone.removeUserFromUserGroup.userGroup.users.nodes, []);
  const back = await change("addUserToUserGroup", "AddUserToUserGroup");
  assert.deepEqual(back.addUserToUserGroup.userGroup.users.nodes, [{ id: guest.id }]);
  const { updateUserGroup } = await ask(
    "mutation ($input: UpdateUserGroupInput!) { updateUserGroup(input: $input) { userGroup { name description } } }",
    { userGroupId: group.id, name: "Off Call" },
  );
  assert.deepEqual(updateUserGroup.userGroup, { name: "Off Call", description: "d" });
  const DELETE = "mutation ($input: DeleteUserGroupInput!) { deleteUserGroup(input: $input) { clientMutationId } }";
  await ask(DELETE, { userGroupId: group.id });
  const { body } = await platform.graphql(DELETE, { input: { userGroupId: group.id } });
  assert.match(body.errors[0].message, /User group \[[\w-]{22}\] not found/);
});

test("GraphQL: the fields that clients of this API family always select and send back", async () => {
  const selected = `id name description importedByScim isSSOLinked
    notificationSettings { groupEmailAddresses microsoftTeamsWebhookUrl sendMailToNewMembers sendNotificationToMembers
      slackNotificationSetting { slackChannelName slackWebhookURL } }
    permissions { accountPermissions { accountPermissionTypes }
      appPermissions { actions permissionType applications { appIds filterType }
        deployments { envIds filterTypes } environments { envIds filterTypes }
        pipelines { envIds filterTypes } workflows { envIds filterTypes }
        provisioners { filterType provisionerIds } services { filterType serviceIds } } }
    ldapSettings: ssoSetting { ... on LDAPSettings { groupDN groupName ssoProviderId } }
    samlSettings: ssoSetting { ... on SAMLSettings { groupName ssoProviderId } }`;
  const mutate = async (verb: string, input: object) => {
    const type = `${verb[0]?.toUpperCase()}${verb.slice(1)}Input`;
    const query = `mutation ($input: ${type}!) { ${verb}(input: $input) { userGroup { ${selected} } } }`;
    return (await platform.graphql(query, { input })).body;
  };
  const flags = { importedByScim: false, isSSOLinked: false };
  const { data: made, errors } = await mutate("createUserGroup", { name: "Selected", description: "", ...flags });
  assert.equal(errors, undefined, JSON.stringify(errors));
  const { id, ...shown } = made.createUserGroup.userGroup;
  const nothing = { notificationSettings: null, permissions: null, ldapSettings: null, samlSettings: null };
  assert.deepEqual(shown, { name: "Selected", description: "", ...flags, ...nothing });
  const read = await platform.graphql(`{ userGroup(userGroupId: "${id}") { ${selected} } }`);
  assert.deepEqual(read.body.data, { userGroup: { id, ...shown } });
  const { data: changed } = await mutate("updateUserGroup", { userGroupId: id, name: "Again", ...flags });
  assert.deepEqual(changed.updateUserGroup.userGroup, { id, ...shown, name: "Again" });
  for (const wrong of [{ importedByScim: true }, { isSSOLinked: true }]) {
    const refusal = await mutate("updateUserGroup", { userGroupId: id, ...wrong });
    assert.match(refusal.errors[0].message, new RegExp(Object.keys(wrong)[0] ?? ""));
  }
});

test("groups of an identity provider are visible, and only the provider changes them", async () => {
  await data(send("POST", "user-groups", { identifier: "pushed", name: "Pushed" }));
  await platform.db.query("update user_groups set externally_managed = true where identifier = 'pushed'");
  const shown = await data<{ externallyManaged: boolean }>(send("GET", "user-groups/pushed"));
  assert.equal(shown.externallyManaged, true);
  const managed = /managed by an identity provider/;
  await refused(send("PUT", "user-groups", { identifier: "pushed", name: "x" }), 400, managed);
  await refused(send("PUT", `user-groups/pushed/member/${guest.id}`), 400, managed);
  await refused(send("DELETE", "user-groups/pushed"), 400, managed);
  await refused(
    send("POST", "user-groups", { identifier: "y", name: "y", externallyManaged: true }),
    400,
    /externallyManaged/,
  );
  await refused(
    send("POST", "user-groups", { identifier: "y", name: "y", notificationConfigs: [{}] }),
    400,
    /notificationConfigs/,
  );
});

test("groups and users of another account are not found", async () => {
  const other = await platform.addAccount();
  const stranger = (method: string, path: string, body?: object): Promise<Answer> =>
    platform.send(method, `/ng/api/${path}`, {
      account: other.accountId,
      apiKey: other.apiKey,
      ...(body ? { body: JSON.stringify(body), contentType: JSON_TYPE } : {}),
    });
  await refused(stranger("GET", "user-groups/pushed"), 404, /not found/);
  await refused(stranger("POST", "user-groups", { identifier: "z", name: "z", users: [guest.id] }), 400, /no user/);
  await refused(
    stranger("POST", "user-groups", { identifier: "z", name: "z", accountIdentifier: platform.accountId }),
    400,
    /not the one/,
  );
});
