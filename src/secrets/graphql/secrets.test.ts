/**
 * Encrypted files and texts as a client of this API family asks for them: requests are written byte by byte, without a
 * client library.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { create, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { adminOf, dumpOf, secretsOf } from "../../../test/support/secrets.ts";
import { recordedLog } from "../../../test/support/watch.ts";

const log = recordedLog();
let platform: TestPlatform;
let shop: string;
before(async () => {
  platform = await startTestPlatform({ logTo: log.stream });
  await made(create.project(platform, projectYaml()));
  shop = (await platform.graphql("{ applications { nodes { id } } }")).body.data.applications.nodes[0].id;
});
after(() => platform?.stop());

const FIELDS = `id name secretType usageScope { appEnvScopes { application { filterType appId } environment { filterType envId } } }
  ... on EncryptedFile { secretManagerId inheritScopesFromSM scopedToAccount }
  ... on EncryptedText { secretManagerId inheritScopesFromSM scopedToAccount }`;
const CREATE = `mutation($secret: CreateSecretInput!) { createSecret(input: $secret) { clientMutationId secret { ${FIELDS} } } }`;
const UPDATE = `mutation($secret: UpdateSecretInput!) { updateSecret(input: $secret) { secret { ${FIELDS} } } }`;
const DELETE = "mutation($secret: DeleteSecretInput!) { deleteSecret(input: $secret) { clientMutationId } }";
const READ = `query($id: String!, $type: SecretType!) { secret(secretId: $id, secretType: $type) { ${FIELDS} } }`;
const BY_NAME = `query($name: String!) { secretByName(name: $name, secretType: ENCRYPTED_FILE) { ${FIELDS} } }`;

const PRODUCTION = {
  appEnvScopes: [{ application: { filterType: "ALL" }, environment: { filterType: "PRODUCTION_ENVIRONMENTS" } }],
};
const READ_PRODUCTION = {
  appEnvScopes: [
    {
      application: { filterType: "ALL", appId: null },
      environment: { filterType: "PRODUCTION_ENVIRONMENTS", envId: null },
    },
  ],
};
const INHERITING = { scopedToAccount: false, inheritScopesFromSM: true, usageScope: null };

type Part = readonly [name: string, body: string | Buffer, more?: string];
const BOUNDARY = "----RailheadTest7MA4YWxk";

function formOf(...parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(([name, body, more = ""]) => [
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`,
    body,
    "\r\n",
  ]);
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)));
}
const FORM = `multipart/form-data; boundary=${BOUNDARY}`;
const FILE_HEADERS = '; filename="key.pem"\r\nContent-Type: application/octet-stream';

const queryPart = (query: string, variables: unknown): Part => ["query", JSON.stringify({ query, variables })];
const filePart = (content: string | Buffer): Part => ["file", content, FILE_HEADERS];

const sendForm = (body: Buffer, on = platform): Promise<Answer> =>
  on.send("POST", `/gateway/api/graphql?accountId=${on.accountId}`, { contentType: FORM, body });

const upload = (query: string, secret: unknown, content: string | Buffer, on = platform): Promise<Answer> =>
  sendForm(formOf(filePart(content), queryPart(query, { secret })), on);

/** What a run would get: no answer has it. */
async function contentOf(name: string): Promise<Buffer> {
  const secrets = secretsOf(platform);
  const { identifier } = await secrets.get(adminOf(platform), { by: "name", name });
  const home = { orgIdentifier: null, projectIdentifier: null };
  const { read } = await secrets.resolve(adminOf(platform), home, `account.${identifier}`);
  return Buffer.concat(await Array.fromAsync(read()));
}

async function created(answer: Promise<Answer>) {
  const { status, text, body } = await answer;
  assert.equal(status, 200, text);
  assert.equal(body.errors, undefined, text);
  return (body.data.createSecret ?? body.data.updateSecret).secret;
}

const messageOf = ({ body, text }: Answer): string => {
  assert.ok(body.errors?.length > 0, text);
  return String(body.errors[0].message).replace(/^Exception while fetching data \(\/\w+\) : /, "");
};
const file = (name: string, more: object = {}) => ({ secretType: "ENCRYPTED_FILE", encryptedFile: { name, ...more } });
const text = (name: string, more: object = {}) => ({ secretType: "ENCRYPTED_TEXT", encryptedText: { name, ...more } });

