/** Roles, resource groups and assignments over REST: grants, refusals, and the last administrator. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connectorYaml, create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { toWire, type Uuid } from "../../core/ids.ts";

let platform: TestPlatform;
type Person = { readonly id: string; readonly apiKey: string };
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  for (const identifier of ["one", "two"])
    await made(
      create.connector(platform, connectorYaml(identifier, "  orgIdentifier: default\n  projectIdentifier: shop\n")),
    );
});
after(() => platform?.stop());

/** A user without permissions. */
async function person(): Promise<Person> {
  const apiKey = await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
  return { id: toWire(row.id), apiKey };
}

const send = (method: string, path: string, body?: object, apiKey?: string): Promise<Answer> =>
  platform.send(method, path, {
    ...(body ? { body: JSON.stringify(body), contentType: JSON_TYPE } : {}),
    ...(apiKey === undefined ? {} : { apiKey }),
  });
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers freely
async function data(answer: Promise<Answer>): Promise<any> {
  const { status, text, body } = await answer;
  assert.equal(status, 200, text);
  return body.data;
}
async function refused(answer: Promise<Answer>, status: number, words: RegExp): Promise<void> {
  const { status: given, text } = await answer;
  assert.equal(given, status, text);
  assert.match(text, words);
}

const ROLES = "/authz/api/roles";
const GROUPS = "/resourcegroup/api/v2/resourcegroup";
const ASSIGNMENTS = "/authz/api/roleassignments";
const SHOP = "?orgIdentifier=default&projectIdentifier=shop";
const ORG = "?orgIdentifier=default";

const assign = (who: string, role: string, group: string, query = "", apiKey?: string): Promise<Answer> =>
  send(
    "POST",
    `${ASSIGNMENTS}${query}`,
    { principal: { identifier: who, type: "USER" }, roleIdentifier: role, resourceGroupIdentifier: group },
    apiKey,
  );

test("the built-in roles and groups of each level are complete and cannot be changed", async () => {
  for (const [query, roles, groups] of [
    [
      "",
      ["_account_admin", "_account_viewer"],
      ["_all_resources_including_child_scopes", "_all_account_level_resources"],
    ],
    [
      ORG,
      ["_organization_admin", "_organization_viewer"],
      ["_all_resources_including_child_scopes", "_all_organization_level_resources"],
    ],
    [SHOP, ["_project_admin", "_project_viewer", "_pipeline_executor"], ["_all_project_level_resources"]],
  ] as const) {
    const { content } = await data(send("GET", `${ROLES}${query}`));
    assert.deepEqual(
      content.map(({ role }: { role: { identifier: string } }) => role.identifier),
      roles,
    );
    assert.ok(content.every(({ platformManaged }: { platformManaged: boolean }) => platformManaged));
    const listed = await data(send("GET", `${GROUPS}${query}`));
    assert.deepEqual(
      listed.content.map(({ resourceGroup }: { resourceGroup: { identifier: string } }) => resourceGroup.identifier),
      groups,
    );
    const [role, group] = [roles[0], groups[0]];
    const body = { identifier: role, name: "mine", permissions: ["core_pipeline_view"] };
    await refused(send("PUT", `${ROLES}/${role}${query}`, body), 400, /belong to the platform/);
    await refused(send("DELETE", `${ROLES}/${role}${query}`), 400, /belong to the platform/);
    await refused(send("POST", `${ROLES}${query}`, body), 400, /belong to the platform/);
    const resourceGroup = { identifier: group, name: "mine" };
    await refused(send("PUT", `${GROUPS}/${group}${query}`, { resourceGroup }), 400, /belong to the platform/);
    await refused(send("DELETE", `${GROUPS}/${group}${query}`), 400, /belong to the platform/);
  }
  const viewer = await data(send("GET", `${ROLES}/_project_viewer${SHOP}`));
  assert.ok(viewer.role.permissions.every((permission: string) => permission.endsWith("_view")));
  const permissions = await data(send("GET", "/authz/api/permissions"));
  assert.ok(permissions.length > 50);
  const types = await data(send("GET", "/authz/api/permissions/resourcetypes"));
  const { resourceTypes } = await data(send("GET", "/resourcegroup/api/resourcetype"));
  assert.deepEqual(
    resourceTypes.map(({ name }: { name: string }) => name),
    types,
  );
});

