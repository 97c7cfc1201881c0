/** `/ng/api/v2/secrets` as a client of this API family calls it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml, YAML } from "../../../test/support/contract.ts";
import { adminOf, dumpOf, secretsOf } from "../../../test/support/secrets.ts";
import { startTestPlatform, type Answer, type SendOptions, type TestPlatform } from "../../../test/support/platform.ts";
import { recordedLog } from "../../../test/support/watch.ts";

const log = recordedLog();
let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform({ logTo: log.stream });
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const PATH = "/gateway/ng/api/v2/secrets";
const SHOP = "orgIdentifier=default&projectIdentifier=shop";

const secretOf = (identifier: string, more: object = {}, value: unknown = "v4lue") => ({
  secret: {
    type: "SecretText",
    name: identifier,
    identifier,
    spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value },
    ...more,
  },
});
const send = (method: string, path: string, body?: unknown, how: SendOptions = {}): Promise<Answer> =>
  platform.send(method, `${PATH}${path}`, {
    ...(body === undefined ? {} : { contentType: JSON_TYPE, body: JSON.stringify(body) }),
    ...how,
  });
const valueOf = (reference: string): Promise<string> =>
  secretsOf(platform).openText(adminOf(platform), { orgIdentifier: "default", projectIdentifier: "shop" }, reference);

test("a text at account, organization and project: every field of the answer, and no value", async () => {
  for (const [query, reference, orgIdentifier, projectIdentifier] of [
    ["", "account.token", null, null],
    ["?orgIdentifier=default", "org.token", "default", null],
    [`?${SHOP}`, "token", "default", "shop"],
  ] as const) {
    const more = { description: "To pull", tags: { team: "a" }, orgIdentifier, projectIdentifier };
    const answer = await send("POST", query, secretOf("token", more, `value of ${reference}`));
    const data = {
      secret: {
        type: "SecretText",
        name: "token",
        identifier: "token",
        orgIdentifier,
        projectIdentifier,
        tags: { team: "a" },
        description: "To pull",
        owner: null,
        spec: {
          secretManagerIdentifier: "platformSecretManager",
          valueType: "Inline",
          value: null,
          additionalMetadata: null,
        },
      },
      createdAt: platform.clock.now(),
      updatedAt: platform.clock.now(),
      draft: false,
      governanceMetadata: null,
    };
    const { correlationId: _, ...body } = answer.body;
    assert.deepEqual(body, { status: "SUCCESS", data, metaData: null });
    assert.equal(answer.headers.get("etag"), '"1"');
    assert.deepEqual(await made(send("GET", `/token${query}`)), data);
    assert.equal(await valueOf(reference), `value of ${reference}`);
  }
});

test("YAML does too, also under /yaml", async () => {
  for (const [path, identifier] of [
    ["", "as_yaml"],
    ["/yaml", "as_yaml2"],
  ]) {
    const body = `secret:\n  type: SecretText\n  name: y\n  identifier: ${identifier}\n  spec: { value: "from yaml" }\n`;
    const { secret } = await made(send("POST", `${path}?${SHOP}`, undefined, { contentType: YAML, body }));
    assert.equal(secret.spec.secretManagerIdentifier, "platformSecretManager");
    assert.equal(await valueOf(String(identifier)), "from yaml");
  }
});

test("replacing keeps the value unless there is a new one, under If-Match", async () => {
  await made(send("POST", "", secretOf("kept", { description: "old" })));
  const renamed = await send("PUT", "/kept", secretOf("kept", { name: "Kept" }, null), {
    headers: { "if-match": "1" },
  });
  assert.deepEqual([renamed.status, renamed.headers.get("etag")], [200, '"2"']);
  assert.deepEqual([renamed.body.data.secret.name, renamed.body.data.secret.description], ["Kept", ""]);
  assert.equal(await valueOf("account.kept"), "v4lue");
  await made(send("PUT", "/kept/yaml", secretOf("kept", {}, "n3w")));
  assert.equal(await valueOf("account.kept"), "n3w");
  for (const method of ["PUT", "DELETE"]) {
    const stale = await send(method, "/kept", method === "PUT" ? secretOf("kept") : undefined, {
      headers: { "if-match": "1" },
    });
    assert.deepEqual([stale.status, stale.body.code], [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
  }
  assert.equal(
    await made(send("DELETE", "/kept?forceDelete=false", undefined, { headers: { "if-match": "3" } })),
    true,
  );
  const gone = await send("GET", "/kept");
  assert.deepEqual([gone.status, gone.body.code], [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
});

test("lists: by scope, type, search, identifiers, pages", async () => {
  for (const identifier of ["list_a", "list_b", "list_c"])
    await made(send("POST", "?orgIdentifier=default", secretOf(identifier, { name: `List 1.0 ${identifier}` })));
  const found = async (answer: Promise<Answer>): Promise<string[]> =>
    (await made(answer)).content.map(({ secret }: { secret: { identifier: string } }) => secret.identifier);
  const org = "orgIdentifier=default";
  assert.deepEqual(await found(send("GET", `?${org}&searchTerm=LIST_`)), ["list_a", "list_b", "list_c"]);
  assert.deepEqual(await found(send("GET", `?${org}&searchTerm=T%201.0%20l`)), ["list_a", "list_b", "list_c"]);
  assert.deepEqual(await found(send("GET", `?${org}&searchTerm=1_0`)), []);
  assert.deepEqual(await found(send("GET", `?${org}&searchTerm=%25`)), []);
  assert.deepEqual(await found(send("GET", `?${org}&searchTerm=list&pageIndex=1&pageSize=2`)), ["list_c"]);
  assert.deepEqual(await found(send("GET", `?${SHOP}&searchTerm=list`)), []);
  const backwards = "sortOrders=identifier,DESC";
  assert.deepEqual(await found(send("GET", `?${org}&searchTerm=list_&${backwards}`)), ["list_c", "list_b", "list_a"]);
  assert.deepEqual(await found(send("POST", `/list?${org}&sortOrders=name,DESC`, { searchTerm: "list_" })), [
    "list_c",
    "list_b",
    "list_a",
  ]);
  assert.deepEqual(await found(send("GET", `?${org}&type=SecretFile`)), []);
  assert.deepEqual(await found(send("GET", `?${org}&type=SSHKey`)), []);
  const filter = (body: object): Promise<string[]> => found(send("POST", `/list?${org}`, body));
  assert.deepEqual(await filter({ filterType: "Secret", identifiers: ["list_a", "list_c", "token"] }), [
    "list_a",
    "list_c",
    "token",
  ]);
  assert.deepEqual(await filter({ searchTerm: "list", secretTypes: ["SecretText"] }), ["list_a", "list_b", "list_c"]);
  assert.deepEqual(await filter({ secretTypes: ["SSHKey"] }), []);
  assert.equal((await made(send("POST", `/list?${org}&pageSize=1`))).totalItems, 4);
  await made(
    send(
      "POST",
      "?orgIdentifier=default",
      secretOf("list_d", { description: "100% hot", tags: { tier: "1", a: "b" } }),
    ),
  );
  for (const path of ["/list", "/list/secrets"]) {
    const narrowed = (body: object, more = ""): Promise<string[]> => found(send("POST", `${path}?${org}${more}`, body));
    assert.deepEqual(await narrowed({ secretIdentifier: "list_b" }), ["list_b"]);
    assert.deepEqual(await narrowed({ secretIdentifier: "list_b", identifiers: ["list_a"] }), []);
    assert.deepEqual(await narrowed({ secretName: "List 1.0 list_c" }), ["list_c"]);
    assert.deepEqual(await narrowed({ secretName: "list 1.0" }), []);
    assert.deepEqual(await narrowed({ description: "% HOT" }), ["list_d"]);
    assert.deepEqual(await narrowed({ tags: { tier: "1" } }), ["list_d"]);
    assert.deepEqual(await narrowed({ tags: { tier: "2" } }), []);
    const managed = { secretManagerIdentifiers: ["account.platformSecretManager"], searchTerm: "list_a" };
    assert.deepEqual(await narrowed(managed), ["list_a"]);
    assert.deepEqual(await narrowed({ secretManagerIdentifiers: ["other"] }), []);
    assert.deepEqual(await narrowed({}, "&searchTerm=list_c"), ["list_c"]);
  }
  for (const [path, body] of [
    ["?type=Other", undefined],
    ["?source_category=x", undefined],
    ["?sortOrders=value,ASC", undefined],
    ["/list", { includeSecretsFromEverySubScope: true }],
    ["/list", { sourceCategory: "CLOUD_PROVIDER" }],
    ["?orgIdentifier=none", undefined],
  ] as const) {
    const { status } = await send(body ? "POST" : "GET", path, body);
    assert.equal(status, path === "?orgIdentifier=none" ? 404 : 400, path);
  }
});

test("whether an identifier is free", async () => {
  await made(send("POST", "", secretOf("taken")));
  assert.equal(await made(send("GET", "/validateUniqueIdentifier/taken")), false);
  assert.equal(await made(send("GET", `/validateUniqueIdentifier/taken?${SHOP}`)), true);
});

test("every refusal says what is wrong, repeats no value, and leaves nothing", async () => {
  await made(send("POST", "", secretOf("there")));
  const before = await dumpOf(platform);
  const spec = (more: object) => ({ secret: { ...secretOf("x").secret, spec: { value: "s3cret-xyzzy", ...more } } });
  const refused: readonly (readonly [method: string, path: string, body: unknown, status: number, code: string])[] = [
    ["POST", "", secretOf("there", {}, "s3cret-xyzzy"), 400, "DUPLICATE_FIELD"],
    ["POST", "", secretOf("x", { name: "there" }, "s3cret-xyzzy"), 400, "DUPLICATE_FIELD"],
    ["POST", "", secretOf("x", {}, null), 400, "INVALID_REQUEST"],
    ["POST", "", secretOf("x", {}, ""), 400, "INVALID_REQUEST"],
    ["POST", "", secretOf("x", {}, { a: "s3cret-xyzzy" }), 400, "SCHEMA_VALIDATION_FAILED"],
    ["POST", "", spec({ valueType: "Reference" }), 400, "SCHEMA_VALIDATION_FAILED"],
    ["POST", "", spec({ valueType: "s3cret-xyzzy" }), 400, "SCHEMA_VALIDATION_FAILED"],
    ["POST", "", spec({ secretManagerIdentifier: "other" }), 404, "SECRET_MANAGEMENT_ERROR"],
    ["POST", "", secretOf("x", { type: "SSHKey" }, "s3cret-xyzzy"), 400, "SCHEMA_VALIDATION_FAILED"],
    ["POST", "", secretOf("x", { type: "SecretFile" }, "s3cret-xyzzy"), 400, "SCHEMA_VALIDATION_FAILED"],
    ["POST", "", secretOf("a b", {}, "s3cret-xyzzy"), 400, "SCHEMA_VALIDATION_FAILED"],
    ["POST", "", secretOf("status", {}, "s3cret-xyzzy"), 400, "SCHEMA_VALIDATION_FAILED"],
    ["POST", "", secretOf("x", { orgIdentifier: "default" }, "s3cret-xyzzy"), 400, "INVALID_REQUEST"],
    ["POST", "?orgIdentifier=none", secretOf("x", {}, "s3cret-xyzzy"), 404, "RESOURCE_NOT_FOUND_EXCEPTION"],
    ["POST", "?privateSecret=true", secretOf("x", {}, "s3cret-xyzzy"), 400, "INVALID_REQUEST"],
    ["PUT", "/there", secretOf("other", {}, "s3cret-xyzzy"), 400, "INVALID_REQUEST"],
    ["PUT", "/none", secretOf("none", {}, "s3cret-xyzzy"), 404, "RESOURCE_NOT_FOUND_EXCEPTION"],
    ["PUT", `/there?${SHOP}`, secretOf("there", {}, "s3cret-xyzzy"), 404, "RESOURCE_NOT_FOUND_EXCEPTION"],
    ["DELETE", "/none", undefined, 404, "RESOURCE_NOT_FOUND_EXCEPTION"],
    ["GET", "/none", undefined, 404, "RESOURCE_NOT_FOUND_EXCEPTION"],
  ];
  for (const [method, path, body, status, code] of refused) {
    const answer = await send(method, path, body);
    assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text);
    assert.ok(!answer.text.includes("s3cret-xyzzy"), answer.text);
  }
  for (const broken of [
    "secret: { spec: { value: s3cret-xyzzy",
    "secret:\n\t- s3cret-xyzzy: [",
    '{"secret":{"spec":{"value":"s3cret-xyzzy"',
  ]) {
    const answer = await send("POST", "", undefined, { contentType: YAML, body: broken });
    assert.equal(answer.status, 400);
    assert.ok(!answer.text.includes("s3cret-xyzzy"), answer.text);
  }
  assert.equal(log.count("s3cret-xyzzy"), 0);
  assert.equal(await dumpOf(platform), before);
});

test("no request reaches a secret of another account", async () => {
  await made(send("POST", "", secretOf("ours")));
  const other = await platform.addAccount();
  const how = { apiKey: other.apiKey, account: other.accountId };
  for (const [method, body] of [
    ["GET", undefined],
    ["PUT", secretOf("ours")],
    ["DELETE", undefined],
  ] as const)
    assert.equal((await send(method, "/ours", body, how)).status, 404, method);
  assert.deepEqual((await send("GET", "", undefined, how)).body.data.content, []);
  assert.equal(await valueOf("account.ours"), "v4lue");
});
