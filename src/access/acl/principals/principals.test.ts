/** Who may do what, and why: the lists and explanations say what permission checks find. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml } from "../../../../test/support/contract.ts";
import { serviceToken } from "../../../../test/support/service-accounts.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../../test/support/platform.ts";
import { toWire, type Uuid } from "../../../core/ids.ts";
import { permissions } from "../../grants/permission.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers freely
type Json = any;

const ORG = "?orgIdentifier=default";
const SHOP = `${ORG}&projectIdentifier=shop`;
const IN_SHOP = { orgIdentifier: "default", projectIdentifier: "shop" };

let platform: TestPlatform;
type Person = { readonly id: string; readonly apiKey: string };
/** Each has permissions in another way. */
let [direct, member, above, single, nothing]: Person[] = [];
/** The id of a service account with a role, and its token. */
let robot: Person;

const post = (path: string, body: object): Promise<Json> =>
  made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));
const get = (path: string, apiKey = platform.apiKey): Promise<Answer> => platform.send("GET", path, { apiKey });

/** A user without permissions. */
async function person(): Promise<Person> {
  const apiKey = await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
  return { id: toWire(row.id), apiKey };
}

const assign = (query: string, identifier: string, principal: object, role: string, group: string): Promise<Json> =>
  post(`/authz/api/roleassignments${query}`, {
    ...{ identifier, principal, roleIdentifier: role, resourceGroupIdentifier: group },
  });
const user = ({ id }: Person): object => ({ type: "USER", identifier: id });

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  [direct, member] = [await person(), await person()];
  [above, single, nothing] = [await person(), await person(), await person()];
  assert.ok(direct && member && above && single && nothing);
  await post("/ng/api/user-groups", { identifier: "team", name: "The team", users: [member.id] });
  await post(`/ng/api/serviceaccount${SHOP}`, { identifier: "robot", name: "Robot" });
  await post(`/authz/api/roles${SHOP}`, {
    ...{ identifier: "runner", name: "Runner", permissions: ["core_pipeline_view", "core_pipeline_execute"] },
  });
  await post(`/resourcegroup/api/v2/resourcegroup${SHOP}`, {
    resourceGroup: {
      ...{ identifier: "web", name: "Web", ...IN_SHOP },
      resourceFilter: { resources: [{ resourceType: "PIPELINE", identifiers: ["web"] }] },
    },
  });
  const team = { type: "USER_GROUP", identifier: "team", scopeLevel: "account" };
  const all = { type: "USER_GROUP", identifier: "_project_all_users", scopeLevel: "project" };
  const account = { type: "SERVICE_ACCOUNT", identifier: "robot", scopeLevel: "project" };
  await assign(SHOP, "a_direct", user(direct), "runner", "_all_project_level_resources");
  await assign(SHOP, "a_team", team, "_project_viewer", "_all_project_level_resources");
  await assign("", "a_above", user(above), "_account_viewer", "_all_resources_including_child_scopes");
  await assign(ORG, "a_beside", user(above), "_organization_viewer", "_all_organization_level_resources");
  await assign(SHOP, "a_single", user(single), "runner", "web");
  await assign(SHOP, "a_robot", account, "runner", "web");
  await assign(SHOP, "a_all", all, "_pipeline_executor", "web");
  const listed = await made(get(`/ng/api/serviceaccount${SHOP}`));
  robot = { id: listed[0].uuid, apiKey: await serviceToken(platform, "robot", SHOP.slice(1)) };
  platform.clock.advance(1_000);
});
after(() => platform?.stop());

/** What access.check answers for each permission, on all resources of the scope or on one. */
async function checked(query: string, who: object | null, resourceIdentifier: string | null): Promise<boolean[]> {
  const scope = Object.fromEntries(new URLSearchParams(query));
  const asked = [...permissions.values()].map(({ identifier: permission, resourceType }) => ({
    ...{ permission, resourceType, resourceIdentifier, resourceScope: scope },
  }));
  const { accessControlList } = await post("/authz/api/acl", { permissions: asked, principal: who });
  return accessControlList.map(({ permitted }: Json) => permitted);
}

const levelOf = (query: string): string => (query === "" ? "account" : query === ORG ? "organization" : "project");

/** The permissions that count at the level of the scope. */
const askable = (query: string): readonly (readonly [nth: number, identifier: string])[] =>
  [...permissions.values()].flatMap(({ identifier, levels }, nth) =>
    levels.some((level) => level === levelOf(query)) ? [[nth, identifier] as const] : [],
  );

async function assertOwn(query: string, who: Person, principalType: string): Promise<void> {
  const own = await made(get(`/authz/api/acl/own${query}`, who.apiKey));
  const principal = { principalType, principalIdentifier: who.id };
  const [whole, one] = [await checked(query, principal, null), await checked(query, principal, "web")];
  const asked = askable(query);
  for (const [nth, identifier] of asked) {
    const found = own.permissions.find(({ permission }: Json) => permission === identifier);
    assert.equal(found?.allResources ?? false, whole[nth], `${identifier} ${query}`);
    const isOnOne = found?.allResources || (found?.resourceIdentifiers.includes("web") ?? false);
    assert.equal(isOnOne, one[nth], `${identifier} ${query} web`);
  }
  const known = new Set(asked.map(([, identifier]) => identifier));
  assert.ok(own.permissions.every(({ permission }: Json) => known.has(permission)));
}