test("a file is created from the parts file and query, in either order, and read by id and by name", async () => {
  const content = randomBytes(300_000);
  const variables = { secret: file("key file", { secretManagerId: platform.accountId, usageScope: PRODUCTION }) };
  const parts = [filePart(content), queryPart(CREATE, variables)] as const;
  const secret = await created(sendForm(formOf(...parts)));
  assert.match(secret.id, /^[A-Za-z0-9_-]{22}$/);
  const expected = {
    id: secret.id,
    name: "key file",
    secretType: "ENCRYPTED_FILE",
    usageScope: READ_PRODUCTION,
    secretManagerId: platform.accountId,
    inheritScopesFromSM: false,
    scopedToAccount: false,
  };
  assert.deepEqual(secret, expected);
  const byId = await platform.graphql(READ, { id: secret.id, type: "ENCRYPTED_FILE" });
  assert.deepEqual(byId.body, { data: { secret: expected } });
  assert.deepEqual((await platform.graphql(BY_NAME, { name: "key file" })).body, { data: { secretByName: expected } });
  assert.ok((await contentOf("key file")).equals(content));

  const other = { secret: file("other order", { ...INHERITING, secretManagerId: platform.accountId }) };
  await created(sendForm(formOf(queryPart(CREATE, other), filePart(content))));
  assert.ok((await contentOf("other order")).equals(content));
});

test("the inheriting form, and a mixed one: inheriting wins", async () => {
  for (const [name, scoping] of [
    ["inherits", INHERITING],
    ["nothing said", {}],
    ["mixed", { inheritScopesFromSM: true, usageScope: PRODUCTION }],
  ] as const) {
    const secret = await created(upload(CREATE, file(name, scoping), "x"));
    const { usageScope, inheritScopesFromSM, scopedToAccount } = secret;
    assert.deepEqual([usageScope, inheritScopesFromSM, scopedToAccount], [null, true, false], name);
  }
  const secret = await created(upload(CREATE, file("of the account", { scopedToAccount: true }), "x"));
  assert.deepEqual([secret.usageScope, secret.inheritScopesFromSM, secret.scopedToAccount], [null, false, true]);
});

test("update of the name alone, of the file alone, of the scope alone, and of all three", async () => {
  const { id } = await created(upload(CREATE, file("changing", { usageScope: PRODUCTION }), "first"));
  const change = (encryptedFile: object) => ({ secretId: id, secretType: "ENCRYPTED_FILE", encryptedFile });
  const json = (encryptedFile: object): Promise<Answer> => platform.graphql(UPDATE, { secret: change(encryptedFile) });

  const renamed = await created(json({ name: "changed" }));
  assert.deepEqual([renamed.id, renamed.name, renamed.usageScope], [id, "changed", READ_PRODUCTION]);
  assert.equal(String(await contentOf("changed")), "first");
  const gone = await platform.graphql(BY_NAME, { name: "changing" });
  assert.match(messageOf(gone), /^No secret exists with the name \[changing\]\.$/);

  assert.deepEqual(await created(upload(UPDATE, change({}), "second")), renamed);
  assert.equal(String(await contentOf("changed")), "second");
  assert.deepEqual(await created(upload(UPDATE, change({ name: "changed" }), "third")), renamed);

  const inherits = await created(json(INHERITING));
  assert.deepEqual([inherits.usageScope, inherits.inheritScopesFromSM], [null, true]);
  const scoped = await created(json({ usageScope: PRODUCTION }));
  assert.deepEqual([scoped.usageScope, scoped.inheritScopesFromSM], [READ_PRODUCTION, false]);
  assert.equal(String(await contentOf("changed")), "third");

  const all = await created(upload(UPDATE, change({ name: "all new", ...INHERITING }), "fourth"));
  assert.deepEqual([all.name, all.inheritScopesFromSM], ["all new", true]);
  assert.equal(String(await contentOf("all new")), "fourth");
  const chunks = await platform.db.query(
    `select count(*) as n from secret_contents c join secret_chunks k on k.content_id = c.id
       join secrets s on s.id = c.secret_id where s.name = 'all new'`,
  );
  assert.deepEqual(chunks, [{ n: 1 }]);
});

