/** `services` and `environments` of applications in GraphQL. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, projectYaml, YAML } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { toWire, type Uuid } from "../../core/ids.ts";

let platform: TestPlatform;
let statements: string[] = [];
const inside = (project: string): string => `  orgIdentifier: default\n  projectIdentifier: ${project}\n`;

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: (text, values) => {
        statements.push(text);
        return db.query(text, values);
      },
    }),
  });
  await made(create.project(platform, projectYaml()));
  await made(create.project(platform, projectYaml("depot").replace("The shop", "The depot")));
  for (const name of ["web", "api", "batch"])
    await made(create.service(platform, name, `${inside("shop")}  description: of ${name}\n  tags: { team: red }\n`));
  await made(create.service(platform, "web", inside("depot")));
  // What lies above the project is not in it.
  await made(create.service(platform, "common"));
  await made(create.environment(platform, "staging", `${inside("shop")}  description: D\n  tags: { a: b }\n`));
  const body = `environment:\n  name: live\n  identifier: live\n  type: Production\n${inside("shop")}`;
  await made(platform.send("POST", "/ng/api/environmentsV2", { contentType: YAML, body }));
});
after(() => platform?.stop());

async function ask(query: string, apiKey = platform.apiKey) {
  const { body } = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
    apiKey,
    contentType: "application/json",
    body: JSON.stringify({ query }),
  });
  return body;
}
const names = (list: { nodes: readonly { name: string }[] }): string[] => list.nodes.map(({ name }) => name);

test("services and environments of an application with every field, by name, with the ids that REST shows", async () => {
  const { data, errors } = await ask(`{ applicationByName(name: "The shop") {
    services { nodes { id name description artifactType artifactSources { id name } deploymentType createdAt createdBy { id } tags { name value } }
      pageInfo { limit offset total hasMore } }
    environments { nodes { id name description type createdAt createdBy { id } tags { name value } } pageInfo { total } } } }`);
  assert.equal(errors, undefined, JSON.stringify(errors));
  const { services, environments } = data.applicationByName;
  const idOf = async (path: string) => {
    const { body } = await platform.send("GET", `/ng/api/${path}?orgIdentifier=default&projectIdentifier=shop`);
    return (body.data.service ?? body.data.environment).id;
  };
  const rest = { createdAt: platform.clock.now(), createdBy: null };
  assert.deepEqual(names(services), ["api", "batch", "web"]);
  assert.deepEqual(services.pageInfo, { limit: 100, offset: 0, total: 3, hasMore: false });
  assert.deepEqual(services.nodes[2], {
    id: await idOf("servicesV2/web"),
    name: "web",
    description: "of web",
    artifactType: null,
    artifactSources: [],
    deploymentType: "KUBERNETES",
    tags: [{ name: "team", value: "red" }],
    ...rest,
  });
  assert.deepEqual(environments, {
    nodes: [
      { id: await idOf("environmentsV2/live"), name: "live", description: "", type: "PROD", tags: [], ...rest },
      {
        id: await idOf("environmentsV2/staging"),
        name: "staging",
        description: "D",
        type: "NON_PROD",
        tags: [{ name: "a", value: "b" }],
        ...rest,
      },
    ],
    pageInfo: { total: 2 },
  });
});

test("one statement for the services of all applications of a list, and one for all totals", async () => {
  const pages = "{ nodes { name } pageInfo { limit offset total hasMore } }";
  const query = `{ applications { nodes { name services(limit: 1, offset: 1) ${pages} all: services ${pages} } } }`;
  for (const use of ["interpreted", "compiled", "compiled"]) {
    statements = [];
    const { data, errors } = await ask(query);
    assert.equal(errors, undefined, JSON.stringify(errors));
    const [depot, shop] = data.applications.nodes;
    assert.deepEqual([depot.name, shop.name], ["The depot", "The shop"]);
    assert.deepEqual([names(depot.all), names(shop.all)], [["web"], ["api", "batch", "web"]], use);
    assert.deepEqual(
      [shop.services, depot.services],
      [
        { nodes: [{ name: "batch" }], pageInfo: { limit: 1, offset: 1, total: 3, hasMore: true } },
        { nodes: [], pageInfo: { limit: 1, offset: 1, total: 1, hasMore: false } },
      ],
    );
    const sent = statements.filter((text) => text.includes("services e"));
    assert.equal(sent.length, 4, `${use}: a page and a count for each of the two windows`);
  }
  statements = [];
  await ask("{ applications { nodes { services { nodes { name } } } } }");
  assert.equal(statements.filter((text) => text.includes("services e")).length, 1, "no total was requested");
});

test("the services of all applications, filtered, by id and by name", async () => {
  const all = await ask("{ services { nodes { name } pageInfo { total } } }");
  assert.deepEqual(all.data.services, {
    nodes: ["api", "batch", "web", "web"].map((name) => ({ name })),
    pageInfo: { total: 4 },
  });
  const shop = (await ask('{ applicationByName(name: "The shop") { id } }')).data.applicationByName.id;
  const filtered = async (filter: string): Promise<string[]> => {
    const { data, errors } = await ask(`{ services(limit: 10, filters: [${filter}]) { nodes { name } } }`);
    assert.equal(errors, undefined, JSON.stringify(errors));
    return names(data.services);
  };
  const inShop = `application: { operator: EQUALS, values: ["${shop}"] }`;
  assert.deepEqual(await filtered(`{ ${inShop} }`), ["api", "batch", "web"]);
  assert.deepEqual(await filtered(`{ application: { operator: NOT_IN, values: ["${shop}"] } }`), ["web"]);
  assert.deepEqual(await filtered('{ application: { operator: LIKE, values: ["DEP"] } }'), ["web"]);
  assert.deepEqual(await filtered(`{ ${inShop}, service: { operator: LIKE, values: ["B"] } }`), ["batch", "web"]);
  assert.deepEqual(await filtered('{ service: { operator: IN, values: ["no id"] } }'), []);
  assert.deepEqual(await filtered('{ tag: { entityType: SERVICE, tags: [{ name: "team", value: "red" }] } }'), [
    ...["api", "batch", "web"],
  ]);
  assert.deepEqual(await filtered('{ tag: { entityType: SERVICE, tags: [{ name: "team", value: "blue" }] } }'), []);
  assert.deepEqual(await filtered('{ tag: { entityType: APPLICATION, tags: [{ name: "team" }] } }'), []);
  assert.deepEqual(await filtered(`{ ${inShop}, deploymentType: { operator: IN, values: [KUBERNETES] } }`), [
    ...["api", "batch", "web"],
  ]);
  assert.deepEqual(await filtered("{ deploymentType: { operator: EQUALS, values: [SSH] } }"), []);

  const fields = "id name description createdBy { email externalUserId id name } tags { name value }";
  const { data } = await ask(`{ serviceByName(applicationId: "${shop}", serviceName: "web") { ${fields} } }`);
  assert.equal(data.serviceByName.description, "of web");
  const byId = await ask(`{ service(serviceId: "${data.serviceByName.id}") { ${fields} } }`);
  assert.deepEqual(byId.data.service, data.serviceByName);
  for (const field of [
    'service(serviceId: "x")',
    'service(serviceId: "AAAAAAAAAAAAAAAAAAAAAA")',
    `serviceByName(applicationId: "${shop}", serviceName: "none")`,
    'serviceByName(applicationId: "x", serviceName: "web")',
  ]) {
    const { errors } = await ask(`{ ${field} { id } }`);
    assert.match(errors[0].message, /^Exception while fetching data \(\/\w+\) : Service with .* not found/);
  }
});

test("LIKE takes 20 values in all filters of services", async () => {
  const texts = Array.from({ length: 11 }, (_, index) => `x${index}`);
  const like = `{ operator: LIKE, values: ${JSON.stringify(texts)} }`;
  const one = await ask(`{ services(filters: [{ service: ${like} }]) { nodes { id } } }`);
  assert.deepEqual(one.data.services.nodes, []);
  const two = await ask(`{ services(filters: [{ application: ${like}, service: ${like} }]) { nodes { id } } }`);
  assert.match(two.errors[0].message, / : The filter 'service' has too many values: /);
});

test("services that the caller may not see are not in the lists and are not found", async () => {
  const apiKey = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "depot" });
  const all = await ask("{ services { nodes { id name } pageInfo { total } } }", apiKey);
  assert.deepEqual([names(all.data.services), all.data.services.pageInfo.total], [["web"], 1]);
  const { data } = await ask(
    '{ services(filters: [{ service: { operator: LIKE, values: ["api"] } }]) { nodes { id } } }',
  );
  const { errors } = await ask(`{ service(serviceId: "${data.services.nodes[0].id}") { id } }`, apiKey);
  assert.match(errors[0].message, /not found/);
});

test("windows: a larger limit than 1000 is cut, negative ones are refused where they stand", async () => {
  const { data } = await ask(
    '{ applicationByName(name: "The shop") { environments(limit: 1001) { pageInfo { limit } } } }',
  );
  assert.equal(data.applicationByName.environments.pageInfo.limit, 1_000);
  for (const field of ["services", "environments", "workflows"]) {
    const { errors } = await ask(`{ applicationByName(name: "The shop") { ${field}(offset: -1) { nodes { name } } } }`);
    assert.equal(
      errors[0].message,
      `Exception while fetching data (/applicationByName/${field}) : offset must not be negative.`,
    );
  }
});

test("workflows: the lists are there, there are none, and none is found", async () => {
  const root = await platform.graphql(
    `query ($f: [WorkflowFilter]) { workflows(limit: 5, offset: 2, filters: $f) { nodes { id } pageInfo { limit offset total hasMore } } }`,
    { f: { application: { operator: "EQUALS", values: ["x"] }, tag: { entityType: "WORKFLOW", tags: { name: "t" } } } },
  );
  assert.deepEqual(root.body.data.workflows, {
    nodes: [],
    pageInfo: { limit: 5, offset: 2, total: 0, hasMore: false },
  });
  for (const field of ['workflow(workflowId: "x")', 'workflowByName(applicationId: "a", workflowName: "x")']) {
    const { body } = await platform.graphql(`{ ${field} { id name description } }`);
    assert.match(body.errors[0].message, /^Exception while fetching data \(\/\w+\) : Workflow \[x\] does not exist/);
  }
  const negative = await platform.graphql("{ workflows(limit: -1) { nodes { id } } }");
  assert.ok(negative.body.errors.length > 0);

  const { data } = await ask(
    '{ applicationByName(name: "The shop") { workflows(limit: 5) { nodes { id name description } pageInfo { limit offset total hasMore } } } }',
  );
  assert.deepEqual(data.applicationByName.workflows, {
    nodes: [],
    pageInfo: { limit: 5, offset: 0, total: 0, hasMore: false },
  });
});

const QUERY = "{ applications { nodes { name services { nodes { name } pageInfo { total } } } } }";

const post = (path: string, body: unknown) =>
  made(platform.send("POST", path, { contentType: "application/json", body: JSON.stringify(body) }));

/** A user who may see the projects of the account, and in them the resources of the depot or none. */
async function watcher(sees: "the depot" | "nothing"): Promise<string> {
  const apiKey = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "depot" });
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  if (sees === "nothing") await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
  await post("/authz/api/roleassignments", {
    principal: { identifier: toWire(row.id), type: "USER" },
    roleIdentifier: "watcher",
    resourceGroupIdentifier: "_all_resources_including_child_scopes",
  });
  return apiKey;
}

test("a user who may see a project but not its services sees and counts none of them", async () => {
  await post("/authz/api/roles", { identifier: "watcher", name: "Watcher", permissions: ["core_project_view"] });
  assert.deepEqual((await ask(QUERY, await watcher("the depot"))).data.applications.nodes, [
    { name: "The depot", services: { nodes: [{ name: "web" }], pageInfo: { total: 1 } } },
    { name: "The shop", services: { nodes: [], pageInfo: { total: 0 } } },
  ]);
  // Who may see services nowhere is told so, for each of the applications.
  const { data, errors } = await ask(QUERY, await watcher("nothing"));
  assert.deepEqual(
    data.applications.nodes.map(({ services }: { services: unknown }) => services),
    [null, null],
  );
  assert.match(
    errors[0].message,
    /^Exception while fetching data \(\/applications\/nodes\[0\]\/services\) : .*core_service_view/,
  );
});
