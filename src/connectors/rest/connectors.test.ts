/** The request "Create connector" of docs/contract.md, byte for byte. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connectorYaml, create, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const counts = async (): Promise<unknown> =>
  (
    await platform.db.query(
      "select (select count(*) from connectors) as connectors, (select count(*) from audit_entries) as audit",
    )
  )[0];
const IN_PROJECT = "  orgIdentifier: default\n  projectIdentifier: shop\n";

test("a connector: every field of the answer and every null, and read back the same", async () => {
  const more = `${IN_PROJECT}  description: Images\n  tags: { purpose: test }\n`;
  const answer = await create.connector(platform, connectorYaml("full", more));
  assert.equal(answer.status, 200, answer.text);
  const { correlationId, ...body } = answer.body;
  assert.match(correlationId, /^[0-9a-f-]{36}$/);
  const now = platform.clock.now();
  assert.deepEqual(body, {
    status: "SUCCESS",
    data: {
      connector: {
        name: "Registry",
        identifier: "full",
        description: "Images",
        orgIdentifier: "default",
        projectIdentifier: "shop",
        tags: { purpose: "test" },
        type: "ContainerRegistry",
        spec: {
          registryUrl: "https://registry.example.com/v2/",
          providerType: "PublicHosted",
          auth: { type: "Anonymous" },
          delegateSelectors: [],
        },
      },
      createdAt: now,
      lastModifiedAt: now,
      status: null,
      activityDetails: { lastActivityTime: now },
      platformManaged: false,
      gitDetails: { objectId: null, branch: null, repoIdentifier: null, rootFolder: null, filePath: null },
      entityValidityDetails: { valid: true, invalidYaml: null },
    },
    metaData: null,
  });
  for (const prefix of ["", "/gateway"]) {
    const read = await platform.send(
      "GET",
      `${prefix}/ng/api/connectors/full?orgIdentifier=default&projectIdentifier=shop`,
    );
    assert.deepEqual({ ...read.body, correlationId }, answer.body);
  }
});

test("delegate selectors are kept once each, in order", async () => {
  const body = connectorYaml("selected").replace("    auth:", "    delegateSelectors: [b, a, b]\n    auth:");
  assert.deepEqual((await made(create.connector(platform, body))).connector.spec.delegateSelectors, ["b", "a"]);
});

test("the document names the scope: account, organization or project, each with its own identifiers", async () => {
  const scopes = ["", "  orgIdentifier: default\n", IN_PROJECT, "  orgIdentifier:\n  projectIdentifier:\n"];
  const answers = [];
  for (const scope of scopes) answers.push(await create.connector(platform, connectorYaml("scoped", scope)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 400],
    "nulls are the account again",
  );
  assert.equal(answers[3]?.body.code, "DUPLICATE_FIELD");
  const account = answers[0]?.body.data.connector;
  assert.deepEqual([account.orgIdentifier, account.projectIdentifier], [null, null]);
  for (const [query, status] of [
    ["", 200],
    ["orgIdentifier=default", 200],
    ["orgIdentifier=default&projectIdentifier=none", 404],
  ] as const)
    assert.equal((await platform.send("GET", `/ng/api/connectors/scoped?${query}`)).status, status, query);
  const missing = await platform.send("GET", "/ng/api/connectors/none");
  assert.deepEqual([missing.status, missing.body.code], [404, "CONNECTOR_NOT_FOUND_EXCEPTION"]);
  for (const [scope, status, code] of [
    ["  projectIdentifier: shop\n", 400, "INVALID_REQUEST"],
    ["  orgIdentifier: none\n", 404, "RESOURCE_NOT_FOUND_EXCEPTION"],
    ["  orgIdentifier: default\n  projectIdentifier: none\n", 404, "RESOURCE_NOT_FOUND_EXCEPTION"],
  ] as const) {
    const { status: found, body } = await create.connector(platform, connectorYaml("x", scope));
    assert.deepEqual([found, body.code], [status, code], scope);
  }
});

test("a query that names another scope than the document is rejected", async () => {
  const inShop = connectorYaml("elsewhere", IN_PROJECT);
  const send = (method: "POST" | "PUT", query: string) =>
    platform.send(method, `/ng/api/connectors?${query}`, { contentType: "text/yaml", body: inShop });
  assert.equal((await send("POST", "orgIdentifier=default&projectIdentifier=shop")).status, 200);
  for (const method of ["POST", "PUT"] as const)
    for (const query of ["orgIdentifier=other&projectIdentifier=shop", "projectIdentifier=other"]) {
      const { status, body } = await send(method, query);
      assert.deepEqual([status, body.code], [400, "INVALID_REQUEST"], query);
      assert.match(body.message, /Identifier in the connector \[.*\] is not the one in the query \[other\]/);
    }
});

test("an identifier is unique in its scope, and a rejected connector leaves nothing", async () => {
  await made(create.connector(platform, connectorYaml("taken", IN_PROJECT)));
  const earlier = await counts();
  const again = await create.connector(platform, connectorYaml("taken", IN_PROJECT));
  assert.deepEqual([again.status, again.body.code], [400, "DUPLICATE_FIELD"]);
  assert.deepEqual(await counts(), earlier);
  const raced = await Promise.all([1, 2, 3, 4].map(() => create.connector(platform, connectorYaml("raced"))));
  assert.deepEqual(
    raced.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 400, 400, 400],
  );
});

test("unknown fields have no effect, and are named in a header", async () => {
  const plain = await made(create.connector(platform, connectorYaml("mass")));
  const fields = [
    "id",
    "accountId",
    "accountIdentifier",
    "createdAt",
    "platformManaged",
    "status",
    "activityDetails",
    "version",
  ];
  for (const [at, field] of fields.entries()) {
    const answer = await create.connector(platform, connectorYaml(`mass_${at}`, `  ${field}: true\n`));
    const { connector, ...rest } = await made(Promise.resolve(answer));
    assert.equal(answer.headers.get("railhead-ignored-fields"), `connector.${field}`);
    assert.deepEqual({ ...rest, connector: { ...connector, identifier: "mass" } }, plain);
  }
});

test("a connector as clients of this API family send it, with fields that only their server knows", async () => {
  const { accountId } = platform;
  const connector = {
    accountIdentifier: accountId,
    name: "Foreign",
    identifier: "foreign",
    description: "",
    type: "ContainerRegistry",
    spec: {
      connectorType: "ContainerRegistry",
      registryUrl: "https://registry.example.com/v2/",
      providerType: "PublicHosted",
      auth: { type: "Anonymous", _: null },
    },
    governanceMetadata: null,
  };
  const answer = await platform.send("POST", "/gateway/ng/api/connectors", {
    contentType: "application/json",
    body: JSON.stringify({ connector, _: null }),
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(
    answer.headers.get("railhead-ignored-fields"),
    "connector.accountIdentifier, connector.spec.connectorType, connector.spec.auth._, connector.governanceMetadata, _",
  );
  assert.deepEqual(Object.keys(answer.body.data.connector.spec), [
    "registryUrl",
    "providerType",
    "auth",
    "delegateSelectors",
  ]);
});

test("unsupported fields and wrong values are refused by name", async () => {
  const earlier = await counts();
  const inSpec = (line: string): string => connectorYaml("bad").replace("    auth:", `    ${line}\n    auth:`);
  for (const [line, message] of [
    ["proxy: true", /'proxy' is not supported yet/],
    ["executeOnDelegate: often", /Expected true or false/],
    ["executeOnDelegate: <+input>", /expressions and runtime inputs are not supported in connectors/],
    ["delegateSelectors: [<+pipeline.variables.x>]", /connector\.spec\.delegateSelectors\[0\]: expressions/],
    ["delegateSelectors: a", /Expected a list/],
  ] as const) {
    const { status, body } = await create.connector(platform, inSpec(line));
    assert.equal(status, 400, line);
    assert.match(body.message, message);
  }
  for (const [from, to] of [
    ["ContainerRegistry", "Git"],
    ["PublicHosted", "Unheard"],
    ["Anonymous", "UsernamePassword"],
    ["Anonymous", "Password"],
    ["https://registry.example.com/v2/", "ftp://x"],
    ["https://registry.example.com/v2/", "file:///etc/passwd"],
    ["https://registry.example.com/v2/", "https://user:secret@x/"],
    ["https://registry.example.com/v2/", "not an address"],
  ] as const) {
    const { status, body } = await create.connector(platform, connectorYaml("bad").replace(from, to));
    assert.deepEqual([status, body.code], [400, "SCHEMA_VALIDATION_FAILED"], to);
  }
  assert.deepEqual(await counts(), earlier);
});