test("value: ignored beside a file, the content without one", async () => {
  await created(upload(CREATE, file("both", { value: "not this" }), "this"));
  assert.equal(String(await contentOf("both")), "this");
  await created(platform.graphql(CREATE, { secret: file("only value", { value: "välue" }) }));
  assert.equal(String(await contentOf("only value")), "välue");
  for (const without of [file("none"), file("none", { value: "" }), file("none", { value: null }), text("none")])
    assert.match(
      messageOf(await platform.graphql(CREATE, { secret: without })),
      /^The secret \[none\] has no content: /,
    );
  await created(upload(CREATE, file("empty file"), ""));
  assert.equal((await contentOf("empty file")).length, 0);
});

test("encrypted text: created, read by fields of the interface, changed, deleted", async () => {
  const made = await platform.graphql(CREATE, {
    secret: { ...text("a-token", { value: "t0ken" }), clientMutationId: "7" },
  });
  const { clientMutationId, secret } = made.body.data.createSecret;
  assert.equal(clientMutationId, "7");
  assert.deepEqual([secret.secretType, secret.secretManagerId], ["ENCRYPTED_TEXT", platform.accountId]);
  const input = { secretId: secret.id, secretType: "ENCRYPTED_TEXT", encryptedText: { value: "n3w" } };
  assert.deepEqual(await created(platform.graphql(UPDATE, { secret: input })), secret);
  assert.equal(String(await contentOf("a-token")), "n3w");
  const plain = await platform.graphql(
    `{ secret(secretId: "${secret.id}", secretType: ENCRYPTED_TEXT) { id name secretType usageScope { appEnvScopes { application { appId } } } ... on EncryptedFile { scopedToAccount } } }`,
  );
  assert.deepEqual(plain.body.data.secret, {
    id: secret.id,
    name: "a-token",
    secretType: "ENCRYPTED_TEXT",
    usageScope: null,
  });
  const { secretId, secretType } = input;
  const gone = await platform.graphql(DELETE, { secret: { secretId, secretType, clientMutationId: "8" } });
  assert.deepEqual(gone.body, { data: { deleteSecret: { clientMutationId: "8" } } });
  for (const [query, variables] of [
    [READ, { id: secretId, type: secretType }],
    [UPDATE, { secret: input }],
    [DELETE, { secret: { secretId, secretType } }],
  ] as const)
    assert.equal(messageOf(await platform.graphql(query, variables)), `No secret exists with the id [${secretId}].`);
  assert.deepEqual(await platform.db.query("select 1 from secret_contents where secret_id = $1", [uuid(secretId)]), []);
});

const uuid = (id: string): string =>
  Buffer.from(id, "base64url")
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

test("a value can never be selected", async () => {
  for (const field of [
    "value",
    "content",
    "secretReference",
    "... on EncryptedFile { value }",
    "... on EncryptedText { value }",
  ]) {
    const { body } = await platform.graphql(`{ secret(secretId: "x", secretType: ENCRYPTED_FILE) { id ${field} } }`);
    assert.equal(body.errors[0].extensions.classification, "ValidationError", field);
  }
});

test("a secret of another type or account and a malformed id are reported as missing", async () => {
  const { id } = await created(upload(CREATE, file("typed"), "x"));
  const other = await platform.addAccount();
  const theirs = await platform.send("POST", `/api/graphql?accountId=${other.accountId}`, {
    apiKey: other.apiKey,
    contentType: "application/json",
    body: JSON.stringify({ query: CREATE, variables: { secret: text("typed", { value: "x" }) } }),
  });
  const foreign = theirs.body.data.createSecret.secret.id;
  for (const [asked, type] of [
    [id, "ENCRYPTED_TEXT"],
    [id, "SSH_CREDENTIAL"],
    [id, "WINRM_CREDENTIAL"],
    [foreign, "ENCRYPTED_TEXT"],
    ["AAAAAAAAAAAAAAAAAAAAAA", "ENCRYPTED_FILE"],
    ["", "ENCRYPTED_FILE"],
    ["\0", "ENCRYPTED_FILE"],
    ["typed", "ENCRYPTED_FILE"],
  ]) {
    const answer = await platform.graphql(READ, { id: asked, type });
    assert.equal(messageOf(answer), `No secret exists with the id [${asked}].`);
    assert.deepEqual(answer.body.data, { secret: null });
    const gone = await platform.graphql(DELETE, { secret: { secretId: asked, secretType: type } });
    assert.match(messageOf(gone), /^No secret exists/);
  }
  const outside = await platform.graphql(READ, { id, type: "ENCRYPTED_FILE" });
  assert.equal(outside.body.data.secret.id, id);
});