test("a custom role is created, read, changed and assigned, and cannot be deleted while it is assigned", async () => {
  const body = {
    identifier: "looker",
    name: "Looker",
    permissions: ["core_connector_view"],
    allowedScopeLevels: ["project"],
  };
  const { role, platformManaged, scope } = await data(send("POST", `${ROLES}${SHOP}`, body));
  assert.deepEqual(role, { ...body, description: "", tags: {} });
  assert.deepEqual([platformManaged, scope.projectIdentifier], [false, "shop"]);
  await refused(send("POST", `${ROLES}${SHOP}`, body), 400, /DUPLICATE_FIELD/);
  const ada = await person();
  const looks = (): Promise<Answer> => send("GET", `/ng/api/connectors/one${SHOP}`, undefined, ada.apiKey);
  await refused(looks(), 403, /core_connector_view/);
  const { roleAssignment } = await data(assign(ada.id, "looker", "_all_project_level_resources", SHOP));
  assert.match(roleAssignment.identifier, /^role_assignment_/);
  assert.equal((await looks()).status, 200);
  await refused(assign(ada.id, "looker", "_all_project_level_resources", SHOP), 400, /already has this role/);
  await refused(send("DELETE", `${ROLES}/looker${SHOP}`), 402, /used by 1 role assignments/);
  await data(send("PUT", `${ROLES}/looker${SHOP}`, { ...body, permissions: ["core_secret_view"] }));
  await refused(looks(), 403, /core_connector_view/);
  await data(send("DELETE", `${ASSIGNMENTS}/${roleAssignment.identifier}${SHOP}`));
  await data(send("DELETE", `${ROLES}/looker${SHOP}`));
  await refused(send("GET", `${ROLES}/looker${SHOP}`), 404, /not found/);
  for (const [permissions, words] of [
    [["core_everything_view"], /does not exist/],
    [["core_organization_create"], /is not available at: project/],
  ] as const)
    await refused(send("POST", `${ROLES}${SHOP}`, { ...body, permissions }), 400, words);
  await refused(
    send("POST", `${ROLES}${SHOP}`, { ...body, allowedScopeLevels: ["account"] }),
    400,
    /above its own scope/,
  );
});

test("a body that names another role or group than the path is refused, and neither changes", async () => {
  const role = { name: "Named", permissions: ["core_connector_view"], allowedScopeLevels: ["project"] };
  for (const identifier of ["named", "meant"]) await data(send("POST", `${ROLES}${SHOP}`, { ...role, identifier }));
  const wider = { ...role, identifier: "meant", permissions: ["core_secret_view"] };
  await refused(send("PUT", `${ROLES}/named${SHOP}`, wider), 400, /named.*meant|meant.*named/);
  for (const identifier of ["named", "meant"]) {
    const now = await data(send("GET", `${ROLES}/${identifier}${SHOP}`));
    assert.deepEqual(now.role.permissions, role.permissions, identifier);
  }
  const group = (identifier: string, resourceType: string): object => ({
    resourceGroup: {
      identifier,
      name: identifier,
      orgIdentifier: "default",
      projectIdentifier: "shop",
      resourceFilter: { includeAllResources: false, resources: [{ resourceType }] },
      includedScopes: [{ filter: "EXCLUDING_CHILD_SCOPES", orgIdentifier: "default", projectIdentifier: "shop" }],
    },
  });
  for (const identifier of ["named", "meant"])
    await data(send("POST", `${GROUPS}${SHOP}`, group(identifier, "SECRET")));
  await refused(send("PUT", `${GROUPS}/named${SHOP}`, group("meant", "CONNECTOR")), 400, /named.*meant|meant.*named/);
  for (const identifier of ["named", "meant"]) {
    const now = await data(send("GET", `${GROUPS}/${identifier}${SHOP}`));
    assert.equal(now.resourceGroup.resourceFilter.resources[0].resourceType, "SECRET", identifier);
  }
});

