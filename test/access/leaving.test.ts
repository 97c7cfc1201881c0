/**
 * A deleted resource is removed from all resource groups, so that a new resource with its identifier is not given to
 * holders of a role over the old one. Covers every type that groups can name and every way to delete.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { toWire, type Uuid } from "../../src/core/ids.ts";
import { operationsOf, readDocument } from "../contract/operations.ts";
import {
  connectorYaml,
  create,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../support/contract.ts";
import { until } from "../support/until.ts";
import { requestDuringChange } from "../support/request-during-change.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml("host")));
  await made(create.trigger(platform, "host", triggerYaml("host")));
  await made(create.inputSet(platform, "host", inputSetYaml("host", "authored")));
});
after(() => platform?.stop());

const [ACCOUNT, ORG] = ["", "orgIdentifier=default"];
const SHOP = `${ORG}&projectIdentifier=shop`;
const IN_SHOP = "  orgIdentifier: default\n  projectIdentifier: shop\n";
const GROUPS = "/resourcegroup/api/v2/resourcegroup";

const send = (method: string, path: string, body?: object, apiKey?: string): Promise<Answer> =>
  platform.send(method, path, {
    ...(body ? { body: JSON.stringify(body), contentType: JSON_TYPE } : {}),
    ...(apiKey === undefined ? {} : { apiKey }),
  });
async function done(answer: Promise<Answer>): Promise<Answer> {
  const { status, text } = await answer;
  assert.ok(status >= 200 && status < 300, text);
  return answer;
}
async function mutation(name: string, input: object, asked = "clientMutationId") {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
  const { body, text } = await platform.graphql(`mutation ($input: ${type}) { ${name}(input: $input) { ${asked} } }`, {
    input,
  });
  assert.equal(body.errors, undefined, text);
  return body.data[name];
}

/** The identifier of the resource in groups, and the id or name by which it is deleted. */
type Made = { readonly named: string; readonly key: string };
type Way = {
  readonly type: string;
  readonly at: string;
  readonly make: (identifier: string) => Promise<unknown>;
  readonly remove: (key: string) => Promise<unknown>;
};

const alike = (type: string, at: string, path: string, make: Way["make"]): Way => ({
  ...{ type, at, make },
  remove: (key) => done(send("DELETE", `${path}/${key}?${at}`)),
});

const v1 = (base: string): Way => ({
  ...{ type: "PIPELINE", at: SHOP, make: pipeline },
  remove: (key) => done(send("DELETE", `${base}/orgs/default/projects/shop/pipelines/${key}`)),
});

async function person(identifier: string): Promise<Made> {
  await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row, identifier);
  return { named: toWire(row.id), key: toWire(row.id) };
}
async function inDirectory(kind: string, body: object): Promise<string> {
  const path = `/ng/api/scim/account/${platform.accountId}/${kind}`;
  const options = { body: JSON.stringify(body), contentType: "application/scim+json" };
  return (await done(platform.send("POST", path, options))).body.id;
}
const directoryGroup = async (name: string): Promise<Made> => ({
  named: name,
  key: await inDirectory("Groups", {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
    displayName: name,
  }),
});
async function directoryPerson(name: string): Promise<Made> {
  const schemas = ["urn:ietf:params:scim:schemas:core:2.0:User"];
  const id = await inDirectory("Users", { schemas, userName: `${name}@example.com`, active: true });
  return { named: id, key: id };
}
const scim = (type: string, kind: string, base: string, make: Way["make"]): Way => ({
  ...{ type, at: ACCOUNT, make },
  remove: (key) => done(send("DELETE", `${base}/scim/account/${platform.accountId}/${kind}/${key}`)),
});

const pipeline = (identifier: string): Promise<unknown> => made(create.pipeline(platform, pipelineYaml(identifier)));
const userGroup = (identifier: string): Promise<Answer> =>
  done(send("POST", "/ng/api/user-groups", { identifier, name: identifier, users: [] }));
const project = (identifier: string): Promise<unknown> =>
  made(create.project(platform, projectYaml(identifier).replace("The shop", identifier)));
const secret = (identifier: string): Promise<Answer> =>
  done(
    send("POST", `/ng/api/v2/secrets?${SHOP}`, {
      secret: {
        ...{ type: "SecretText", name: identifier, identifier },
        ...{ orgIdentifier: "default", projectIdentifier: "shop" },
        spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" },
      },
    }),
  );