test("own permissions are those that checks find, also on single resources", async () => {
  for (const query of ["", ORG, SHOP]) {
    for (const who of [direct, member, above, single, nothing]) await assertOwn(query, who ?? assert.fail(), "USER");
    await assertOwn(query, robot, "SERVICE_ACCOUNT");
  }
  const { permissions: some } = await made(get(`/authz/api/acl/own${SHOP}`, single?.apiKey));
  assert.deepEqual(
    some.find(({ permission }: Json) => permission === "core_pipeline_execute"),
    {
      ...{ permission: "core_pipeline_execute", resourceType: "PIPELINE" },
      ...{ allResources: false, resourceIdentifiers: ["web"] },
    },
  );
  assert.deepEqual((await made(get(`/authz/api/acl/own${SHOP}`, nothing?.apiKey))).permissions, []);
});

const PRINCIPALS = "/authz/api/acl/principals";
const principalsOf = async (query: string, apiKey?: string): Promise<Json> =>
  made(get(`${PRINCIPALS}${query}`, apiKey));
const names = ({ principals }: Json): string[] =>
  principals.content.map(({ roleAssignments }: Json) => roleAssignments.map((one: Json) => one.identifier).join("+"));

test("a list of principals has those with the permission, with what gives it to them", async () => {
  const found = await principalsOf(`${SHOP}&permission=core_pipeline_execute`);
  assert.deepEqual(found.hiddenLevels, []);
  const admin = found.principals.content.filter(({ principal }: Json) => principal.name === "admin");
  assert.equal(admin.length, 1);
  const own = found.principals.content.filter((one: Json) => one !== admin[0]);
  assert.deepEqual(
    names({ principals: { content: own } }).toSorted(),
    ["a_all", "a_direct", "a_robot", "a_single"],
    "neither viewers nor an assignment beside the project",
  );
  const one = own.find(({ roleAssignments }: Json) => roleAssignments[0].identifier === "a_robot");
  assert.deepEqual(one, {
    principal: {
      ...{ type: "SERVICE_ACCOUNT", identifier: "robot", uuid: robot.id, scopeLevel: "project", ...IN_SHOP },
      ...{ name: "Robot", email: "robot@service.railhead.local", active: true },
    },
    permissions: [{ permission: "core_pipeline_execute", resourceType: "PIPELINE", allResources: false }],
    roleAssignments: [
      {
        ...{ identifier: "a_robot", ...IN_SHOP, roleIdentifier: "runner", roleName: "Runner" },
        ...{ roleScopeLevel: "project", resourceGroupIdentifier: "web", resourceGroupName: "Web" },
      },
    ],
    roleAssignmentCount: 1,
  });
  const onWeb = await principalsOf(`${SHOP}&permission=core_pipeline_execute&resourceIdentifier=web`);
  assert.ok(onWeb.principals.content.every(({ permissions: [only] }: Json) => only.allResources));
  const onOther = await principalsOf(`${SHOP}&permission=core_pipeline_execute&resourceIdentifier=other`);
  assert.ok(!names(onOther).includes("a_single"));
  assert.ok(names(onOther).includes("a_direct"));
  assert.deepEqual(names(await principalsOf(`${SHOP}&permission=core_pipeline_execute&searchTerm=rob`)), ["a_robot"]);
  assert.deepEqual(names(await principalsOf(`${SHOP}&principalType=USER_GROUP`)), ["a_all", "a_team"].toSorted());
  const paged = await principalsOf(`${SHOP}&pageSize=1&pageIndex=1`);
  const whole = await principalsOf(SHOP);
  assert.deepEqual(paged.principals.content, [whole.principals.content[1]]);
  assert.equal(paged.principals.totalItems, whole.principals.content.length);
});

test("assignments that the caller may not see are not listed, and the answer says so", async () => {
  const viewer = await platform.addUser("_project_viewer", IN_SHOP);
  const found = await principalsOf(SHOP, viewer);
  assert.deepEqual(found.hiddenLevels, ["account", "organization"]);
  assert.ok(!JSON.stringify(found).includes("a_above"));
  assert.ok(
    found.principals.content.every(({ principal }: Json) => principal.type !== "USER" || principal.email === null),
  );
  const asked = `${SHOP}&permission=core_pipeline_view&principalType=USER&principalIdentifier=${above?.id}`;
  const hidden = await made(get(`/authz/api/acl/explanation${asked}`, viewer));
  assert.deepEqual([hidden.permitted, hidden.hiddenLevels], [null, ["account", "organization"]]);
  assert.ok(!JSON.stringify(hidden).includes("a_above"));
});