test("scopes: each error names the fault, and a valid scope is read back", async () => {
  const scope = (application: object, environment: object) => ({ appEnvScopes: [{ application, environment }] });
  const ALL = { filterType: "ALL" };
  const PROD = { filterType: "PRODUCTION_ENVIRONMENTS" };
  const nobody = "AAAAAAAAAAAAAAAAAAAAAA";
  const refused: readonly (readonly [object, RegExp])[] = [
    [scope({}, PROD), /application takes exactly one of filterType and appId/],
    [scope({ ...ALL, appId: shop }, PROD), /application takes exactly one/],
    [scope(ALL, {}), /environment takes exactly one of filterType and envId/],
    [scope(ALL, { ...PROD, envId: nobody }), /environment takes exactly one/],
    [scope({ appId: nobody }, PROD), /there is no application with id \[AAAAAAAAAAAAAAAAAAAAAA\]/],
    [scope({ appId: "shop" }, PROD), /there is no application with id \[shop\]/],
    [scope(ALL, { envId: nobody }), /there is no environment with id \[AAAAAAAAAAAAAAAAAAAAAA\]/],
    [scope(ALL, { envId: "" }), /there is no environment with id \[\]/],
  ];
  for (const [usageScope, message] of refused) {
    const answer = await upload(CREATE, file("scoped", { usageScope }), "x");
    assert.match(messageOf(answer), message);
    assert.equal(answer.body.errors[0].extensions.code, "INVALID_USAGE_RESTRICTION");
  }
  for (const usageScope of [
    scope(ALL, { filterType: "ALL" }),
    scope({ filterType: "SOME" }, PROD),
    { appEnvScopes: null },
  ]) {
    const { body } = await upload(CREATE, file("scoped", { usageScope }), "x");
    assert.equal(body.errors[0].extensions.classification, "ValidationError");
  }
  const own = scope({ appId: shop }, { filterType: "NON_PRODUCTION_ENVIRONMENTS" });
  const { usageScope } = await created(upload(CREATE, file("scoped", { usageScope: own }), "x"));
  assert.deepEqual(usageScope.appEnvScopes[0].application, { filterType: null, appId: shop });
});

test("a scope names an environment of its application by id, and loses the entry when the environment is deleted", async () => {
  const environment = async (body: object): Promise<string> => {
    const answer = await platform.send("POST", "/ng/api/environmentsV2", {
      contentType: "application/json",
      body: JSON.stringify({ type: "Production", ...body }),
    });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data.environment.id;
  };
  const inShop = { orgIdentifier: "default", projectIdentifier: "shop" };
  const envId = await environment({ name: "Live", identifier: "live", ...inShop });
  const shared = await environment({ name: "Shared", identifier: "shared" });
  const scope = (application: object, id: string) => ({
    appEnvScopes: [{ application, environment: { envId: id } }],
  });
  for (const [name, application, id] of [
    ["env_a", { appId: shop }, envId],
    ["env_b", { filterType: "ALL" }, envId],
    ["env_c", { appId: shop }, shared],
  ] as const) {
    const { usageScope } = await created(upload(CREATE, file(name, { usageScope: scope(application, id) }), "x"));
    assert.deepEqual(usageScope.appEnvScopes[0].environment, { filterType: null, envId: id });
  }
  const elsewhere = await platform.graphql(
    'mutation { createApplication(input: { name: "Elsewhere" }) { application { id } } }',
  );
  const appId = elsewhere.body.data.createApplication.application.id;
  const apart = await upload(CREATE, file("env_d", { usageScope: scope({ appId }, envId) }), "x");
  assert.match(messageOf(apart), /belongs to another application/);
  await platform.send("DELETE", "/ng/api/environmentsV2/live?orgIdentifier=default&projectIdentifier=shop");
  const read =
    "query ($name: String!) { secretByName(name: $name, secretType: ENCRYPTED_FILE) { usageScope { appEnvScopes { environment { envId } } } } }";
  const { body } = await platform.graphql(read, { name: "env_a" });
  assert.equal(body.data.secretByName.usageScope, null);
  const again = await upload(CREATE, file("env_e", { usageScope: scope({ appId: shop }, envId) }), "x");
  assert.match(messageOf(again), /there is no environment with id/);
});