test("a role of the account is assigned in a project if its levels allow it", async () => {
  const body = { identifier: "shared", name: "Shared", permissions: ["core_connector_view"] };
  await data(send("POST", ROLES, { ...body, allowedScopeLevels: ["account", "project"] }));
  const ada = await person();
  const input = {
    principal: { identifier: ada.id, type: "USER" },
    roleReference: { identifier: "shared", scopeLevel: "account" },
    resourceGroupIdentifier: "_all_project_level_resources",
  };
  await data(send("POST", `${ASSIGNMENTS}${SHOP}`, input));
  assert.equal((await send("GET", `/ng/api/connectors/one${SHOP}`, undefined, ada.apiKey)).status, 200);
  const inOrg = { ...input, resourceGroupIdentifier: "_all_organization_level_resources" };
  await refused(send("POST", `${ASSIGNMENTS}${ORG}`, inOrg), 400, /cannot be assigned at this level/);
  const { roles, roleAssignments } = await data(send("POST", `${ASSIGNMENTS}/aggregate${SHOP}`, {}));
  assert.ok(roleAssignments.length > 0 && Array.isArray(roles));
});

test("a resource group with single resources grants those, and lists show no others", async () => {
  const resourceGroup = {
    identifier: "first",
    name: "First",
    includedScopes: [{ filter: "EXCLUDING_CHILD_SCOPES", orgIdentifier: "default", projectIdentifier: "shop" }],
    resourceFilter: { resources: [{ resourceType: "CONNECTOR", identifiers: ["one"] }] },
  };
  await data(send("POST", `${GROUPS}${SHOP}`, { resourceGroup }));
  const ada = await person();
  await data(assign(ada.id, "_project_viewer", "first", SHOP));
  const get = (path: string): Promise<Answer> => send("GET", `/ng/api/connectors${path}`, undefined, ada.apiKey);
  assert.equal((await get(`/one${SHOP}`)).status, 200);
  await refused(get(`/two${SHOP}`), 403, /core_connector_view/);
  await refused(get(`/none${SHOP}`), 403, /core_connector_view/);
  const { content, totalItems } = await data(get(SHOP));
  assert.deepEqual(
    content.map(({ connector }: { connector: { identifier: string } }) => connector.identifier),
    ["one"],
  );
  assert.equal(totalItems, 1);
  await refused(send("GET", `/ng/api/v2/secrets${SHOP}`, undefined, ada.apiKey), 403, /core_secret_view/);
  await refused(send("DELETE", `${GROUPS}/first${SHOP}`), 402, /used by 1/);
  const second = [{ resourceType: "CONNECTOR", identifiers: ["two"] }];
  await data(
    send("PUT", `${GROUPS}/first${SHOP}`, {
      resourceGroup: { ...resourceGroup, resourceFilter: { resources: second } },
    }),
  );
  assert.equal((await get(`/two${SHOP}`)).status, 200);
});

test("single resources are named in the group's own scope only, and a group cannot include other scopes", async () => {
  const resourceFilter = { resources: [{ resourceType: "CONNECTOR", identifiers: ["one"] }] };
  const group = (includedScopes: object[], more: object = {}) => ({
    resourceGroup: { identifier: "dynamic", name: "d", includedScopes, ...more },
  });
  const [below, own] = [{ filter: "INCLUDING_CHILD_SCOPES" }, { filter: "EXCLUDING_CHILD_SCOPES" }];
  const words = /Cannot provide specific identifiers in resource filter for a dynamic scope/;
  await refused(send("POST", GROUPS, group([below], { resourceFilter })), 400, words);
  await refused(send("POST", GROUPS, group([{ ...own, orgIdentifier: "default" }], { resourceFilter })), 400, words);
  await refused(
    send("POST", GROUPS, group([own, { ...own, orgIdentifier: "default" }], { resourceFilter })),
    400,
    words,
  );
  await refused(send("POST", `${GROUPS}${SHOP}`, group([own])), 400, /covers only resources/);
  await refused(
    send("POST", `${GROUPS}${ORG}`, group([{ ...below, orgIdentifier: "other" }])),
    400,
    /covers only resources/,
  );
  await data(send("POST", GROUPS, group([below], { resourceFilter: { includeAllResources: true } })));
  const { content } = await data(send("POST", `${GROUPS}/filter`, { managedFilter: "ONLY_CUSTOM" }));
  assert.deepEqual(
    content.map((one: { resourceGroup: { identifier: string } }) => one.resourceGroup.identifier),
    ["dynamic"],
  );
  await data(send("DELETE", `${GROUPS}/dynamic`));
});