/** Every operation that deletes a type that resource groups can name. */
const WAYS: Readonly<Record<string, Way>> = {
  "organization.delete": alike("ORGANIZATION", ACCOUNT, "/ng/api/organizations", (identifier) =>
    done(send("POST", "/ng/api/organizations", { organization: { identifier, name: identifier } })),
  ),
  "project.delete": alike("PROJECT", ORG, "/ng/api/projects", project),
  "mutation deleteApplication": {
    ...{ type: "PROJECT", at: ORG },
    make: async (name) => {
      const { application } = await mutation("createApplication", { name }, "application { id }");
      return { named: name, key: application.id };
    },
    remove: (applicationId) => mutation("deleteApplication", { applicationId }),
  },
  "user.delete": alike("USER", ACCOUNT, "/ng/api/user", person),
  "mutation deleteUser": {
    ...{ type: "USER", at: ACCOUNT, make: person },
    remove: (id) => mutation("deleteUser", { id }),
  },
  "scim-user.delete": scim("USER", "Users", "/ng/api", directoryPerson),
  "scim-older-user.delete": scim("USER", "Users", "/api", directoryPerson),
  "user-group.delete": alike("USERGROUP", ACCOUNT, "/ng/api/user-groups", userGroup),
  "user-group-v2.delete": alike("USERGROUP", ACCOUNT, "/ng/api/v2/user-groups", userGroup),
  "mutation deleteUserGroup": {
    ...{ type: "USERGROUP", at: ACCOUNT },
    make: async (name) => {
      const { userGroup: group } = await mutation("createUserGroup", { name }, "userGroup { id }");
      return { named: name, key: group.id };
    },
    remove: (userGroupId) => mutation("deleteUserGroup", { userGroupId }),
  },
  "scim-group.delete": scim("USERGROUP", "Groups", "/ng/api", directoryGroup),
  "scim-older-group.delete": scim("USERGROUP", "Groups", "/api", directoryGroup),
  "role.delete": alike("ROLE", SHOP, "/authz/api/roles", (identifier) =>
    done(send("POST", `/authz/api/roles?${SHOP}`, { identifier, name: identifier, permissions: [] })),
  ),
  "resource-group.delete": alike("RESOURCEGROUP", SHOP, GROUPS, (identifier) => group(identifier, SHOP, [])),
  "resource-group-v2.delete": alike("RESOURCEGROUP", SHOP, "/authz/api/v2/resourcegroup", (identifier) =>
    group(identifier, SHOP, []),
  ),
  "service-account.delete": alike("SERVICEACCOUNT", SHOP, "/ng/api/serviceaccount", (identifier) =>
    done(send("POST", `/ng/api/serviceaccount?${SHOP}`, { identifier, name: identifier })),
  ),
  "pipeline.delete": alike("PIPELINE", SHOP, "/pipeline/api/pipelines", pipeline),
  "pipeline-v1.delete": v1("/v1"),
  "pipeline-v1.delete-older": v1("/pipeline/api/v1"),
  "input-set.delete": {
    ...{ type: "INPUT_SET", at: SHOP },
    make: (identifier) => made(create.inputSet(platform, "host", inputSetYaml("host", identifier))),
    remove: (key) => done(send("DELETE", `/pipeline/api/inputSets/${key}?${SHOP}&pipelineIdentifier=host`)),
  },
  "service.delete": alike("SERVICE", SHOP, "/ng/api/servicesV2", (identifier) =>
    made(create.service(platform, identifier, IN_SHOP)),
  ),
  "environment.delete": alike("ENVIRONMENT", SHOP, "/ng/api/environmentsV2", (identifier) =>
    made(create.environment(platform, identifier, IN_SHOP)),
  ),
  "connector.delete": alike("CONNECTOR", SHOP, "/ng/api/connectors", (identifier) =>
    made(create.connector(platform, connectorYaml(identifier, IN_SHOP))),
  ),
  "secret.delete": alike("SECRET", SHOP, "/ng/api/v2/secrets", secret),
  "mutation deleteSecret": {
    ...{ type: "SECRET", at: ACCOUNT },
    make: async (name) => {
      const input = { secretType: "ENCRYPTED_TEXT", encryptedText: { name, value: "v" } };
      const { secret: one } = await mutation("createSecret", input, "secret { id }");
      return { named: name, key: one.id };
    },
    remove: (secretId) => mutation("deleteSecret", { secretType: "ENCRYPTED_TEXT", secretId }),
  },
};