test("input of another type is rejected by name", async () => {
  const { id } = await created(upload(CREATE, file("fits"), "x"));
  const refused: readonly (readonly [query: string, secret: object, message: RegExp])[] = [
    [CREATE, { secretType: "ENCRYPTED_FILE" }, /^encryptedFile is required for the secret type ENCRYPTED_FILE/],
    [CREATE, { secretType: "WINRM_CREDENTIAL" }, /WINRM_CREDENTIAL are not supported/],
    [CREATE, { secretType: "WINRM_CREDENTIAL" }, /WINRM_CREDENTIAL are not supported/],
    [
      CREATE,
      { ...file("x"), ...text("x", { value: "x" }) },
      /^encryptedFile does not belong to the secret type ENCRYPTED_TEXT/,
    ],
    [CREATE, text("x", { value: "x", secretReference: "path" }), /^secretReference is not supported/],
    [CREATE, file("fits", { value: "x" }), /^A secret named \[fits\] already exists/],
    [CREATE, text("fits.", { value: "x", secretManagerId: "x" }), /^No secret manager exists with the id \[x\]/],
    [CREATE, text("a/b", { value: "x" }), /name/],
    [CREATE, text("", { value: "x" }), /name/],
    [CREATE, text("x".repeat(129), { value: "x" }), /name/],
    [UPDATE, { secretId: id, secretType: "ENCRYPTED_FILE" }, /^encryptedFile is required/],
    [UPDATE, { secretId: id, ...file("a/b") }, /name/],
    [
      UPDATE,
      { secretId: id, ...file("x", { secretManagerId: "AAAAAAAAAAAAAAAAAAAAAA" }) },
      /stays with its secret manager/,
    ],
    [UPDATE, { secretId: id, ...text("x") }, /^No secret exists with the id/],
  ];
  const before = await dumpOf(platform);
  for (const [query, secret, message] of refused)
    assert.match(messageOf(await platform.graphql(query, { secret })), message);
  const odd = { ...file("x"), id, accountId: "x" };
  const unknown = await platform.graphql(CREATE, { secret: odd });
  assert.equal(unknown.body.errors[0].extensions.classification, "ValidationError");
  assert.equal(await dumpOf(platform), before);
});

test("an unexpected file is rejected, and a file for two fields", async () => {
  const before = await dumpOf(platform);
  for (const [query, secret] of [
    [CREATE, text("t", { value: "x" })],
    [DELETE, { secretId: "x", secretType: "ENCRYPTED_FILE" }],
  ] as const)
    assert.equal((await upload(query, secret, "x")).status, 400);
  const twice = CREATE.replace("createSecret(", "a: createSecret(input: $secret) { clientMutationId } createSecret(");
  assert.equal((await upload(twice, file("twice"), "x")).status, 400);
  assert.equal(await dumpOf(platform), before);
});

test("a file above the limit gets 402 and leaves nothing; a file at the limit is accepted", async () => {
  const limit = 1024 * 1024;
  const before = await dumpOf(platform);
  const { status, body } = await upload(CREATE, file("too large"), Buffer.alloc(limit + 1));
  assert.deepEqual([status, body.responseMessages[0].code], [402, "FILE_SIZE_EXCEEDS_LIMIT"]);
  assert.equal(await dumpOf(platform), before);
  await created(upload(CREATE, file("just fits"), Buffer.alloc(limit, 1)));
  assert.equal((await contentOf("just fits")).length, limit);
});