test("an actor cannot grant more than they hold: by assigning, by changing a role, by widening a group", async () => {
  const [ada, bob] = [await person(), await person()];
  const permissions = [
    "core_user_manage",
    "core_role_view",
    "core_role_edit",
    "core_resourcegroup_edit",
    "core_connector_view",
  ];
  await data(send("POST", `${ROLES}${SHOP}`, { identifier: "deputy", name: "Deputy", permissions }));
  await data(assign(ada.id, "deputy", "_all_project_level_resources", SHOP));
  const beyond = /You cannot grant core_\w+/;
  await refused(assign(bob.id, "_project_admin", "_all_project_level_resources", SHOP, ada.apiKey), 403, beyond);
  await refused(assign(ada.id, "_project_admin", "_all_project_level_resources", SHOP, ada.apiKey), 403, beyond);
  await refused(
    assign(ada.id, "_account_admin", "_all_account_level_resources", "", ada.apiKey),
    403,
    /core_user_manage/,
  );
  const check = {
    roleAssignment: {
      principal: { identifier: bob.id, type: "USER" },
      roleIdentifier: "_project_admin",
      resourceGroupIdentifier: "_all_project_level_resources",
    },
  };
  await refused(send("POST", `${ASSIGNMENTS}/validate${SHOP}`, check, ada.apiKey), 403, beyond);
  const many = { roleAssignments: [check.roleAssignment] };
  await refused(send("POST", `${ASSIGNMENTS}/multi${SHOP}`, many, ada.apiKey), 403, beyond);
  const more = { identifier: "deputy", name: "Deputy", permissions: [...permissions, "core_pipeline_delete"] };
  await refused(send("PUT", `${ROLES}/deputy${SHOP}`, more, ada.apiKey), 403, beyond);
  // An unassigned role grants nothing, and only an actor who holds its permissions can assign it.
  const strong = { identifier: "strong", name: "Strong", permissions: ["core_pipeline_delete"] };
  await data(send("POST", `${ROLES}${SHOP}`, strong, ada.apiKey));
  await refused(assign(ada.id, "strong", "_all_project_level_resources", SHOP, ada.apiKey), 403, beyond);
  await data(assign(bob.id, "deputy", "_all_project_level_resources", SHOP, ada.apiKey));
  const included = [{ filter: "EXCLUDING_CHILD_SCOPES", orgIdentifier: "default", projectIdentifier: "shop" }];
  const resources = (types: string[]) => ({ resources: types.map((resourceType) => ({ resourceType })) });
  const narrow = {
    identifier: "narrow",
    name: "Narrow",
    includedScopes: included,
    resourceFilter: resources(["CONNECTOR"]),
  };
  await data(send("POST", `${GROUPS}${SHOP}`, { resourceGroup: narrow }));
  await data(assign(ada.id, "_project_admin", "narrow", SHOP));
  const wide = { ...narrow, resourceFilter: { includeAllResources: true } };
  await refused(send("PUT", `${GROUPS}/narrow${SHOP}`, { resourceGroup: wide }, ada.apiKey), 403, beyond);
});

