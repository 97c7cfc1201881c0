import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, createTargets, pipelineYaml, projectYaml } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
let ids: Readonly<Record<"APPLICATION" | "ENVIRONMENT" | "PIPELINE" | "SERVICE", string>>;
const IN_SHOP = "  orgIdentifier: default\n  projectIdentifier: shop\n";

type Listed = { readonly nodes: readonly { readonly id: string; readonly name: string; readonly tags: unknown }[] };
function named({ nodes }: Listed, name: string): Listed["nodes"][number] {
  const found = nodes.find((node) => node.name === name);
  assert.ok(found, name);
  return found;
}

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.environment(platform, "qa", `${IN_SHOP}  tags: { a: b } # of the team\n`));
  await made(create.service(platform, "tagged", IN_SHOP));
  await made(create.pipeline(platform, pipelineYaml()));
  const { data } = (
    await platform.graphql(`{ applicationByName(name: "The shop") { id
      environments { nodes { id name } } services { nodes { id name } } pipelines { nodes { id } } } }`)
  ).body;
  const { id, environments, services, pipelines } = data.applicationByName;
  ids = {
    APPLICATION: id,
    ENVIRONMENT: named(environments, "qa").id,
    SERVICE: named(services, "tagged").id,
    PIPELINE: pipelines.nodes[0].id,
  };
});
after(() => platform?.stop());

type Answered = Awaited<ReturnType<TestPlatform["send"]>>["body"];
async function send(query: string, input: object, apiKey = platform.apiKey): Promise<Answered> {
  const { body } = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
    apiKey,
    contentType: "application/json",
    body: JSON.stringify({ query, variables: { input } }),
  });
  return body;
}
const attach = (input: object, apiKey?: string): Promise<Answered> =>
  send(
    `mutation ($input: AttachTagInput!) { attachTag(input: $input) {
      clientMutationId tagLink { appId entityId entityType name value } } }`,
    input,
    apiKey,
  );
const detach = (input: object, apiKey?: string): Promise<Answered> =>
  send("mutation ($input: DetachTagInput!) { detachTag(input: $input) { clientMutationId } }", input, apiKey);

async function tagsOf(type: keyof typeof ids): Promise<readonly Tag[]> {
  const lists = "{ nodes { id tags { name value } } }";
  const { body } = await platform.graphql(
    `{ application(applicationId: "${ids.APPLICATION}") { id tags { name value }
      environments ${lists} services ${lists} pipelines ${lists} } }`,
  );
  const { environments, services, pipelines, ...application } = body.data.application;
  const all = [application, ...environments.nodes, ...services.nodes, ...pipelines.nodes];
  const tags: readonly Tag[] = all.find(({ id }) => id === ids[type]).tags;
  return tags.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
type Tag = { readonly name: string; readonly value: string };

for (const type of ["APPLICATION", "ENVIRONMENT", "PIPELINE", "SERVICE"] as const)
  test(`a tag of ${type} is attached, replaced and detached, each time with an entry in the audit trail`, async () => {
    const earlier = await tagsOf(type);
    const input = { entityId: ids[type], entityType: type, name: "team", value: "red" };
    const attached = await attach({ ...input, clientMutationId: "c1" });
    assert.equal(attached.errors, undefined, JSON.stringify(attached.errors));
    assert.deepEqual(attached.data.attachTag, {
      clientMutationId: "c1",
      tagLink: { appId: ids.APPLICATION, ...input },
    });
    assert.deepEqual(await tagsOf(type), [...earlier, { name: "team", value: "red" }]);
    await attach({ ...input, value: "blue" });
    assert.deepEqual(await tagsOf(type), [...earlier, { name: "team", value: "blue" }]);
    const noun = type === "APPLICATION" ? "PROJECT" : type;
    const [entry] = await platform.db.query<{ operation: string; difference: { changes: { field: string }[] } }>(
      "select operation, difference from audit_entries where resource_type = $1 order by id desc limit 1",
      [noun],
    );
    assert.equal(entry?.operation, `${noun.toLowerCase()}.update`);
    assert.ok(entry.difference.changes.some(({ field }) => field.startsWith("tags")));
    for (let times = 0; times < 2; times += 1) {
      const detached = await detach({ entityId: ids[type], entityType: type, name: "team", clientMutationId: "c2" });
      assert.deepEqual(detached.data, { detachTag: { clientMutationId: "c2" } });
    }
    assert.deepEqual(await tagsOf(type), earlier);
  });

test("the document says the same as the tags, with its comments", async () => {
  const path = "/ng/api/environmentsV2/qa?orgIdentifier=default&projectIdentifier=shop";
  await attach({ entityId: ids.ENVIRONMENT, entityType: "ENVIRONMENT", name: "x", value: "1" });
  const { environment } = await made(platform.send("GET", path));
  assert.deepEqual(environment.tags, { a: "b", x: "1" });
  assert.match(environment.yaml, /tags: \{ a: b, x: "1" \} # of the team/);
  await detach({ entityId: ids.ENVIRONMENT, entityType: "ENVIRONMENT", name: "x" });
});

test("entities above applications have no application id, and missing ones are not found", async () => {
  const { service } = await made(create.service(platform, "common"));
  const link = await attach({ entityId: service.id, entityType: "SERVICE", name: "a" });
  assert.deepEqual(link.data.attachTag.tagLink.appId, null);
  assert.equal(link.data.attachTag.tagLink.value, "");
  for (const [entityType, message] of [
    ["APPLICATION", /not authorized/],
    ["ENVIRONMENT", /Environment with id \[x\] not found/],
    ["PIPELINE", /Pipeline .*\[x\]/],
    ["SERVICE", /Service with id \[x\] not found/],
    ["WORKFLOW", /entityType WORKFLOW is not supported/],
    ["PROVISIONER", /entityType PROVISIONER is not supported/],
  ] as const)
    assert.match((await attach({ entityId: "x", entityType, name: "a" })).errors?.[0]?.message ?? "", message);
  const long = await attach({ entityId: ids.SERVICE, entityType: "SERVICE", name: "n".repeat(129) });
  assert.ok(long.errors?.[0], "a name that is too long is refused");
});

test("an entity of a project that the caller may not see is not found", async () => {
  await made(create.project(platform, projectYaml("depot").replace("The shop", "The depot")));
  const apiKey = await platform.addUser("_project_admin", { orgIdentifier: "default", projectIdentifier: "depot" });
  for (const type of ["ENVIRONMENT", "PIPELINE", "SERVICE"] as const) {
    const input = { entityId: ids[type], entityType: type, name: "team" };
    for (const { errors } of [await attach(input, apiKey), await detach(input, apiKey)])
      assert.match(errors?.[0]?.message ?? "", /not found|not exist/);
  }
});

test("a viewer changes no tag", async () => {
  const apiKey = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  for (const type of ["APPLICATION", "ENVIRONMENT", "PIPELINE", "SERVICE"] as const) {
    const input = { entityId: ids[type], entityType: type, name: "team" };
    for (const { errors } of [await attach(input, apiKey), await detach(input, apiKey)])
      assert.match(errors?.[0]?.message ?? "", /Missing permission|not authorized/);
  }
  assert.deepEqual(await tagsOf("SERVICE"), []);
});