test("an upload that breaks off leaves nothing", async () => {
  const whole = formOf(queryPart(CREATE, { secret: file("broken") }), filePart(randomBytes(200_000)));
  const before = await dumpOf(platform);
  for (const part of [0.01, 0.5, 0.999]) {
    const cut = whole.subarray(0, Math.floor(whole.length * part));
    const head = [
      `POST /gateway/api/graphql?accountId=${platform.accountId} HTTP/1.1`,
      "host: x",
      `x-api-key: ${platform.apiKey}`,
      `content-type: ${FORM}`,
      `content-length: ${whole.length}`,
    ];
    await cutOff(platform.url, head, cut);
  }
  // The end of the form is missing, though the request is whole.
  const { status } = await sendForm(whole.subarray(0, -BOUNDARY.length - 6));
  assert.equal(status, 400);
  assert.equal(await dumpOf(platform), before);
});

/** Sends so much and hangs up; resolves once the server has noticed. */
async function cutOff(url: string, head: readonly string[], bytes: Buffer): Promise<void> {
  const { hostname, port } = new URL(url);
  const accepted = once(platform.platform.http.app.server, "connection");
  const socket = connect(Number(port), hostname);
  const [theirs] = (await accepted) as [Socket];
  const noticed = new Promise<void>((done) => theirs.once("close", () => done()));
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), bytes]), () => socket.destroy());
  await noticed;
}

test("another account's scope, a viewer and an anonymous caller cannot upload a file", async () => {
  const viewer = await platform.addUser("_account_viewer");
  const before = await dumpOf(platform);
  const form = formOf(filePart("x"), queryPart(CREATE, { secret: file("viewer's") }));
  const path = `/gateway/api/graphql?accountId=${platform.accountId}`;
  const send = (apiKey: string | null): Promise<Answer> =>
    platform.send("POST", path, { apiKey, contentType: FORM, body: form });
  assert.equal(messageOf(await send(viewer)), "Missing permission core_secret_edit.");
  assert.equal((await send(null)).status, 401);
  assert.equal((await send((await platform.addAccount()).apiKey)).status, 403);
  assert.equal(withoutAccounts(await dumpOf(platform)), withoutAccounts(before));
});
const withoutAccounts = (dump: string): string =>
  dump
    .split("\n")
    .filter((row) => /^secret(s|_contents|_chunks) |^audit/.test(row))
    .join("\n");

test("the built-in secret manager: by its id, by its name, in the list; others do not exist", async () => {
  const scope = "usageScope { appEnvScopes { application { filterType } environment { filterType } } }";
  const manager = {
    id: platform.accountId,
    name: "Platform Secrets Manager",
    usageScope: {
      appEnvScopes: ["PRODUCTION_ENVIRONMENTS", "NON_PRODUCTION_ENVIRONMENTS"].map((filterType) => ({
        application: { filterType: "ALL" },
        environment: { filterType },
      })),
    },
  };
  const byId = `{ secretManager(secretManagerId: "${platform.accountId}") { id name ${scope} } }`;
  assert.deepEqual((await platform.graphql(byId)).body, { data: { secretManager: manager } });
  const byName = `{ secretManagerByName(name: "Platform Secrets Manager") { id name ${scope} } }`;
  assert.deepEqual((await platform.graphql(byName)).body, { data: { secretManagerByName: manager } });
  const list = await platform.graphql(
    `{ secretManagers(limit: 5, offset: 0) { nodes { id name ${scope} } pageInfo { total } } }`,
  );
  assert.deepEqual(list.body.data.secretManagers, { nodes: [manager], pageInfo: { total: 1 } });
  const other = (await platform.addAccount()).accountId;
  for (const query of [`secretManager(secretManagerId: "${other}")`, 'secretManagerByName(name: "x")'])
    assert.match(messageOf(await platform.graphql(`{ ${query} { id } }`)), /^No secret manager exists/);
});

