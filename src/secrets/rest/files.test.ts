/** Secret files over REST: forms with a document and a content. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { rawRequest } from "../../../test/support/clients/raw-http.ts";
import { adminOf, dumpOf, secretsOf } from "../../../test/support/secrets.ts";
import { startTestPlatform, type Answer, type SendOptions, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const PATH = "/gateway/ng/api/v2/secrets/files";
const SHOP = "?orgIdentifier=default&projectIdentifier=shop";

const documentOf = (identifier: string, more: object = {}) => ({
  secret: {
    type: "SecretFile",
    name: identifier,
    identifier,
    spec: { secretManagerIdentifier: "platformSecretManager" },
    ...more,
  },
});
type Part = readonly [name: string, content: string | Blob];
const specPart = (document: unknown): Part => ["spec", JSON.stringify(document)];
const filePart = (content: string | Buffer): Part => ["file", new Blob([content as string | Uint8Array<ArrayBuffer>])];

function send(method: "POST" | "PUT", address: string, parts: readonly Part[], how: SendOptions = {}): Promise<Answer> {
  const body = new FormData();
  for (const [name, content] of parts) {
    if (typeof content === "string") body.append(name, content);
    else body.append(name, content, "key.bin");
  }
  return platform.send(method, `${PATH}${address}`, { body, ...how });
}

async function contentOf(reference: string): Promise<Buffer> {
  const home = { orgIdentifier: "default", projectIdentifier: "shop" };
  const { read } = await secretsOf(platform).resolve(adminOf(platform), home, reference);
  return Buffer.concat(await Array.fromAsync(read()));
}

test("a file at account, organization and project, parts in either order: every field and every byte", async () => {
  const content = randomBytes(700_000);
  for (const [query, reference, orgIdentifier, projectIdentifier] of [
    ["", "account.key", null, null],
    ["?orgIdentifier=default", "org.key", "default", null],
    [SHOP, "key", "default", "shop"],
  ] as const) {
    const parts = [
      specPart(documentOf("key", { description: "To sign", tags: { team: "a" } })),
      filePart(content),
    ] as const;
    const answer = await send("POST", query, query === "" ? parts : parts.toReversed());
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get("etag"), '"1"');
    const { createdAt, updatedAt, ...data } = answer.body.data;
    assert.equal(createdAt, updatedAt);
    assert.deepEqual(data, {
      secret: {
        type: "SecretFile",
        name: "key",
        identifier: "key",
        orgIdentifier,
        projectIdentifier,
        tags: { team: "a" },
        description: "To sign",
        owner: null,
        spec: { secretManagerIdentifier: "platformSecretManager", additionalMetadata: null },
      },
      draft: false,
      governanceMetadata: null,
    });
    assert.ok((await contentOf(reference)).equals(content));
  }
  // GraphQL has the same one.
  const { body } = await platform.graphql('{ secretByName(name: "key", secretType: ENCRYPTED_FILE) { name } }');
  assert.deepEqual(body.data, { secretByName: { name: "key" } });
});

test("the document may be YAML, and the file empty", async () => {
  const yaml = "secret:\n  type: SecretFile\n  name: Empty one\n  identifier: empty\n";
  assert.equal((await send("POST", SHOP, [["spec", yaml], filePart("")])).status, 200);
  assert.equal((await contentOf("empty")).length, 0);
});

test("PUT changes the document, the content, or both, under If-Match", async () => {
  await made(send("POST", SHOP, [specPart(documentOf("changed", { tags: { a: "b" } })), filePart("first")]));
  const at = `/changed${SHOP}`;
  const seen = async (answer: Promise<Answer>): Promise<unknown[]> => {
    const { secret } = await made(answer);
    return [secret.name, secret.tags, String(await contentOf("changed"))];
  };
  assert.deepEqual(await seen(send("PUT", at, [filePart("second")])), ["changed", { a: "b" }, "second"]);
  assert.deepEqual(await seen(send("PUT", at, [specPart(documentOf("changed", { name: "New" }))])), [
    "New",
    {},
    "second",
  ]);
  const both = [filePart("third"), specPart(documentOf("changed", { name: "Newer" }))];
  assert.deepEqual(await seen(send("PUT", at, both, { headers: { "if-match": "3" } })), ["Newer", {}, "third"]);
  const stale = await send("PUT", at, both, { headers: { "if-match": "3" } });
  assert.deepEqual([stale.status, stale.body.code], [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
  assert.deepEqual(await seen(send("PUT", at, [filePart("")])), ["Newer", {}, ""]);
});

test("rejected files leave nothing behind", async () => {
  await made(send("POST", SHOP, [specPart(documentOf("there")), filePart("x")]));
  const secret = { type: "SecretText", name: "t", identifier: "text", spec: { valueType: "Inline", value: "x" } };
  await made(
    platform.send("POST", `/ng/api/v2/secrets${SHOP}`, { contentType: JSON_TYPE, body: JSON.stringify({ secret }) }),
  );
  const before = await dumpOf(platform);
  const spec = specPart(documentOf("fresh"));
  const file = filePart("x");
  const refusals: readonly (readonly ["POST" | "PUT", string, readonly Part[], number, RegExp])[] = [
    ["POST", SHOP, [spec], 400, /has no part 'file'/],
    ["POST", SHOP, [file], 400, /has no part 'spec'/],
    ["POST", SHOP, [spec, file, file], 400, /two parts named 'file'/],
    ["POST", SHOP, [spec, spec, file], 400, /two parts named 'spec'/],
    ["POST", SHOP, [spec, file, ["query", "{a}"]], 400, /a part named 'query'; it takes spec, file/],
    ["POST", SHOP, [spec, file, ["x-api-key", platform.apiKey]], 400, /a part named 'x-api-key'/],
    ["POST", SHOP, [["spec", "{"], file], 400, /Invalid JSON/],
    ["POST", SHOP, [["spec", "[1]"], file], 400, /not valid/],
    ["POST", SHOP, [specPart(documentOf("fresh", { type: "SecretText" })), file], 400, /takes SecretFile/],
    [
      "POST",
      SHOP,
      [specPart(documentOf("fresh", { projectIdentifier: "other" })), file],
      400,
      /is not the one in the query/,
    ],
    ["POST", SHOP, [specPart(documentOf("there")), file], 400, /already exists/],
    ["POST", `${SHOP}&privateSecret=true`, [spec, file], 400, /privateSecret may only be false/],
    ["POST", "?orgIdentifier=none", [spec, file], 404, /Organization with identifier \[none\] not found/],
    ["PUT", `/there${SHOP}`, [], 400, /malformed|has no part 'spec' or 'file'/],
    ["PUT", `/there${SHOP}`, [spec], 400, /cannot change/],
    ["PUT", `/none${SHOP}`, [file], 404, /No secret exists/],
    ["PUT", `/text${SHOP}`, [file], 404, /No secret exists/],
  ];
  for (const [method, address, parts, status, message] of refusals) {
    const answer = await send(method, address, parts);
    assert.equal(answer.status, status, `${String(message)}: ${answer.text}`);
    assert.match(answer.body.message, message);
  }
  for (const how of [{ contentType: JSON_TYPE, body: "{}" }, { contentType: "multipart/form-data", body: "x" }, {}]) {
    const { status, body } = await platform.send("POST", `${PATH}${SHOP}`, how);
    assert.deepEqual([status, body.code], [400, "INVALID_REQUEST"]);
  }
  assert.equal(await dumpOf(platform), before);
});

const head = (key: string, more: string): readonly string[] => [
  `POST ${PATH}${SHOP}&accountIdentifier=${platform.accountId} HTTP/1.1`,
  "host: x",
  `x-api-key: ${key}`,
  "content-type: multipart/form-data; boundary=b",
  more,
];
const OPEN = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n';

const kept = (): Promise<unknown[]> =>
  platform.db.query(`select (select count(*) from secrets) as secrets, (select count(*) from secret_chunks) as chunks,
    (select count(*) from audit_entries) as trail`);

test(
  "who may not is told before anything is read; too much and too little are refused",
  { timeout: 60_000 },
  async () => {
    const viewer = await platform.addUser("_account_viewer");
    const before = await kept();
    const forbidden = await rawRequest(platform.url, head(viewer, "content-length: 5000"), [OPEN]);
    assert.equal(forbidden.status, 403);
    const declared = await rawRequest(platform.url, head(platform.apiKey, "content-length: 500000000"));
    assert.deepEqual([declared.status, JSON.parse(declared.body).code], [402, "FILE_SIZE_EXCEEDS_LIMIT"]);
    const piece = "x".repeat(65_536);
    const endless = Array<string>(1_000).fill(`${piece.length.toString(16)}\r\n${piece}\r\n`);
    const opening = `${OPEN.length.toString(16)}\r\n${OPEN}\r\n`;
    const streamed = await rawRequest(platform.url, head(platform.apiKey, "transfer-encoding: chunked"), [
      opening,
      ...endless,
    ]);
    assert.deepEqual([streamed.status, JSON.parse(streamed.body).code], [402, "FILE_SIZE_EXCEEDS_LIMIT"]);
    assert.ok(streamed.sent < 32 * 1024 * 1024, `${streamed.sent} bytes left`);
    const cut = `${OPEN}abc`;
    const { status } = await rawRequest(platform.url, head(platform.apiKey, `content-length: ${cut.length}`), [cut]);
    assert.equal(status, 400);
    assert.deepEqual(await kept(), before);
  },
);

test("concurrent uploads reserve limited space and release it", { timeout: 60_000 }, async () => {
  const content = Buffer.alloc(300_000, "y");
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        send("POST", SHOP, [specPart(documentOf(`many_${round}_${at}`)), filePart(content)]),
      ),
    );
    for (const { status, text } of answers) assert.equal(status, 200, text);
  }
});