test("a first role in a project or organization also grants what its built-in group of all users has", async () => {
  const [giver, newcomer, member] = [await person(), await person(), await person()];
  const permissions = ["core_user_manage", "core_usergroup_manage", "core_usergroup_view", "core_user_view"];
  const role = { name: "Keeper", permissions };
  await data(send("POST", ROLES, { ...role, identifier: "keeper", allowedScopeLevels: ["account"] }));
  const little = { identifier: "little", name: "Little", permissions: ["core_user_view"] };
  for (const query of [SHOP, ORG]) await data(send("POST", `${ROLES}${query}`, little));
  await data(assign(giver.id, "keeper", "_all_resources_including_child_scopes"));
  const IN_SHOP = "_all_project_level_resources";
  await data(assign(member.id, "little", IN_SHOP, SHOP));
  const toAll = async (level: string, group: string, query: string): Promise<string> => {
    const principal = { identifier: `_${level}_all_users`, type: "USER_GROUP", scopeLevel: level };
    const body = { principal, roleIdentifier: `_${level}_viewer`, resourceGroupIdentifier: group };
    return (await data(send("POST", `${ASSIGNMENTS}${query}`, body))).roleAssignment.identifier;
  };
  const BEYOND = /You cannot grant core_\w+/;
  for (const [level, group, query] of [
    ["project", IN_SHOP, SHOP],
    ["organization", "_all_organization_level_resources", ORG],
  ] as const) {
    const identifier = await toAll(level, group, query);
    platform.clock.advance(1_000);
    await refused(assign(newcomer.id, "little", group, query, giver.apiKey), 403, BEYOND);
    await refused(assign(newcomer.id, "little", IN_SHOP, SHOP, giver.apiKey), 403, BEYOND);
    // A group that gets its first role there, and a user who joins a group that has one.
    const crew = { identifier: `crew_${level}`, name: "Crew", users: [newcomer.id] };
    await data(send("POST", "/ng/api/user-groups", crew, giver.apiKey));
    const principal = { identifier: crew.identifier, type: "USER_GROUP", scopeLevel: "account" };
    const body = { principal, roleIdentifier: "little", resourceGroupIdentifier: group };
    await refused(send("POST", `${ASSIGNMENTS}${query}`, body, giver.apiKey), 403, BEYOND);
    await data(send("PUT", "/ng/api/user-groups", { ...crew, users: [] }));
    await data(send("POST", `${ASSIGNMENTS}${query}`, body));
    await refused(send("PUT", "/ng/api/user-groups", crew, giver.apiKey), 403, BEYOND);
    await data(send("DELETE", `/ng/api/user-groups/${crew.identifier}`));
    // A user with a role there already gets nothing in addition.
    const further = { identifier: `further_${level}`, name: "Further", permissions: ["core_user_view"] };
    await data(send("POST", `${ROLES}${SHOP}`, further));
    await data(assign(member.id, further.identifier, IN_SHOP, SHOP, giver.apiKey));
    await data(send("DELETE", `${ASSIGNMENTS}/${identifier}${query}`));
  }
  await data(assign(newcomer.id, "little", IN_SHOP, SHOP, giver.apiKey));
});

test("of a role change and an assignment at the same time, neither grants more than the actor holds", async () => {
  const ada = await person();
  const permissions = ["core_user_manage", "core_role_view", "core_role_edit"];
  await data(send("POST", `${ROLES}${SHOP}`, { identifier: "racer", name: "Racer", permissions }));
  await data(assign(ada.id, "racer", "_all_project_level_resources", SHOP));
  for (let round = 0; round < 10; round += 1) {
    const identifier = `race_${round}`;
    await data(send("POST", `${ROLES}${SHOP}`, { identifier, name: "x", permissions: ["core_role_view"] }, ada.apiKey));
    const changed = { identifier, name: "x", permissions: ["core_pipeline_delete"] };
    await Promise.all([
      send("PUT", `${ROLES}/${identifier}${SHOP}`, changed, ada.apiKey),
      assign(ada.id, identifier, "_all_project_level_resources", SHOP, ada.apiKey),
    ]);
    const { accessControlList } = await data(
      send(
        "POST",
        "/authz/api/acl",
        {
          permissions: [
            {
              permission: "core_pipeline_delete",
              resourceType: "PIPELINE",
              resourceScope: { orgIdentifier: "default", projectIdentifier: "shop" },
            },
          ],
        },
        ada.apiKey,
      ),
    );
    assert.equal(accessControlList[0].permitted, false, `round ${round}`);
  }
});

