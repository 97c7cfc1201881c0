/** Environments and services over REST: the same operations, so the same tests. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { create, JSON_TYPE, made, projectYaml, YAML } from "../../test/support/contract.ts";
import { parseDocument } from "../platform/document/document.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const KINDS = [
  { noun: "environment", path: "/ng/api/environmentsV2", own: { type: "PreProduction" }, shown: { color: "#0063F7" } },
  { noun: "service", path: "/ng/api/servicesV2", own: {}, shown: {} },
] as const;
const SHOP = { orgIdentifier: "default", projectIdentifier: "shop" };
const IN_SHOP = "orgIdentifier=default&projectIdentifier=shop";

type Kind = (typeof KINDS)[number];
type Sent = { readonly headers?: Readonly<Record<string, string>> };

const sendJson = (method: string, path: string, body: unknown, how: Sent = {}): Promise<Answer> =>
  platform.send(method, path, { ...how, contentType: JSON_TYPE, body: JSON.stringify(body) });
const post = ({ path }: Kind, body: unknown): Promise<Answer> => sendJson("POST", path, body);
const sample = (kind: Kind, identifier: string, more: object = {}) => ({
  ...kind.own,
  identifier,
  name: identifier.toUpperCase(),
  ...more,
});
const audit = (noun: string): Promise<unknown[]> =>
  platform.db.query(
    `select operation, resource_type, resource_id, org_identifier, project_identifier from audit_entries
      where operation like $1 order by id`,
    [`${noun}.%`],
  );

for (const kind of KINDS) {
  const { noun, path } = kind;

  test(`${noun}: fields alone; every field of the answer, a document made of them, and read back the same`, async () => {
    const body = sample(kind, "full", { ...SHOP, description: " \nD", tags: { b: "2", a: "1" } });
    const answer = await sendJson("POST", `/gateway${path}`, body);
    assert.equal(answer.status, 200, answer.text);
    const { correlationId, ...rest } = answer.body;
    assert.match(correlationId, /^[0-9a-f-]{36}$/);
    const now = platform.clock.now();
    const { yaml, id, ...fields } = rest.data[noun];
    assert.match(id, /^[A-Za-z0-9_-]{22}$/);
    assert.deepEqual(fields, {
      accountId: platform.accountId,
      ...body,
      ...kind.shown,
      deleted: false,
      version: 1,
    });
    assert.deepEqual(structuredClone(parseDocument(yaml).value), { [noun]: body });
    assert.deepEqual(rest, {
      status: "SUCCESS",
      data: { [noun]: rest.data[noun], createdAt: now, lastModifiedAt: now },
      metaData: null,
    });
    const read = await platform.send("GET", `${path}/full?${IN_SHOP}`);
    assert.deepEqual(read.body.data, rest.data);
  });

  test(`${noun}: the document alone, as YAML and as JSON, is kept as it was sent`, async () => {
    const document = { [noun]: { ...sample(kind, "document"), ...SHOP } };
    const text = `# kept\n${JSON.stringify(document)}\n`;
    const asYaml = await made(platform.send("POST", path, { contentType: YAML, body: text }));
    assert.equal(asYaml[noun].yaml, text);
    assert.equal(asYaml[noun].name, "DOCUMENT");
    const asJson = await made(post(kind, { [noun]: { ...document[noun], identifier: "from_json" } }));
    assert.deepEqual(parse(asJson[noun].yaml), { [noun]: { ...document[noun], identifier: "from_json" } });
  });

  test(`${noun}: fields and the document in \`yaml\` together say one thing`, async () => {
    const yaml = `${noun}:\n  name: BOTH\n  identifier: both\n  tags: { a: "1", b: "2" }\n${noun === "environment" ? "  type: PreProduction\n" : ""}`;
    const saved = await made(post(kind, { ...SHOP, identifier: "both", tags: { b: "2", a: "1" }, yaml }));
    assert.deepEqual([saved[noun].name, saved[noun].yaml, saved[noun].projectIdentifier], ["BOTH", yaml, "shop"]);
    for (const [field, value] of [
      ["identifier", "other"],
      ["name", "other"],
      ["tags", { a: "1" }],
    ] as const) {
      const { status, body } = await post(kind, { ...SHOP, [field]: value, yaml });
      assert.deepEqual([status, body.code], [400, "INVALID_REQUEST"], field);
      assert.equal(body.metadata.schemaErrors[0].fqn, field);
      assert.match(body.message, new RegExp(`${field} is`));
    }
    const wrong = await post(kind, { yaml: `${noun}:\n  name: x\n  bogus: 1\n  identifier: y\n` });
    assert.equal(wrong.body.code, "SCHEMA_VALIDATION_FAILED");
    const fault = wrong.body.metadata.schemaErrors.find((one: { fqn: string }) => one.fqn === `${noun}.bogus`);
    assert.deepEqual([fault.line, fault.column], [3, 3], "the line counts in the document's own text");
  });

  test(`${noun}: the scope of the query is taken where the body names none, and may not contradict it`, async () => {
    const saved = await made(sendJson("POST", `${path}?${IN_SHOP}`, sample(kind, "by_query")));
    assert.equal(saved[noun].projectIdentifier, "shop");
    assert.deepEqual(parse(saved[noun].yaml)[noun].projectIdentifier, "shop");
    const other = await sendJson(
      "POST",
      `${path}?${IN_SHOP}`,
      sample(kind, "q", { orgIdentifier: "default", projectIdentifier: "other" }),
    );
    assert.deepEqual([other.status, other.body.code], [400, "INVALID_REQUEST"]);
    assert.match(other.body.message, /projectIdentifier/);
    for (const [scope, status] of [
      [{ orgIdentifier: "none" }, 404],
      [{ orgIdentifier: "default", projectIdentifier: "none" }, 404],
      [{ projectIdentifier: "shop" }, 400],
    ] as const)
      assert.equal((await post(kind, sample(kind, "s", scope))).status, status, JSON.stringify(scope));
  });

  test(`${noun}: one identifier in account, organization and project; taken once in each`, async () => {
    for (const scope of [{}, { orgIdentifier: "default" }, SHOP]) {
      await made(post(kind, sample(kind, "scoped", scope)));
      const again = await post(kind, sample(kind, "scoped", scope));
      assert.deepEqual([again.status, again.body.code], [400, "DUPLICATE_FIELD"]);
    }
    const [account, org] = [`${path}/scoped`, `${path}/scoped?orgIdentifier=default`];
    assert.equal((await made(platform.send("GET", account)))[noun].orgIdentifier, null);
    assert.equal((await made(platform.send("GET", org)))[noun].orgIdentifier, "default");
    const missing = await platform.send("GET", `${path}/none`);
    assert.deepEqual([missing.status, missing.body.code], [404, "ENTITY_NOT_FOUND"]);
  });

  test(`${noun}: PUT replaces what the body names, at the version that was read`, async () => {
    const url = path;
    const created = await made(post(kind, sample(kind, "put", { description: "old", tags: { a: "1" } })));
    platform.clock.advance(5);
    const change = sample(kind, "put", { name: "New" });
    const updated = await made(sendJson("PUT", url, change, { headers: { "if-match": "1" } }));
    const { version, name, description, tags } = updated[noun];
    assert.deepEqual({ version, name, description, tags }, { version: 2, name: "New", description: "", tags: {} });
    assert.deepEqual([updated.createdAt, updated.lastModifiedAt], [created.createdAt, created.createdAt + 5]);
    const stale = await sendJson("PUT", url, change, { headers: { "if-match": "1" } });
    assert.deepEqual([stale.status, stale.body.code], [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
    assert.equal((await sendJson("PUT", url, change)).body.data[noun].version, 3);
    assert.equal((await sendJson("PUT", url, change, { headers: { "if-match": "x" } })).status, 400);
    const none = await sendJson("PUT", url, sample(kind, "nothing"));
    assert.deepEqual([none.status, none.body.code], [404, "ENTITY_NOT_FOUND"]);
  });

  test(`${noun}: of two writers with the same version one wins`, async () => {
    await made(post(kind, sample(kind, "race")));
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        sendJson("PUT", path, sample(kind, "race", { name: `n${n}` }), { headers: { "if-match": "1" } }),
      ),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 402, 402, 402],
    );
  });

  test(`${noun}: upsert creates, then replaces; with a version it only replaces`, async () => {
    const url = `${path}/upsert`;
    const late = await sendJson("PUT", url, sample(kind, "up"), { headers: { "if-match": "1" } });
    assert.deepEqual([late.status, late.body.code], [404, "ENTITY_NOT_FOUND"]);
    const first = await made(sendJson("PUT", url, sample(kind, "up")));
    assert.equal(first[noun].version, 1);
    platform.clock.advance(7);
    const second = await made(sendJson("PUT", url, sample(kind, "up", { name: "Second" })));
    assert.deepEqual([second[noun].version, second[noun].name, second.createdAt], [2, "Second", first.createdAt]);
    const stale = await sendJson("PUT", url, sample(kind, "up"), { headers: { "if-match": "1" } });
    assert.equal(stale.status, 402);
    const raced = await Promise.all([1, 2, 3].map(() => sendJson("PUT", url, sample(kind, "up_raced"))));
    assert.deepEqual(
      raced.map(({ body }) => body.data[noun].version).toSorted((a, b) => a - b),
      [1, 2, 3],
    );
  });

  test(`${noun}: DELETE answers true once, at the version that was read`, async () => {
    await made(post(kind, sample(kind, "gone")));
    const stale = await platform.send("DELETE", `${path}/gone`, { headers: { "if-match": "2" } });
    assert.deepEqual([stale.status, stale.body.code], [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
    const url = `${path}/gone?forceDelete=true`;
    assert.equal(await made(platform.send("DELETE", url, { headers: { "if-match": "1" } })), true);
    assert.equal((await platform.send("DELETE", url)).status, 404);
    assert.equal((await platform.send("DELETE", `${path}/scoped?orgIdentifier=default&forceDelete=x`)).status, 400);
  });

  test(`${noun}: the list is one scope's, by identifier, in pages; the search takes any text as it is`, async () => {
    const org = "orgIdentifier=default";
    for (const [identifier, name] of [
      ["l_b", "Percent 100"],
      ["l_a", "Under.score"],
      ["l_c", "PERCENT"],
    ] as const)
      await made(post(kind, sample(kind, identifier, { orgIdentifier: "default", name })));
    const listed = async (query: string) => {
      const { content, ...page } = await made(platform.send("GET", `${path}?${org}&${query}`));
      return { ids: content.map((one: Record<string, { identifier: string }>) => one[noun]?.identifier), page };
    };
    assert.deepEqual((await listed("")).ids, ["l_a", "l_b", "l_c", "scoped"]);
    assert.deepEqual(await listed("page=1&size=3"), {
      ids: ["scoped"],
      page: {
        totalPages: 2,
        totalItems: 4,
        pageItemCount: 1,
        pageSize: 3,
        pageIndex: 1,
        empty: false,
        pageToken: null,
      },
    });
    // The same as a plain array.
    const array = await made(platform.send("GET", `${path}/list/access?${org}&size=2`));
    const whole = await made(platform.send("GET", `${path}?${org}&size=2`));
    assert.deepEqual(array, whole.content);
    assert.deepEqual((await listed("searchTerm=percent")).ids, ["l_b", "l_c"]);
    assert.deepEqual((await listed("searchTerm=L_A")).ids, ["l_a"]);
    for (const term of ["%25", "l%25a", "\\", "."])
      assert.deepEqual((await listed(`searchTerm=${term}`)).ids, term === "." ? ["l_a"] : [], term);
    assert.equal((await platform.send("GET", `${path}?${org}&size=1001`)).status, 400);
    assert.equal((await platform.send("GET", `${path}?${org}&page=-1`)).status, 400);
    assert.equal((await platform.send("GET", `${path}?orgIdentifier=none`)).status, 404);
  });

  test(`${noun}: what nothing reads yet is refused by name, an empty one is taken`, async () => {
    const { status, body } = await post(kind, { [noun]: { ...sample(kind, "later"), bogus: 1 } });
    assert.deepEqual([status, body.code], [400, "SCHEMA_VALIDATION_FAILED"]);
    const spec =
      noun === "service"
        ? (variables: unknown[]) => ({ serviceDefinition: { type: "Kubernetes", spec: { variables } } })
        : (variables: unknown[]) => ({ variables });
    const refused = await post(kind, { [noun]: { ...sample(kind, "later"), ...spec([{ name: "x" }]) } });
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /'variables' is not supported yet/);
    await made(post(kind, { [noun]: { ...sample(kind, "later"), ...spec([]) } }));
    if (noun === "service") {
      const ssh = { ...sample(kind, "ssh"), serviceDefinition: { type: "Ssh" } };
      assert.match((await post(kind, { service: ssh })).body.message, /Service type 'Ssh' is not supported yet/);
    }
  });

  test(`${noun}: each change is in the audit trail, and a refused one is not`, async () => {
    const before = (await audit(noun)).length;
    const key = { orgIdentifier: "default", projectIdentifier: "shop" };
    await made(post(kind, sample(kind, "audited", key)));
    await post(kind, sample(kind, "audited", key));
    await made(sendJson("PUT", path, sample(kind, "audited", key)));
    await made(sendJson("PUT", `${path}/upsert`, sample(kind, "audited", key)));
    await sendJson("PUT", path, sample(kind, "audited", key), { headers: { "if-match": "1" } });
    await made(platform.send("DELETE", `${path}/audited?${IN_SHOP}`));
    const row = {
      resource_type: noun.toUpperCase(),
      resource_id: "audited",
      org_identifier: "default",
      project_identifier: "shop",
    };
    assert.deepEqual((await audit(noun)).slice(before), [
      { operation: `${noun}.create`, ...row },
      { operation: `${noun}.update`, ...row },
      { operation: `${noun}.update`, ...row },
      { operation: `${noun}.delete`, ...row },
    ]);
  });

  test(`${noun}: nothing of another account is found, changed or listed`, async () => {
    const { accountId, apiKey } = await platform.addAccount();
    const asOther = { account: accountId, apiKey };
    await made(post(kind, sample(kind, "ours")));
    assert.equal((await platform.send("GET", `${path}/ours`, asOther)).status, 404);
    assert.equal((await platform.send("DELETE", `${path}/ours`, asOther)).status, 404);
    const put = { ...asOther, contentType: JSON_TYPE, body: JSON.stringify(sample(kind, "ours")) };
    assert.equal((await platform.send("PUT", path, put)).status, 404);
    assert.equal((await made(platform.send("GET", path, asOther))).totalItems, 0);
  });
}