/** Operations that delete types which resource groups cannot name. */
const NOT_NAMED: ReadonlySet<string> = new Set([
  "api-key.delete",
  "delegate-group-tags.clear",
  "delegate-tags.clear",
  "delegate-token.delete",
  "delegate-token.delete-by-name",
  "identity.unlink",
  "invitation.revoke",
  "delegate.delete",
  "mutation deleteDelegate",
  "identity.unlink-own",
  "role-assignment.delete",
  "secret-manager.delete",
  "session.delete",
  "session.delete-all",
  "smtp-config.delete",
  "token.delete",
  "trigger.delete",
  "user-group.remove-member",
]);

/** Types that are not deleted. Groups name delegates that do not exist yet, and permissions cover all of them. */
const NOT_DELETED: ReadonlySet<string> = new Set(["ACCOUNT", "SETTING", "AUTHSETTING", "AUDIT", "DELEGATE"]);

type Entry = { readonly resourceType: string; readonly identifiers: readonly string[] | null };
const scopeOf = (at: string): object => Object.fromEntries(new URLSearchParams(at));
const documentOf = (identifier: string, at: string, resources: readonly Entry[]): object => ({
  resourceGroup: {
    ...{ identifier, name: identifier },
    includedScopes: [{ filter: "EXCLUDING_CHILD_SCOPES", ...scopeOf(at) }],
    resourceFilter: { includeAllResources: false, resources },
  },
});
const group = (identifier: string, at: string, resources: readonly Entry[]): Promise<unknown> =>
  made(send("POST", `${GROUPS}?${at}`, documentOf(identifier, at, resources)));
const resourcesOf = async (identifier: string, at: string): Promise<readonly Entry[]> =>
  (await made(send("GET", `${GROUPS}/${identifier}?${at}`))).resourceGroup.resourceFilter.resources;

/** Returns what the newest audit entry of a deletion says about groups or authors. */
async function told(what = "RESOURCE_GROUP_ENTRY"): Promise<readonly string[] | undefined> {
  const [row] = await platform.db.query<{
    difference: { changes: { field: string; before: { type: string; identifiers: string[] }[] }[] };
  }>(`select difference from audit_entries where operation like '%.delete' order by id desc limit 1`);
  const all = row?.difference.changes.find(({ field }) => field === "goneToo")?.before;
  return all?.find(({ type }) => type === what)?.identifiers;
}

/** Waits until this number of transactions waits for locks. */
const waiting = (count: number): Promise<unknown> =>
  until(
    () =>
      platform.db.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      ),
    ({ length }) => length === count,
  );

test("every type that groups can name and every operation that deletes is covered here or exempt", async () => {
  const { resourceTypes } = await made(send("GET", "/resourcegroup/api/resourcetype"));
  const types: readonly string[] = resourceTypes.map(({ name }: { name: string }) => name);
  assert.ok(types.length > 15);
  const tried = new Set(Object.values(WAYS).map(({ type }) => type));
  assert.deepEqual(
    types.filter((type) => !tried.has(type) && !NOT_DELETED.has(type)),
    [],
    "Call LeaveGroups where one is deleted, and add the way to delete it to WAYS.",
  );
  const mutations = Object.keys(platform.platform.schema.getMutationType()?.getFields() ?? {});
  const all = [
    ...operationsOf(readDocument()).flatMap(({ method, operationId }) => (method === "DELETE" ? [operationId] : [])),
    ...mutations.flatMap((name) => (name.startsWith("delete") ? [`mutation ${name}`] : [])),
  ];
  assert.deepEqual(all.toSorted(), [...Object.keys(WAYS), ...NOT_NAMED].toSorted());
});

let nth = 0;
for (const [operation, { type, at, make, remove }] of Object.entries(WAYS))
  test(`${operation}: the name is removed from the groups of its scope only, and the audit trail names them`, async () => {
    nth += 1;
    const [name, only, more] = [`thing_${nth}`, `only_${nth}`, `more_${nth}`];
    const whole = (await make(name)) as Partial<Made>;
    const { named = name, key = name } = typeof whole.named === "string" ? whole : {};
    const others = { resourceType: "AUDIT", identifiers: [named] };
    await group(only, at, [{ resourceType: type, identifiers: [named] }, others]);
    await group(more, at, [{ resourceType: type, identifiers: ["other", named, "another"] }]);
    const elsewhere = at === ACCOUNT ? ORG : ACCOUNT;
    await group(only, elsewhere, [{ resourceType: type, identifiers: [named] }]);
    await remove(key);
    assert.deepEqual(await told(), [more, only]);
    assert.deepEqual(await resourcesOf(only, at), [others]);
    assert.deepEqual(await resourcesOf(more, at), [{ resourceType: type, identifiers: ["other", "another"] }]);
    assert.deepEqual(await resourcesOf(only, elsewhere), [{ resourceType: type, identifiers: [named] }]);
  });