test("assignments are filtered and read; unknown names are refused", async () => {
  const ada = await person();
  const mine = { principal: { identifier: ada.id, type: "USER" } };
  const body = {
    ...mine,
    roleIdentifier: "_organization_viewer",
    resourceGroupIdentifier: "_all_organization_level_resources",
  };
  const { roleAssignment } = await data(
    send("POST", `${ASSIGNMENTS}${ORG}`, { ...body, identifier: "ada_looks", disabled: true }),
  );
  assert.deepEqual(roleAssignment, {
    identifier: "ada_looks",
    resourceGroupIdentifier: "_all_organization_level_resources",
    roleIdentifier: "_organization_viewer",
    roleReference: { identifier: "_organization_viewer", scopeLevel: "organization" },
    principal: { identifier: ada.id, type: "USER", scopeLevel: "account" },
    disabled: true,
    managed: false,
  });
  await refused(send("GET", `/ng/api/connectors${ORG}`, undefined, ada.apiKey), 403, /core_connector_view/);
  for (const path of ["filter", "v2/filter"])
    for (const [filter, total] of [
      [{ principalFilter: [mine.principal] }, 1],
      [{ disabledFilter: [true] }, 1],
      [{ disabledFilter: [false], principalFilter: [mine.principal] }, 0],
      [{ roleFilter: ["_organization_admin"] }, 0],
      [{ resourceGroupFilter: ["_all_organization_level_resources"], principalTypeFilter: ["USER"] }, 1],
      [{ platformManagedFilter: [true] }, 0],
    ] as const)
      assert.equal(
        (await data(send("POST", `${ASSIGNMENTS}/${path}${ORG}`, filter))).totalItems,
        total,
        JSON.stringify(filter),
      );
  assert.equal((await data(send("GET", `${ASSIGNMENTS}/ada_looks${ORG}`))).roleAssignment.identifier, "ada_looks");
  for (const [more, status, words] of [
    [{ principal: { identifier: "AAAAAAAAAAAAAAAAAAAAAA", type: "USER" } }, 400, /no user/],
    [{ principal: { identifier: "none", type: "USER_GROUP" } }, 404, /not found/],
    [{ principal: { identifier: "none", type: "SERVICE_ACCOUNT" } }, 400, /Service account \[none\] not found/],
    [{ principal: { identifier: "x", type: "API_KEY" } }, 400, /principal.type/],
    [{ principal: { identifier: "_project_all_users", type: "USER_GROUP" } }, 404, /not found/],
    [
      { principal: { identifier: "ops", type: "USER_GROUP", scopeLevel: "project" } },
      400,
      /A principal of the project cannot be assigned above it/,
    ],
    [
      { roleIdentifier: "ops", roleReference: { identifier: "ops", scopeLevel: "project" } },
      400,
      /A role of the project cannot be assigned above it/,
    ],
    [{ roleIdentifier: "none" }, 404, /Role \[none\]/],
    [{ roleIdentifier: "_account_admin" }, 400, /none of this level/],
    [{ resourceGroupIdentifier: "none" }, 404, /Resource group \[none\]/],
    [{ resourceGroupIdentifier: "_all_account_level_resources" }, 400, /none of this level/],
    [{ managed: true }, 400, /managed/],
  ] as const)
    await refused(send("POST", `${ASSIGNMENTS}${ORG}`, { ...body, ...more }), status, words);
  await refused(send("DELETE", `${ASSIGNMENTS}/none${ORG}`), 404, /not found/);
});