async function explained(who: Person | undefined, query: string, type = "USER", apiKey?: string): Promise<Json> {
  const principal = `principalType=${type}&principalIdentifier=${who?.id}`;
  const found = await made(get(`/authz/api/acl/explanation${query}&${principal}`, apiKey));
  const reasons = found.reasons.map(({ roleAssignment, principal: to, effect }: Json) =>
    [roleAssignment.identifier, to.identifier, effect].join(" "),
  );
  return { permitted: found.permitted, reasons: reasons.toSorted() };
}

test("an explanation names each assignment with the permission, its group, and whether it counts", async () => {
  const run = `${SHOP}&permission=core_pipeline_execute`;
  assert.deepEqual(await explained(single, run), {
    permitted: false,
    reasons: ["a_all _project_all_users OTHER_RESOURCES", `a_single ${single?.id} OTHER_RESOURCES`],
  });
  assert.deepEqual((await explained(single, `${run}&resourceIdentifier=web`)).permitted, true);
  assert.deepEqual((await explained(single, `${run}&resourceIdentifier=x`)).reasons, [
    "a_all _project_all_users NONE",
    `a_single ${single?.id} NONE`,
  ]);
  const view = `${SHOP}&permission=core_connector_view`;
  assert.deepEqual(await explained(member, view), {
    permitted: true,
    reasons: ["a_all _project_all_users NONE", "a_team team PERMITS"],
  });
  assert.deepEqual(await explained(above, view), {
    permitted: true,
    reasons: [`a_above ${above?.id} PERMITS`, `a_beside ${above?.id} NONE`],
  });
  assert.deepEqual((await explained(robot, run, "SERVICE_ACCOUNT")).reasons, [`a_robot robot OTHER_RESOURCES`]);
  assert.deepEqual(await explained({ ...robot, id: "robot" }, run, "SERVICE_ACCOUNT"), {
    permitted: false,
    reasons: ["a_robot robot OTHER_RESOURCES"],
  });
  assert.deepEqual(await explained(nothing, run), { permitted: false, reasons: [] });
});

async function assertExplained(query: string, who: Person): Promise<void> {
  const found = await checked(query, { principalType: "USER", principalIdentifier: who.id }, "web");
  for (const [nth, identifier] of askable(query)) {
    const asked = `${query}${query === "" ? "?" : "&"}permission=${identifier}&resourceIdentifier=web`;
    assert.equal((await explained(who, asked)).permitted, found[nth], asked);
  }
}

test("explanations agree with checks", async () => {
  for (const query of ["", ORG, SHOP])
    for (const who of [direct, member, above, single]) await assertExplained(query, who ?? assert.fail());
});

test("everyone may ask about themselves, and nobody without core_role_view about others", async () => {
  const query = `${SHOP}&permission=core_pipeline_execute`;
  const own = await made(get(`/authz/api/acl/explanation${query}`, single?.apiKey));
  assert.equal(own.reasons.length, 2);
  assert.deepEqual((await explained(single, query, "USER", single?.apiKey)).reasons.length, 2);
  const other = `principalType=USER&principalIdentifier=${direct?.id}`;
  for (const path of [`explanation${query}&${other}`, `principals${SHOP}`])
    assert.equal((await get(`/authz/api/acl/${path}`, single?.apiKey)).status, 403, path);
});

test("what does not exist and what does not fit together is refused by name", async () => {
  for (const [path, status, words] of [
    [`explanation${SHOP}&permission=core_x_view`, 400, /core_x_view/],
    [`explanation${SHOP}&permission=core_delegate_view`, 400, /not available at: project/],
    [`explanation${SHOP}`, 400, /permission/],
    [`explanation${SHOP}&permission=core_pipeline_view&principalType=USER`, 400, /principalIdentifier/],
    [`explanation${SHOP}&permission=core_pipeline_view&principalType=USER&principalIdentifier=x`, 400, /no user \[x\]/],
    [`explanation${SHOP}&permission=core_pipeline_view&principalType=USER_GROUP&principalIdentifier=x`, 404, /x/],
    [`explanation${SHOP}&permission=core_pipeline_view&principalType=SERVICE_ACCOUNT&principalIdentifier=x`, 404, /x/],
    [
      `explanation${ORG}&permission=core_pipeline_view&principalType=SERVICE_ACCOUNT&principalIdentifier=robot`,
      404,
      /robot/,
    ],
    [`principals${SHOP}&resourceIdentifier=web`, 400, /resourceType/],
    [`principals${SHOP}&permission=core_pipeline_view&resourceType=SECRET`, 400, /PIPELINE, not SECRET/],
    [`principals${SHOP}&principalType=NOBODY`, 400, /principalType/],
    [`principals${ORG}&projectIdentifier=none`, 404, /none/],
  ] as const) {
    const answer = await get(`/authz/api/acl/${path}`);
    assert.equal(answer.status, status, `${path}: ${answer.text}`);
    assert.match(answer.text, words);
  }
  const other = await platform.addAccount();
  const asOther = { apiKey: other.apiKey, account: other.accountId };
  const path = `/authz/api/acl/explanation?permission=core_user_view&principalType=USER&principalIdentifier=${direct?.id}`;
  assert.equal((await platform.send("GET", path, asOther)).status, 400);
});