test("a plain value is not in the database, the logs, an answer, an error or the audit trail", async () => {
  const marks = ["f1le-plain-xyzzy", "t3xt-plain-xyzzy", "upd4ted-plain-xyzzy"] as const;
  const answers = [
    await upload(CREATE, file("traced"), marks[0].repeat(50)),
    await platform.graphql(CREATE, { secret: text("traced text", { value: marks[1] }) }),
  ];
  const id = answers[0]?.body.data.createSecret.secret.id;
  answers.push(
    await upload(UPDATE, { secretId: id, secretType: "ENCRYPTED_FILE", encryptedFile: {} }, marks[2]),
    await upload(CREATE, file("traced"), marks[0]),
    await platform.graphql(CREATE, { secret: text("traced text", { value: marks[1] }) }),
    await platform.graphql(CREATE, { secret: text("a/b", { value: marks[1] }) }),
    await platform.graphql(CREATE, { secret: { secretType: "NONE", encryptedText: { value: marks[1] } } }),
    await platform.graphql(CREATE, { secret: { ...text("x", { value: marks[1] }), more: 1 } }),
    await platform.graphql(READ, { id, type: "ENCRYPTED_FILE" }),
  );
  const dump = await dumpOf(platform);
  for (const mark of marks) {
    assert.equal(log.count(mark), 0, "log");
    for (const { text: answer } of answers) assert.ok(!answer.includes(mark), answer);
    for (const form of [mark, Buffer.from(mark).toString("hex"), Buffer.from(mark).toString("base64").slice(2, -4)])
      assert.ok(!dump.includes(form), form);
  }
  const trail = await platform.db.query(
    "select operation, resource_id from audit_entries where resource_id like 'traced%'",
  );
  assert.deepEqual(trail.map((row) => `${row["operation"]} ${row["resource_id"]}`).toSorted(), [
    "secret.create traced",
    "secret.create traced_text",
    "secret.update traced",
  ]);
});

test("a text, a file and a credential may share a name, and each is found by its type", async () => {
  const ask = (query: string, secret: object): Promise<Answer> => platform.graphql(query, { secret });
  const texts = await created(ask(CREATE, text("shared name", { value: "x" })));
  const files = await created(upload(CREATE, file("shared name"), "y"));
  const method = { sshCredentialType: "PASSWORD", serverPassword: { passwordSecretId: texts.id } };
  const login = { userName: "me", sshAuthenticationMethod: method };
  const credential = { name: "shared name", authenticationScheme: "SSH", sshAuthentication: login };
  const keys = await created(ask(CREATE, { secretType: "SSH_CREDENTIAL", sshCredential: credential }));
  const find = async (type = ""): Promise<unknown> => {
    const { body } = await platform.graphql(`{ secretByName(name: "shared name"${type}) { id } }`);
    return body.data.secretByName.id;
  };
  assert.deepEqual(
    [
      await find(", secretType: ENCRYPTED_TEXT"),
      await find(", secretType: ENCRYPTED_FILE"),
      await find(", secretType: SSH_CREDENTIAL"),
      await find(),
    ],
    [texts.id, files.id, keys.id, texts.id],
  );
  const rows = await platform.db.query("select identifier, type from secrets where name = $1 order by type", [
    "shared name",
  ]);
  assert.deepEqual(rows, [
    { identifier: "shared_name_file", type: "ENCRYPTED_FILE" },
    { identifier: "shared_name", type: "ENCRYPTED_TEXT" },
    { identifier: "shared_name_ssh", type: "SSH_CREDENTIAL" },
  ]);
  // The name of a type is taken once, by renaming too.
  assert.match(
    messageOf(await upload(CREATE, file("shared name"), "z")),
    /^A secret named \[shared name\] already exists/,
  );
  const other = await created(ask(CREATE, text("other name", { value: "x" })));
  const renamed = await ask(UPDATE, { secretId: other.id, ...text("shared name") });
  assert.match(messageOf(renamed), /^A secret named \[shared name\] already exists/);
});

test("the identifier for scripts is made from the name", async () => {
  for (const [name, identifier] of [
    ["my secret.file", "my_secret_file"],
    ["with-hyphen", "with-hyphen"],
    ["1st", "_1st"],
    ["-dash", "_-dash"],
    ["status", "_status"],
    ["9".repeat(128), `_${"9".repeat(127)}`],
  ] as const) {
    await created(upload(CREATE, file(name), name));
    const [row] = await platform.db.query("select identifier, org_identifier from secrets where name = $1", [name]);
    assert.deepEqual(row, { identifier, org_identifier: null });
    assert.equal(String(await contentOf(name)), name);
  }
  assert.match(
    messageOf(await upload(CREATE, file("my_secret_file"), "x")),
    /^A secret with identifier \[my_secret_file\] already exists/,
  );
});