test("all users of the account, of an organization, of a project get the roles of its built-in group", async () => {
  const ada = await person();
  const looks = (path: string): Promise<Answer> => send("GET", path, undefined, ada.apiKey);
  const everybody = (identifier: string, role: string, group: string, query: string): Promise<Answer> =>
    send("POST", `${ASSIGNMENTS}${query}`, {
      identifier: `of_${identifier}`,
      principal: { identifier, type: "USER_GROUP" },
      roleIdentifier: role,
      resourceGroupIdentifier: group,
    });
  await data(everybody("_project_all_users", "_project_viewer", "_all_project_level_resources", SHOP));
  await refused(looks(`/ng/api/connectors/one${SHOP}`), 403, /core_connector_view/);
  const { roleAssignment } = await data(assign(ada.id, "_pipeline_executor", "_all_project_level_resources", SHOP));
  assert.equal((await looks(`/ng/api/settings${SHOP}&category=CORE`)).status !== 403, true, "a member now");
  await data(send("DELETE", `${ASSIGNMENTS}/${roleAssignment.identifier}${SHOP}`));
  await refused(looks(`/ng/api/connectors/one${SHOP}`), 403, /core_connector_view/);
  await data(everybody("_account_all_users", "_account_viewer", "_all_account_level_resources", ""));
  assert.equal((await looks("/ng/api/connectors")).status, 200);
  await refused(looks(`/ng/api/connectors/one${SHOP}`), 403, /core_connector_view/);
  await data(send("DELETE", `${ASSIGNMENTS}/of__account_all_users`));
});

test("every actor may check their own access; checking others requires permission to view roles", async () => {
  const [ada, bob] = [await person(), await person()];
  await data(assign(ada.id, "_project_viewer", "_all_project_level_resources", SHOP));
  const resourceScope = { orgIdentifier: "default", projectIdentifier: "shop" };
  const permissions = [
    { permission: "core_connector_view", resourceType: "CONNECTOR", resourceScope },
    { permission: "core_connector_edit", resourceType: "CONNECTOR", resourceScope },
    { permission: "core_connector_view", resourceType: "CONNECTOR" },
    { permission: "core_nothing_view", resourceType: "CONNECTOR", resourceScope },
  ];
  const principal = { principalIdentifier: ada.id, principalType: "USER" };
  for (const [body, key] of [
    [{ permissions }, ada.apiKey],
    [{ permissions, principal }, undefined],
  ] as const) {
    const { accessControlList } = await data(send("POST", "/authz/api/acl", body, key));
    assert.deepEqual(
      accessControlList.map(({ permitted }: { permitted: boolean }) => permitted),
      [true, false, false, false],
    );
  }
  await refused(send("POST", "/authz/api/acl", { permissions, principal }, bob.apiKey), 403, /core_role_view/);
});

test("the last administrator stays, however it is removed", async () => {
  const admins = async () => {
    const { content } = await data(send("POST", `${ASSIGNMENTS}/filter`, { roleFilter: ["_account_admin"] }));
    return content.map((one: { roleAssignment: { identifier: string } }) => one.roleAssignment.identifier);
  };
  const [only] = await admins();
  await refused(send("DELETE", `${ASSIGNMENTS}/${only}`), 400, /At least one active user/);
  const ada = await person();
  await data(send("POST", "/ng/api/user-groups", { identifier: "admins", name: "Admins", users: [ada.id] }));
  await data(
    send("POST", ASSIGNMENTS, {
      principal: { identifier: "admins", type: "USER_GROUP" },
      roleIdentifier: "_account_admin",
      resourceGroupIdentifier: "_all_resources_including_child_scopes",
    }),
  );
  await data(send("DELETE", `${ASSIGNMENTS}/${only}`));
  const as = (method: string, path: string): Promise<Answer> => send(method, path, undefined, ada.apiKey);
  await refused(as("DELETE", `/ng/api/user-groups/admins/member/${ada.id}`), 400, /At least one active user/);
  await refused(as("DELETE", "/ng/api/user-groups/admins"), 400, /At least one active user/);
});
