/** Applications as GraphQL makes and changes them: projects of organization `default`. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml, YAML } from "../../../test/support/contract.ts";
import { assignServiceAccountRole, graphqlAs, serviceToken } from "../../../test/support/service-accounts.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { identifierOf } from "./operations.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

const WHOLE = `id name description createdAt createdBy { id name email } tags { name value } isManualTriggerAuthorized
  gitSyncConfig { branch repositoryName syncEnabled gitConnector { id name branch } }`;
const CREATE = `mutation ($input: CreateApplicationInput!) { createApplication(input: $input) { clientMutationId application { ${WHOLE} } } }`;
const UPDATE = `mutation ($input: UpdateApplicationInput!) { updateApplication(input: $input) { clientMutationId application { ${WHOLE} } } }`;

const createOne = (input: object): Promise<Answer> => platform.graphql(CREATE, { input });
const updateOne = (input: object): Promise<Answer> => platform.graphql(UPDATE, { input });
const trail = (): Promise<unknown[]> =>
  platform.db.query("select operation, resource_id from audit_entries order by id");

async function application(input: object) {
  const { body } = await createOne(input);
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  return body.data.createApplication.application;
}

const cause = ({ body }: Answer): string => body.errors[0].message.replace(/^.* : /, "");

test("createApplication: a project of organization default, every field of it, with its entry in the trail", async () => {
  const admin = await platform.graphql(`{ userByName(name: "admin") { id name email } }`);
  const { body } = await createOne({ name: "My shop-2.0", description: "All of it", clientMutationId: "m1" });
  const { clientMutationId, application: created } = body.data.createApplication;
  assert.equal(clientMutationId, "m1");
  const { id, ...rest } = created;
  assert.match(id, /^[A-Za-z0-9_-]{22}$/);
  assert.deepEqual(rest, {
    name: "My shop-2.0",
    description: "All of it",
    createdAt: platform.clock.now(),
    createdBy: admin.body.data.userByName,
    tags: [],
    isManualTriggerAuthorized: false,
    gitSyncConfig: null,
  });
  const project = await made(platform.send("GET", "/ng/api/projects/My_shop_2_0?orgIdentifier=default"));
  assert.equal(project.project.name, "My shop-2.0");
  assert.deepEqual((await trail()).at(-1), { operation: "project.create", resource_id: "My_shop_2_0" });
  const read = `query ($id: String!) { application(applicationId: $id) { ${WHOLE} } }`;
  assert.deepEqual((await platform.graphql(read, { id })).body.data.application, created);
  const byName = `query ($name: String!) { applicationByName(name: $name) { ${WHOLE} } }`;
  assert.deepEqual((await platform.graphql(byName, { name: "My shop-2.0" })).body.data.applicationByName, created);
  const listed = (await platform.graphql(`{ applications { nodes { ${WHOLE} } } }`)).body.data.applications.nodes;
  assert.deepEqual(listed, [created]);
});

test("clientMutationId is null when none was sent", async () => {
  const { body } = await createOne({ name: "quiet" });
  assert.equal(body.data.createApplication.clientMutationId, null);
});

test("an identifier out of any name", () => {
  const cases = { "My shop": "My_shop", "a.b-c": "a_b_c", "2nd": "_2nd", new: "_new", [`1${"x".repeat(127)}`]: 0 };
  for (const [name, identifier] of Object.entries(cases))
    if (identifier === 0) assert.equal(identifierOf(name).length, 128);
    else assert.equal(identifierOf(name), identifier);
});

test("a name is given once, also by several at the same time; so is the identifier made of it", async () => {
  await application({ name: "taken name" });
  const earlier = await trail();
  assert.equal(cause(await createOne({ name: "taken name" })), "An application with name [taken name] already exists.");
  assert.equal(
    cause(await createOne({ name: "taken_name" })),
    "A project with identifier [taken_name] already exists in organization [default].",
  );
  assert.deepEqual(await trail(), earlier);
  const both = await Promise.all([1, 2, 3].map(() => createOne({ name: "raced" })));
  assert.equal(both.filter(({ body }) => body.errors === undefined).length, 1);
});

test("of projects that share a name, GraphQL finds the one in default, then the oldest; and takes the name for no other", async () => {
  for (const org of ["west", "east"])
    await platform.db.query(
      `insert into organizations (account_id, id, identifier, name, description, tags, version, created_at, updated_at)
       select account_id, gen_random_uuid(), $1, $1, '', '{}', 1, 1, 1 from organizations where identifier = 'default'
          and account_id in (select account_id from users where name = 'admin')`,
      [org],
    );
  const inOrg = (org: string, identifier: string) =>
    made(
      platform.send("POST", `/ng/api/projects?orgIdentifier=${org}`, {
        contentType: YAML,
        body: `project: { name: Twin, identifier: ${identifier}, description: ${org} }`,
      }),
    );
  await inOrg("west", "twin");
  await inOrg("east", "twin");
  const described = async () =>
    (await platform.graphql(`{ applicationByName(name: "Twin") { description } }`)).body.data.applicationByName
      .description;
  assert.equal(await described(), "west");
  assert.equal(cause(await createOne({ name: "Twin" })), "An application with name [Twin] already exists.");
  await inOrg("default", "twin");
  assert.equal(await described(), "default");
});

test("updateApplication changes the keys that are there, and no others", async () => {
  const { id } = await application({ name: "before", description: "stays" });
  const renamed = await updateOne({ applicationId: id, name: "after", clientMutationId: "m2" });
  assert.equal(renamed.body.data.updateApplication.clientMutationId, "m2");
  const { application: changed } = renamed.body.data.updateApplication;
  assert.deepEqual([changed.id, changed.name, changed.description], [id, "after", "stays"]);
  const described = await updateOne({ applicationId: id, description: "other" });
  assert.equal(described.body.data.updateApplication.application.name, "after");
  assert.equal(described.body.data.updateApplication.application.description, "other");
  const cleared = await updateOne({ applicationId: id, description: null });
  assert.equal(cleared.body.data.updateApplication.application.description, "");
  const unset = await platform.graphql(
    `mutation ($id: String!, $text: String) { updateApplication(input: { applicationId: $id, name: "once more", description: $text }) { application { name description } } }`,
    { id },
  );
  assert.deepEqual(unset.body.data.updateApplication.application, { name: "once more", description: "" });
  assert.deepEqual((await trail()).at(-1), { operation: "project.update", resource_id: "before" });
  const [row] = await platform.db.query("select version from projects where identifier = 'before'");
  assert.deepEqual(row, { version: 5 });
});

test("of several that are renamed alike at the same time, one gets the name", async () => {
  const all = await Promise.all(["r1", "r2", "r3", "r4"].map((name) => application({ name })));
  const answers = await Promise.all(all.map(({ id }) => updateOne({ applicationId: id, name: "prize" })));
  assert.equal(answers.filter(({ body }) => body.errors === undefined).length, 1);
});

test("a rejected update changes nothing", async () => {
  const { id } = await application({ name: "kept" });
  await application({ name: "other" });
  const earlier = await trail();
  assert.equal(
    cause(await updateOne({ applicationId: id, name: "other" })),
    "An application with name [other] already exists.",
  );
  assert.match(cause(await updateOne({ applicationId: id, name: null })), /name/);
  assert.match(cause(await updateOne({ applicationId: id, name: "a/b" })), /^.*name: must hold letters/);
  assert.match(cause(await createOne({ name: "" })), /name: must hold letters/);
  for (const [key, send] of [
    ["isManualTriggerAuthorized", () => updateOne({ applicationId: id, isManualTriggerAuthorized: true })],
    ["areWebhookSecretsMandated", () => createOne({ name: "new one", areWebhookSecretsMandated: true })],
  ] as const) {
    const answer = await send();
    assert.match(cause(answer), new RegExp(`^${key} must be false`));
    assert.equal(answer.body.errors[0].extensions.code, "UNSUPPORTED_OPERATION_EXCEPTION");
  }
  const kept = await updateOne({ applicationId: id, isManualTriggerAuthorized: false });
  assert.equal(kept.body.data.updateApplication.application.name, "kept");
  assert.equal((await trail()).length, earlier.length + 1);
});

test("an id that is unknown, malformed or of another account: User not authorized; a name: does not exist", async () => {
  const other = await platform.addAccount();
  const asOther = { apiKey: other.apiKey, account: other.accountId };
  const theirs = await platform.send("POST", `/api/graphql?accountId=${other.accountId}`, {
    ...asOther,
    contentType: "application/json",
    body: JSON.stringify({ query: CREATE, variables: { input: { name: "theirs" } } }),
  });
  const { id } = theirs.body.data.createApplication.application;
  for (const applicationId of [id, "", "AAAAAAAAAAAAAAAAAAAAAA"])
    assert.equal(cause(await updateOne({ applicationId, name: "mine" })), "User not authorized.");
  const found = await platform.graphql(`{ applicationByName(name: "theirs") { id } }`);
  assert.equal(cause(found), "Application [theirs] does not exist (User not authorized).");
  await application({ name: "theirs" });
});

test("a project made by REST has its tags and its maker in GraphQL", async () => {
  await made(create.project(platform, projectYaml("tagged", "  tags: { team: shop, tier: one }\n")));
  const { body } = await platform.graphql(
    `{ applicationByName(name: "The shop") { createdBy { name } tags { name value } } }`,
  );
  assert.deepEqual(body.data.applicationByName, {
    createdBy: { name: "admin" },
    tags: [
      { name: "team", value: "shop" },
      { name: "tier", value: "one" },
    ],
  });
});

test("an application names its creator, also a service account", async () => {
  const body = JSON.stringify({ identifier: "maker", name: "Maker" });
  await made(platform.send("POST", "/ng/api/serviceaccount", { contentType: JSON_TYPE, body }));
  const token = await serviceToken(platform, "maker");
  await assignServiceAccountRole(platform, "maker", "_account_admin");
  const created = await graphqlAs(
    platform,
    token,
    `mutation { createApplication(input: { name: "Made by a machine" }) { application { id createdBy { id name email } } } }`,
  );
  const { application } = created.body.data.createApplication;
  assert.deepEqual([application.createdBy.name, application.createdBy.id.length], ["Maker", 22], created.text);
  assert.match(application.createdBy.email, /^maker@/);
  const read = await platform.graphql(
    `{ applicationByName(name: "Made by a machine") { createdBy { id name email } } }`,
  );
  assert.deepEqual(read.body.data.applicationByName.createdBy, application.createdBy);
  const listed = await platform.graphql(`{ applications(limit: 100) { nodes { name createdBy { id } } } }`);
  const node = listed.body.data.applications.nodes.find(({ name }: { name: string }) => name === "Made by a machine");
  assert.deepEqual(node.createdBy, { id: application.createdBy.id });
  // The creator is deleted.
  await made(platform.send("DELETE", "/ng/api/serviceaccount/maker"));
  const after = await platform.graphql(`{ applicationByName(name: "Made by a machine") { createdBy { id } } }`);
  assert.equal(after.body.data.applicationByName.createdBy, null);
});