test("a secret and an input set in one group are deleted at the same time", async () => {
  await secret("knotted");
  await made(create.inputSet(platform, "host", inputSetYaml("host", "knot")));
  await group("knots", SHOP, [
    { resourceType: "SECRET", identifiers: ["knotted"] },
    { resourceType: "INPUT_SET", identifiers: ["knot"] },
  ]);
  // Both wait for the group, the secret's deletion first.
  const answers = await platform.db.transaction(async (tx) => {
    await tx.query("update resource_groups set name = 'Changed' where identifier = 'knots'");
    const first = send("DELETE", `/ng/api/v2/secrets/knotted?${SHOP}`);
    await waiting(1);
    const second = send("DELETE", `/pipeline/api/inputSets/knot?${SHOP}&pipelineIdentifier=host`);
    await waiting(2);
    return [first, second];
  });
  for (const { status, text } of await Promise.all(answers)) assert.equal(status, 200, text);
  assert.deepEqual(await resourcesOf("knots", SHOP), []);
});

test("a role over the deleted resource gives nothing over the next one, also on a server with cached grants", async () => {
  for (const [type, at, path, make, role] of [
    ["SECRET", SHOP, "/ng/api/v2/secrets", secret, "_project_admin"],
    ["PROJECT", ORG, "/ng/api/projects", project, "_organization_admin"],
  ] as const) {
    await make("again");
    await group(`only_${type}`, at, [{ resourceType: type, identifiers: ["again"] }]);
    const apiKey = await platform.addUser("_account_viewer");
    const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
    assert.ok(row);
    await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
    await made(
      send("POST", `/authz/api/roleassignments?${at}`, {
        principal: { identifier: toWire(row.id), type: "USER" },
        ...{ roleIdentifier: role, resourceGroupIdentifier: `only_${type}` },
      }),
    );
    assert.equal((await send("GET", `${path}/again?${at}`, undefined, apiKey)).status, 200);
    await done(send("DELETE", `${path}/again?${at}`));
    await make("again");
    for (const method of ["GET", "DELETE"])
      assert.equal((await send(method, `${path}/again?${at}`, undefined, apiKey)).status, 403, `${method} ${type}`);
    // The group in its current form, sent back, gives no more.
    const { resourceGroup } = await made(send("GET", `${GROUPS}/only_${type}?${at}`));
    assert.deepEqual(resourceGroup.resourceFilter, { includeAllResources: false, resources: [] });
    const { allowedScopeLevels: _, accountIdentifier: __, ...body } = resourceGroup;
    await made(send("PUT", `${GROUPS}/only_${type}?${at}`, { resourceGroup: body }));
    assert.equal((await send("GET", `${path}/again?${at}`, undefined, apiKey)).status, 403);
  }
});

test("an emptied list of names selects nothing of the type, also if the type is listed twice", async () => {
  await secret("twice");
  const entries = [
    { resourceType: "SECRET", identifiers: null },
    { resourceType: "SECRET", identifiers: ["twice"] },
  ];
  await group("twice", SHOP, entries);
  await done(send("DELETE", `/ng/api/v2/secrets/twice?${SHOP}`));
  const [row] = await platform.db.query<{ resources: unknown }>(
    "select resources from resource_groups where identifier = 'twice'",
  );
  assert.deepEqual(row?.resources, [
    { type: "SECRET", identifiers: null },
    { type: "SECRET", identifiers: [] },
  ]);
});

