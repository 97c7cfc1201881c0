/** The request "Create project" of docs/contract.md, and the same project as an application in GraphQL. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, projectYaml, YAML } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

const MODULES = ["CD", "CI", "CV", "CF", "CE", "CORE", "PMS", "TEMPLATESERVICE"];
const counts = async (): Promise<unknown> =>
  (
    await platform.db.query(
      "select (select count(*) from projects) as projects, (select count(*) from audit_entries) as audit",
    )
  )[0];

test("a project: every field of the answer, and read back the same", async () => {
  const full = '  color: "#A1b2C3"\n  description: All of it\n  tags: { team: shop, empty: "" }\n  modules: [CD, CI]\n';
  const answer = await create.project(platform, projectYaml("full", full));
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  const { correlationId, ...body } = answer.body;
  assert.match(correlationId, /^[0-9a-f-]{36}$/);
  const now = platform.clock.now();
  assert.deepEqual(body, {
    status: "SUCCESS",
    data: {
      project: {
        orgIdentifier: "default",
        identifier: "full",
        name: "The shop",
        color: "#A1b2C3",
        modules: MODULES,
        description: "All of it",
        tags: { team: "shop", empty: "" },
      },
      createdAt: now,
      lastModifiedAt: now,
    },
    metaData: null,
  });
  for (const prefix of ["", "/gateway"]) {
    const read = await platform.send("GET", `${prefix}/ng/api/projects/full?orgIdentifier=default`);
    assert.deepEqual({ ...read.body, correlationId }, answer.body);
  }
});

test("default values: a colour, an empty description, no tags, all modules", async () => {
  for (const more of ["", "  color:\n  description:\n  tags:\n  modules:\n"]) {
    const identifier = more === "" ? "bare" : "empty";
    const { project } = await made(create.project(platform, projectYaml(identifier, more)));
    assert.deepEqual([project.color, project.description, project.tags, project.modules], ["#0063F7", "", {}, MODULES]);
  }
});

test("the organization: from the query, never another one, and one that exists", async () => {
  const without = "project: { name: x, identifier: no_org }";
  assert.equal((await made(create.project(platform, without))).project.orgIdentifier, "default");
  const send = (org: string, body: string) =>
    platform.send("POST", `/ng/api/projects?orgIdentifier=${org}`, { contentType: YAML, body });
  const other = await send("default", "project: { name: x, identifier: y, orgIdentifier: other }");
  assert.deepEqual([other.status, other.body.code], [400, "INVALID_REQUEST"]);
  const missing = await send("other", "project: { name: x, identifier: y }");
  assert.deepEqual([missing.status, missing.body.code], [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
  assert.equal(missing.body.message, "Organization with identifier [other] not found.");
});

test("an identifier is unique, also with concurrent requests, and a rejected request leaves nothing", async () => {
  await made(create.project(platform, projectYaml("taken")));
  const earlier = await counts();
  const again = await create.project(platform, projectYaml("taken", "  description: other\n"));
  assert.deepEqual([again.status, again.body.code], [400, "DUPLICATE_FIELD"]);
  assert.equal(again.body.message, "A project with identifier [taken] already exists in organization [default].");
  assert.deepEqual(await counts(), earlier);
  await made(create.project(platform, projectYaml("Taken")));
  const both = await Promise.all([1, 2, 3, 4].map(() => create.project(platform, projectYaml("raced"))));
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 400, 400, 400],
  );
  const rows = await platform.db.query("select operation, resource_id from audit_entries where resource_id = 'raced'");
  assert.deepEqual(rows, [{ operation: "project.create", resource_id: "raced" }]);
});

test("fields that are not the caller's to set have no effect, and are named in a header", async () => {
  const plain = (await made(create.project(platform, projectYaml("mass")))) as Record<string, unknown>;
  const fields = [
    "id",
    "accountId",
    "accountIdentifier",
    "createdAt",
    "lastModifiedAt",
    "version",
    "platformManaged",
    "Name",
  ];
  for (const [at, field] of fields.entries()) {
    const answer = await create.project(platform, projectYaml(`mass_${at}`, `  ${field}: 1\n`));
    const { project, ...rest } = await made(Promise.resolve(answer));
    assert.equal(answer.headers.get("railhead-ignored-fields"), `project.${field}`);
    assert.deepEqual({ ...rest, project: { ...project, identifier: "mass" } }, plain);
  }
  const beside = await create.project(platform, `${projectYaml("beside")}account: x\n`);
  assert.deepEqual([beside.status, beside.headers.get("railhead-ignored-fields")], [200, "account"]);
  // A required field that is misspelt is missing, and the header has its spelling.
  const misspelt = await create.project(platform, projectYaml("misspelt").replace("  name:", "  nmae:"));
  assert.deepEqual([misspelt.status, misspelt.headers.get("railhead-ignored-fields")], [400, "project.nmae"]);
  assert.match(misspelt.body.message, /project\.name: Missing/);
});

test("values that do not fit are refused by name", async () => {
  const bad = [
    "color: red",
    'color: "#12345"',
    "tags: [a]",
    "tags: { a: 1 }",
    "description: [x]",
    "modules: [XX]",
    "modules: CD",
  ];
  for (const line of bad) {
    const { status, body } = await create.project(platform, projectYaml("bad", `  ${line}\n`));
    assert.deepEqual([status, body.code], [400, "SCHEMA_VALIDATION_FAILED"], line);
  }
  for (const identifier of ["1a", "a-b", '""', "true", "new", "a b", "x".repeat(129), "ä"])
    assert.equal((await create.project(platform, projectYaml(identifier))).status, 400, identifier);
});

const nodes = "nodes { id name } pageInfo { limit offset total hasMore }";

test("applications: all projects by name, with limit and offset", async () => {
  const all = await platform.graphql(`{ applications(limit: 1000) { ${nodes} } }`);
  const { nodes: found, pageInfo } = all.body.data.applications;
  assert.ok(found.length >= 5);
  assert.deepEqual(pageInfo, { limit: 1000, offset: 0, total: found.length, hasMore: false });
  for (const { id } of found) assert.match(id, /^[A-Za-z0-9_-]{22}$/);
  const page = await platform.graphql(`{ applications(limit: 2, offset: 1) { ${nodes} } }`);
  assert.deepEqual(page.body.data.applications.nodes, found.slice(1, 3));
  assert.deepEqual(page.body.data.applications.pageInfo, { limit: 2, offset: 1, total: found.length, hasMore: true });
  const none = await platform.graphql(`{ applications(limit: 0, offset: 999) { ${nodes} } }`);
  assert.deepEqual(none.body.data.applications.nodes, []);
  const far = await platform.graphql("{ applications(limit: 5000) { pageInfo { limit } } }");
  assert.equal(far.body.data.applications.pageInfo.limit, 1000);
  const asked = await platform.graphql("{ applications { pageInfo { limit offset } } }");
  assert.deepEqual(asked.body.data.applications.pageInfo, { limit: 100, offset: 0 });
  for (const [args, name] of [
    ["limit: -1", "limit"],
    ["offset: -1", "offset"],
  ]) {
    const { body } = await platform.graphql(`{ applications(${args}) { nodes { id } } }`);
    assert.equal(
      body.errors[0].message,
      `Exception while fetching data (/applications) : ${name} must not be negative.`,
    );
    assert.equal(body.errors[0].extensions.code, "INVALID_ARGUMENT");
  }
});

test("application: an unknown id, a malformed one and one of another account answer alike (spec, rule 1)", async () => {
  const list = await platform.graphql("{ applications(limit: 1) { nodes { id name description createdAt } } }");
  const [mine] = list.body.data.applications.nodes;
  const query = "query ($id: String!) { application(applicationId: $id) { id name description createdAt } }";
  assert.deepEqual((await platform.graphql(query, { id: mine.id })).body, { data: { application: mine } });
  const other = await platform.addAccount();
  const send = { apiKey: other.apiKey, account: other.accountId };
  const theirs = await platform.send("POST", "/ng/api/projects?orgIdentifier=default", {
    ...send,
    contentType: YAML,
    body: projectYaml("theirs"),
  });
  assert.equal(theirs.status, 200);
  const [row] = await platform.db.query<{ id: string }>("select id from projects where identifier = 'theirs'");
  const foreign = Buffer.from(String(row?.id).replaceAll("-", ""), "hex").toString("base64url");
  const refused = {
    data: { application: null },
    errors: [
      {
        message: "Exception while fetching data (/application) : User not authorized.",
        locations: [{ line: 1, column: 24 }],
        path: ["application"],
        extensions: { classification: "DataFetchingException", code: "ACCESS_DENIED" },
      },
    ],
  };
  const malformed = ["", "x", "\0", mine.name, `${mine.id}=`, String(row?.id), "AAAAAAAAAAAAAAAAAAAAAA", foreign];
  for (const id of malformed) assert.deepEqual((await platform.graphql(query, { id })).body, refused, id);
  const names = (await platform.graphql("{ applications(limit: 1000) { nodes { name id } } }")).text;
  assert.ok(!names.includes(foreign));
  assert.equal((await platform.send("GET", "/ng/api/projects/theirs?orgIdentifier=default")).status, 404);
});

test("userByName: id and name, and the error that clients expect for an unknown user", async () => {
  const query = "query ($name: String!) { userByName(name: $name) { id name } }";
  const { body } = await platform.graphql(query, { name: "admin" });
  assert.deepEqual(Object.keys(body), ["data"]);
  assert.equal(body.data.userByName.name, "admin");
  assert.match(body.data.userByName.id, /^[A-Za-z0-9_-]{22}$/);
  const [theirs] = await platform.db.query<{ name: string }>("select name from users where name <> 'admin' limit 1");
  for (const name of ["nobody", "", "Admin", String(theirs?.name)]) {
    const answer = await platform.graphql(query, { name });
    assert.equal(
      answer.body.errors[0].message,
      "Exception while fetching data (/userByName) : User does not exist.",
      name,
    );
    assert.deepEqual(answer.body.data, { userByName: null });
  }
});
