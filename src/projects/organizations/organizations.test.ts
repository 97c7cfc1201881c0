/** Organizations and projects over REST beyond their creation. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, projectYaml, YAML } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

const PATH = "/ng/api/organizations";
const orgYaml = (identifier: string, more = ""): string =>
  `organization:\n  name: The ${identifier}\n  identifier: ${identifier}\n${more}`;
const createOrg = (identifier: string, more = ""): Promise<Answer> =>
  platform.send("POST", PATH, { contentType: YAML, body: orgYaml(identifier, more) });
const put = (path: string, body: string, version?: string): Promise<Answer> =>
  platform.send("PUT", path, {
    contentType: YAML,
    body,
    headers: version === undefined ? {} : { "if-match": version },
  });
const remove = (path: string, version?: string): Promise<Answer> =>
  platform.send("DELETE", path, { headers: version === undefined ? {} : { "if-match": version } });
const codes = ({ status, body }: Answer): unknown[] => [status, body.code];
const lastEntry = async (): Promise<unknown> =>
  (
    await platform.db.query(
      "select operation, resource_type, resource_id, org_identifier, project_identifier from audit_entries order by id desc limit 1",
    )
  )[0];

test("an organization: every field of the answer, read back the same, with its entry in the trail", async () => {
  const answer = await createOrg("west", "  description: Far\n  tags: { team: w }\n");
  const { correlationId, ...body } = answer.body;
  const now = platform.clock.now();
  assert.deepEqual(body, {
    status: "SUCCESS",
    data: {
      organization: { identifier: "west", name: "The west", description: "Far", tags: { team: "w" } },
      createdAt: now,
      lastModifiedAt: now,
      platformManaged: false,
    },
    metaData: null,
  });
  assert.equal(answer.headers.get("etag"), '"1"');
  assert.deepEqual(await lastEntry(), {
    operation: "organization.create",
    resource_type: "ORGANIZATION",
    resource_id: "west",
    org_identifier: "west",
    project_identifier: null,
  });
  for (const prefix of ["", "/gateway"]) {
    const read = await platform.send("GET", `${prefix}${PATH}/west`);
    assert.deepEqual({ ...read.body, correlationId }, answer.body);
  }
  const again = await createOrg("west");
  assert.deepEqual(codes(again), [400, "DUPLICATE_FIELD"]);
  assert.equal(again.body.message, "An organization with identifier [west] already exists in this account.");
  assert.deepEqual(codes(await platform.send("GET", `${PATH}/nowhere`)), [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
});

test("an update replaces the changeable fields under If-Match, and names the current version", async () => {
  await made(createOrg("changing", "  description: old\n"));
  platform.clock.advance(5);
  const changed = await put(`${PATH}/changing`, orgYaml("changing", "  tags: { a: b }\n"), "1");
  assert.equal(changed.headers.get("etag"), '"2"');
  const { organization, createdAt, lastModifiedAt } = changed.body.data;
  assert.deepEqual([organization.description, organization.tags, lastModifiedAt - createdAt], ["", { a: "b" }, 5]);
  const stale = await put(`${PATH}/changing`, orgYaml("changing"), "1");
  assert.deepEqual(codes(stale), [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
  assert.match(stale.body.message, /at version 2, the request is for version 1/);
  assert.deepEqual(codes(await put(`${PATH}/changing`, orgYaml("other"))), [400, "INVALID_REQUEST"]);
  assert.deepEqual(codes(await put(`${PATH}/nowhere`, orgYaml("nowhere"))), [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
  const both = await Promise.all([1, 2, 3].map(() => put(`${PATH}/changing`, orgYaml("changing"), "2")));
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 402, 402],
  );
});

test("default and organizations with projects cannot be deleted; others can", async () => {
  const kept = await remove(`${PATH}/default`);
  assert.deepEqual(codes(kept), [402, "DELETE_NOT_ALLOWED"]);
  assert.equal((await made(platform.send("GET", `${PATH}/default`))).platformManaged, true);
  await made(createOrg("full"));
  await made(
    platform.send("POST", "/ng/api/projects?orgIdentifier=full", {
      contentType: YAML,
      body: "project: { name: x, identifier: inner }",
    }),
  );
  const refused = await remove(`${PATH}/full`);
  assert.deepEqual(codes(refused), [402, "ENTITY_REFERENCE_EXCEPTION"]);
  assert.equal(refused.body.message, "Organization [full] is used by its projects inner and cannot be deleted.");
  assert.equal(await made(remove("/ng/api/projects/inner?orgIdentifier=full")), true);
  assert.deepEqual(codes(await remove(`${PATH}/full`, "7")), [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
  assert.equal(await made(remove(`${PATH}/full`, "1")), true);
  assert.deepEqual(codes(await remove(`${PATH}/full`)), [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
});

test("a project created while its organization is deleted prevents the deletion or is rejected", async () => {
  for (let round = 0; round < 5; round += 1) {
    const org = `racing${round}`;
    await made(createOrg(org));
    const [created, removed] = await Promise.all([
      platform.send("POST", `/ng/api/projects?orgIdentifier=${org}`, {
        contentType: YAML,
        body: "project: { name: x, identifier: inner }",
      }),
      remove(`${PATH}/${org}`),
    ]);
    if (created.status === 200) assert.equal(removed.status, 402, removed.text);
    else {
      assert.ok([404, 503].includes(created.status), created.text);
      assert.equal(removed.status, 200);
    }
  }
});

test("organizations by name, searched and paged", async () => {
  for (const name of ["l_one", "l_two", "l%three"]) {
    const identifier = name.replaceAll("%", "_");
    await made(createOrg(identifier));
  }
  const list = async (query: string) => made(platform.send("GET", `${PATH}?${query}`));
  const names = (page: { content: { organization: { identifier: string } }[] }): string[] =>
    page.content.map(({ organization }) => organization.identifier);
  assert.deepEqual(names(await list("searchTerm=THE%20l_")), ["l_one", "l_three", "l_two"]);
  assert.deepEqual(names(await list("searchTerm=l%25")), []);
  assert.deepEqual(names(await list("identifiers=l_one&identifiers=default")), ["default", "l_one"]);
  const { content, ...page } = await list("searchTerm=l_&pageSize=2&pageIndex=1");
  assert.deepEqual(names({ content }), ["l_two"]);
  assert.deepEqual(page, {
    totalPages: 2,
    totalItems: 3,
    pageItemCount: 1,
    pageSize: 2,
    pageIndex: 1,
    empty: false,
    pageToken: null,
  });
});

test("projects of one, several and all organizations, filtered by name and modules", async () => {
  await made(createOrg("north"));
  await made(create.project(platform, projectYaml("p_one")));
  await made(create.project(platform, projectYaml("p_two")));
  await made(
    platform.send("POST", "/ng/api/projects?orgIdentifier=north", {
      contentType: YAML,
      body: "project: { name: Another, identifier: p_north }",
    }),
  );
  const list = async (query: string): Promise<string[]> =>
    (await made(platform.send("GET", `/ng/api/projects${query}`))).content.map(
      ({ project }: { project: { identifier: string } }) => project.identifier,
    );
  assert.deepEqual(await list("?searchTerm=P_"), ["p_north", "p_one", "p_two"]);
  assert.deepEqual(await list("?searchTerm=p_&orgIdentifier=north"), ["p_north"]);
  assert.deepEqual(await list("?orgIdentifier=nowhere"), []);
  assert.deepEqual(await list("?identifiers=p_one&identifiers=p_north"), ["p_north", "p_one"]);
  assert.deepEqual(await list("/list?searchTerm=p_&orgIdentifiers=north&orgIdentifiers=default&pageSize=2"), [
    "p_north",
    "p_one",
  ]);
  assert.deepEqual(await list("?searchTerm=p_&hasModule=true&moduleType=CD"), ["p_north", "p_one", "p_two"]);
  assert.deepEqual(await list("?searchTerm=p_&hasModule=false&moduleType=CD"), []);
  assert.equal((await platform.send("GET", "/ng/api/projects?moduleType=XX")).status, 400);
  const other = await platform.addAccount();
  const theirs = await platform.send("GET", "/ng/api/projects", { apiKey: other.apiKey, account: other.accountId });
  assert.equal(theirs.body.data.totalItems, 0);
});

test("a project is replaced under If-Match, and keeps its place", async () => {
  await made(create.project(platform, projectYaml("worked", "  description: old\n")));
  const path = "/ng/api/projects/worked?orgIdentifier=default";
  const read = await platform.send("GET", path);
  assert.equal(read.headers.get("etag"), '"1"');
  const changed = await put(path, "project: { name: New, identifier: worked, color: '#000000' }", '"1"');
  const { project } = changed.body.data;
  assert.deepEqual([project.name, project.color, project.description], ["New", "#000000", ""]);
  assert.deepEqual(codes(await put(path, projectYaml("worked"), "1")), [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
  assert.deepEqual(codes(await put(path, projectYaml("other"))), [400, "INVALID_REQUEST"]);
  assert.deepEqual(codes(await put("/ng/api/projects/no?orgIdentifier=default", projectYaml("no"))), [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
  ]);
  assert.deepEqual(codes(await remove(path, "1")), [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
  assert.deepEqual(codes(await put(path, projectYaml("worked"), "x")), [400, "INVALID_REQUEST"]);
});

test("organizations and projects have the requested order, then by id; an unknown order is rejected by name", async () => {
  for (const [identifier, name] of [
    ["s_b", "Same"],
    ["s_a", "Same"],
    ["s_c", "Alone"],
  ]) {
    platform.clock.advance(10);
    const inside = `{ name: ${name}, identifier: ${identifier} }`;
    await made(platform.send("POST", PATH, { contentType: YAML, body: `organization: ${inside}` }));
    await made(
      platform.send("POST", "/ng/api/projects?orgIdentifier=default", {
        contentType: YAML,
        body: `project: ${inside}`,
      }),
    );
  }
  platform.clock.advance(10);
  await made(put(`${PATH}/s_b`, "organization: { name: Same, identifier: s_b }"));
  await made(put("/ng/api/projects/s_b?orgIdentifier=default", "project: { name: Same, identifier: s_b }"));
  const sorted = async (path: string, ...orders: string[]): Promise<string[]> => {
    const query = orders.map((order) => `&sortOrders=${encodeURIComponent(order)}`).join("");
    const page = await made(platform.send("GET", `${path}?searchTerm=s_${query}`));
    return page.content.map(
      (one: { organization?: { identifier: string }; project?: { identifier: string } }) =>
        (one.organization ?? one.project)?.identifier,
    );
  };
  for (const path of [PATH, "/ng/api/projects", "/ng/api/projects/list"]) {
    assert.deepEqual(await sorted(path), ["s_c", "s_b", "s_a"], "by name, then by id, which says who came first");
    assert.deepEqual(await sorted(path, "name,DESC"), ["s_b", "s_a", "s_c"]);
    assert.deepEqual(await sorted(path, "name,ASC", "identifier,ASC"), ["s_c", "s_a", "s_b"]);
    assert.deepEqual(await sorted(path, "identifier,DESC"), ["s_c", "s_b", "s_a"]);
    assert.deepEqual(await sorted(path, "createdAt,ASC"), ["s_b", "s_a", "s_c"]);
    assert.deepEqual(await sorted(path, "lastModifiedAt,DESC"), ["s_b", "s_c", "s_a"]);
    for (const wrong of [
      "description,ASC",
      "name,UP",
      "name",
      "name,asc",
      "",
      "id,ASC",
      "name,ASC;select 1",
      "created_at,ASC",
    ]) {
      const refused = await platform.send("GET", `${path}?sortOrders=${encodeURIComponent(wrong)}`);
      assert.deepEqual(codes(refused), [400, "INVALID_REQUEST"], wrong);
      assert.ok(
        refused.body.message.startsWith(`Query parameter sortOrders cannot be [${wrong}]: it takes one of name,`),
      );
    }
    const twice = await platform.send("GET", `${path}?sortOrders=name,ASC&sortOrders=name,DESC`);
    assert.equal(twice.body.message, "Query parameter sortOrders.1 names a field twice.");
    const second = await platform.send("GET", `${path}?sortOrders=name,ASC&sortOrders=color,ASC`);
    assert.match(second.body.message, /^Query parameter sortOrders\.1 cannot be \[color,ASC\]/);
  }
});