test("an input set's name stays while another pipeline of the project has one; a deleted pipeline removes its own", async () => {
  for (const name of ["left", "right"]) {
    await pipeline(name);
    for (const set of ["both", `own_${name}`]) await made(create.inputSet(platform, name, inputSetYaml(name, set)));
  }
  await group("sets", SHOP, [{ resourceType: "INPUT_SET", identifiers: ["both", "own_left", "own_right"] }]);
  const names = async () => (await resourcesOf("sets", SHOP))[0]?.identifiers;
  const removeSet = (of: string, set: string): Promise<Answer> =>
    done(send("DELETE", `/pipeline/api/inputSets/${set}?${SHOP}&pipelineIdentifier=${of}`));
  await done(send("DELETE", `/pipeline/api/pipelines/left?${SHOP}`));
  assert.deepEqual(await names(), ["both", "own_right"]);
  // Input sets of a deleted pipeline do not count.
  await removeSet("right", "both");
  assert.deepEqual(await names(), ["own_right"]);
  await pipeline("left");
  for (const name of ["left", "right"]) await made(create.inputSet(platform, name, inputSetYaml(name, "own_right_2")));
  await group("shared", SHOP, [{ resourceType: "INPUT_SET", identifiers: ["own_right_2"] }]);
  await removeSet("left", "own_right_2");
  assert.deepEqual(await resourcesOf("shared", SHOP), [{ resourceType: "INPUT_SET", identifiers: ["own_right_2"] }]);
});

test("two input sets of one name deleted at the same time leave no name, also with their pipelines", async () => {
  for (const name of ["up", "down"]) {
    await pipeline(name);
    for (const set of ["alone", "along"]) await made(create.inputSet(platform, name, inputSetYaml(name, set)));
  }
  await group("at_once", SHOP, [{ resourceType: "INPUT_SET", identifiers: ["alone", "along"] }]);
  for (const [pathOf, left] of [
    [(of: string) => `inputSets/alone?${SHOP}&pipelineIdentifier=${of}`, [["along"]]],
    [(of: string) => `pipelines/${of}?${SHOP}`, []],
  ] as const) {
    // Each deletion looks for remaining names before the other one ends.
    const answers = await platform.db.transaction(async (tx) => {
      await tx.query("lock table audit_entries in exclusive mode");
      const both = ["up", "down"].map((of) => send("DELETE", `/pipeline/api/${pathOf(of)}`));
      await waiting(2);
      return both;
    });
    for (const { status, text } of await Promise.all(answers)) assert.equal(status, 200, text);
    assert.deepEqual(
      (await resourcesOf("at_once", SHOP)).map(({ identifiers }) => identifiers),
      left,
    );
  }
});

test("a group changed at the same time loses the name, too", async () => {
  await secret("moment");
  const entries = [{ resourceType: "SECRET", identifiers: ["moment"] }];
  await group("changing", SHOP, entries);
  const answer = await requestDuringChange(
    platform.db,
    (tx) => tx.query("update resource_groups set name = 'Changed' where identifier = 'changing'"),
    () => send("DELETE", `/ng/api/v2/secrets/moment?${SHOP}`),
  );
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(await resourcesOf("changing", SHOP), []);
});

test("several assignments and a deletion on the same groups at the same time wait for each other and all succeed", async () => {
  await secret("crossing");
  const names = ["a_cross", "b_cross"];
  for (const name of names) await group(name, SHOP, [{ resourceType: "SECRET", identifiers: ["crossing"] }]);
  await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  const roleAssignments = names.toReversed().map((resourceGroupIdentifier) => ({
    principal: { identifier: toWire(row?.id as Uuid), type: "USER" },
    ...{ roleIdentifier: "_project_viewer", resourceGroupIdentifier },
  }));
  // The deletion gets the changed group first. A holder of the other group would wait for it in turn.
  const answers = await platform.db.transaction(async (tx) => {
    await tx.query("update resource_groups set name = 'Changed' where identifier = 'a_cross'");
    const deleted = send("DELETE", `/ng/api/v2/secrets/crossing?${SHOP}`);
    await waiting(1);
    const assigned = send("POST", `/authz/api/roleassignments/multi?${SHOP}`, { roleAssignments });
    await waiting(2);
    return [deleted, assigned];
  });
  for (const { status, text } of await Promise.all(answers)) assert.equal(status, 200, text);
  for (const name of names) assert.deepEqual(await resourcesOf(name, SHOP), []);
});

test("two groups that name each other are deleted at the same time", async () => {
  const pair = { resourceType: "RESOURCEGROUP", identifiers: ["one", "other"] };
  for (const name of ["a_third", ...pair.identifiers]) await group(name, SHOP, [pair]);
  const answers = await platform.db.transaction(async (tx) => {
    await tx.query("update resource_groups set name = 'Changed' where identifier = 'a_third'");
    const both = pair.identifiers.map((name) => send("DELETE", `${GROUPS}/${name}?${SHOP}`));
    await waiting(2);
    return both;
  });
  for (const { status, text } of await Promise.all(answers)) assert.equal(status, 200, text);
  assert.deepEqual(await resourcesOf("a_third", SHOP), []);
});
