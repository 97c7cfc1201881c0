/** Bodies that nobody should send, through a real server: refused early, by name, and never with 500. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  connectorYaml,
  create,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../../test/support/platform.ts";
import { rawRequest } from "../../../../test/support/clients/raw-http.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

const KIB = 1024;
const PROJECTS = "/gateway/ng/api/projects?orgIdentifier=default";

function assertRefused(answer: Answer, code: string, message: RegExp): void {
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.body.code, code, answer.text);
  assert.match(answer.body.message, message);
}

const head = (path: string, key: string | undefined, ...more: readonly string[]): readonly string[] => [
  `POST ${path}${path.includes("?") ? "&" : "?"}accountIdentifier=${platform.accountId}&accountId=${platform.accountId} HTTP/1.1`,
  "host: test",
  ...(key === undefined ? [] : [`x-api-key: ${key}`]),
  ...more,
];

test("a body that says it is too large is refused before one byte of it is read", { timeout: 20_000 }, async () => {
  for (const [path, size] of [
    [PROJECTS, 70],
    [`/pipeline/api/pipelines?${SCOPE}`, 4_100],
    ["/gateway/api/graphql", 300],
    ["/ng/api/connectors", 70],
    ["/ng/api/environmentsV2", 70],
  ] as const) {
    const announced = ["content-type: application/json", `content-length: ${size * KIB}`];
    const {
      status,
      body,
      head: lines,
      sent,
    } = await rawRequest(platform.url, head(path, platform.apiKey, ...announced));
    assert.equal(status, 400, body);
    assert.match(body, /larger than \d+ bytes \(limit bodyBytes\)/);
    assert.match(lines, /connection: close/i);
    assert.equal(sent, 0);
  }
});

test("without a credential no byte of a body is waited for", { timeout: 20_000 }, async () => {
  for (const path of [PROJECTS, "/gateway/api/graphql"]) {
    const announced = ["content-type: application/json", "content-length: 1000"];
    assert.equal((await rawRequest(platform.url, head(path, undefined, ...announced))).status, 401);
    assert.equal((await rawRequest(platform.url, head(path, "wrong", ...announced))).status, 401);
  }
});

test("a body without an end is cut off at the limit", { timeout: 20_000 }, async () => {
  const chunk = `10000\r\n${"x".repeat(64 * KIB)}\r\n`;
  const endless = head(PROJECTS, platform.apiKey, "content-type: application/yaml", "transfer-encoding: chunked");
  const { status, sent } = await rawRequest(platform.url, endless, Array<string>(1_000).fill(chunk));
  assert.equal(status, 400);
  // What the two sockets hold in between counts as sent; 64 MB were on offer.
  assert.ok(sent < 16 * KIB * KIB, `${sent} bytes left`);
});

test("a body of the very limit is read, one byte more is not", async () => {
  const padded = (size: number): string => `${projectYaml()}#`.padEnd(size, "x");
  const fits = await create.project(platform, padded(64 * KIB));
  assert.equal(fits.status, 200, fits.text);
  assertRefused(await create.project(platform, padded(64 * KIB + 1)), "INVALID_REQUEST", /larger than/);
});

const inParts = (text: string, size: number): string =>
  `${(text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("")}0\r\n\r\n`;
const chunked = (type: string): readonly string[] => [`content-type: ${type}`, "transfer-encoding: chunked"];

test("a body may arrive line by line, token by token or byte by byte", async () => {
  const text = (name: string): string => `${projectYaml(name)}#`.padEnd(64 * KIB, "x");
  for (const size of [30, 8, 1]) {
    const known = head(PROJECTS, platform.apiKey, ...chunked("application/yaml"));
    const { status, body } = await rawRequest(platform.url, known, [inParts(text(`parts_${size}`), size)]);
    assert.equal(status, 200, body);
  }
  const webhook = `/pipeline/api/webhook/custom/${platform.accountId}${"a".repeat(32)}/v3`;
  const unknown = head(webhook, undefined, ...chunked("application/json"));
  const { status, body } = await rawRequest(platform.url, unknown, [inParts(JSON.stringify("a".repeat(64 * KIB)), 1)]);
  assert.equal(status, 404, body);
});

test("a request without a route is refused before its body is read", { timeout: 20_000 }, async () => {
  const announced = ["content-type: application/json", `content-length: ${64 * KIB}`];
  const unknown = await rawRequest(platform.url, head("/nowhere", undefined, ...announced));
  assert.deepEqual([unknown.status, unknown.sent], [404, 0]);
  const noMethod = await rawRequest(platform.url, head("/health/ready", undefined, ...announced));
  assert.deepEqual([noMethod.status, noMethod.sent], [405, 0]);
  assert.match(noMethod.head, /^allow: GET, HEAD, OPTIONS$/im);
  const malformed = await rawRequest(platform.url, head("/%zz", undefined, ...announced));
  assert.deepEqual([malformed.status, malformed.sent], [400, 0]);
  for (const answer of [unknown, noMethod, malformed]) assert.match(answer.head, /^connection: close$/im);
});

test("after the refusal of a body that arrived with its head, the connection can be used again", async () => {
  for (const [path, status] of [
    ["/nowhere", 404],
    [PROJECTS, 401],
  ] as const) {
    const request = [...head(path, undefined, "content-type: application/json", "content-length: 2"), "", "{}"];
    const refused = await rawRequest(platform.url, request);
    assert.equal(refused.status, status);
    assert.match(refused.head, /^connection: keep-alive$/im);
  }
});

test("at most 128 tags", async () => {
  const tagged = (count: number): string =>
    projectYaml(`tags_${count}`, `  tags:\n${Array.from({ length: count }, (_, nth) => `    t${nth}: v\n`).join("")}`);
  assert.equal((await create.project(platform, tagged(128))).status, 200);
  assertRefused(
    await create.project(platform, tagged(129)),
    "SCHEMA_VALIDATION_FAILED",
    /project\.tags: At most 128 tags allowed/,
  );
});

test("content types: YAML and JSON by all their names, others refused by name", async () => {
  const types = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];
  const spelt = [...types, "Application/YAML; charset=utf-8", "text/yaml;charset=utf-8"];
  for (const [index, type] of spelt.entries()) {
    const answer = await create.project(platform, projectYaml(`as_yaml_${index}`), type);
    assert.equal(answer.status, 200, `${type}: ${answer.text}`);
  }
  for (const [index, type] of ["application/json", "application/json; charset=utf-8"].entries()) {
    const project = { identifier: `as_json_${index}`, name: "J", orgIdentifier: "default" };
    const answer = await create.project(platform, JSON.stringify({ project }), type);
    assert.equal(answer.status, 200, `${type}: ${answer.text}`);
  }
  const bytes = new TextEncoder().encode(projectYaml("as_nothing"));
  assert.equal((await platform.send("POST", PROJECTS, { body: bytes })).status, 200, "no content type at all");
  for (const type of ["application/xml", "application/octet-stream", "image/png", "application/x-www-form-urlencoded"])
    assertRefused(
      await create.project(platform, projectYaml("x"), type),
      "INVALID_REQUEST",
      new RegExp(`'${type}' is not`),
    );
  for (const type of ["nonsense", "/", "a/b/c", ";"])
    assertRefused(
      await create.project(platform, projectYaml("x"), type),
      "INVALID_REQUEST",
      new RegExp(`Content type '${type}' is not`),
    );
  for (const [index, type] of ["text/plain", "text/html; charset=utf-8"].entries()) {
    assertRefused(await create.project(platform, projectYaml("x"), type), "INVALID_REQUEST", /Content type 'text/);
    const connector = await create.connector(platform, connectorYaml(`as_text_${index}`), type);
    assert.equal(connector.status, 200, connector.text);
  }
  const form = new FormData();
  form.set("project", projectYaml("x"));
  assertRefused(
    await platform.send("POST", PROJECTS, { body: form }),
    "INVALID_REQUEST",
    /Content type 'multipart\/form-data'/,
  );
});

test("a body that says it is not UTF-8 is refused", async () => {
  for (const charset of ["iso-8859-1", '"UTF-16"'])
    assertRefused(
      await create.project(platform, projectYaml("x"), `application/yaml; charset=${charset}`),
      "INVALID_REQUEST",
      /says that it is (iso-8859-1|utf-16)\./,
    );
});

test("a compressed body is refused by name before it is read, and never unpacked", async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000, "x"));
  for (const encoding of ["gzip", "br", "deflate", "GZIP", "identity, gzip"]) {
    const headers = { "content-encoding": encoding };
    const message = new RegExp(
      `^Bodies are taken as they are; this one says that it is encoded as ${encoding.toLowerCase()}`,
    );
    for (const contentType of [YAML, JSON_TYPE]) {
      const answer = await platform.send("POST", `/ng/api/projects?orgIdentifier=default`, {
        body: bomb,
        contentType,
        headers,
      });
      assertRefused(answer, "INVALID_REQUEST", message);
    }
    const form = { body: bomb, contentType: "multipart/form-data; boundary=b", headers };
    const asked = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, form);
    assert.equal(asked.status, 400);
    assert.match(asked.body.responseMessages[0].message, message);
  }
  const plain = { body: projectYaml("plain"), contentType: YAML, headers: { "content-encoding": "identity" } };
  assert.equal((await platform.send("POST", "/ng/api/projects?orgIdentifier=default", plain)).status, 200);
});

test("a query parameter that is given twice is refused by name on every route", async () => {
  for (const [name, path] of [
    ["orgIdentifier", "/ng/api/projects?orgIdentifier=default&orgIdentifier=x"],
    ["pageIndex", "/ng/api/projects?orgIdentifier=default&pageIndex=1&pageIndex=2"],
    ["nobodyKnows", "/ng/api/projects?orgIdentifier=default&nobodyKnows=1&nobodyKnows=1"],
    ["category", "/ng/api/connectors?category=x&category=y"],
    ["from", "/health/live?from=1&from=2"],
  ] as const)
    assertRefused(
      await platform.send("GET", path),
      "INVALID_REQUEST",
      new RegExp(`^Query parameter ${name} is given twice`),
    );
  const account = `accountIdentifier=${platform.accountId}`;
  assertRefused(
    await platform.send("GET", `/ng/api/projects?orgIdentifier=default&${account}&routingId=other`),
    "INVALID_REQUEST",
    /routingId is another account/,
  );
});

test("YAML that is sent as application/json is read as YAML, wherever both are taken", async () => {
  const json = "application/json";
  await made(create.project(platform, projectYaml("named_json"), json));
  await made(create.connector(platform, connectorYaml("named_json"), json));
  await createTargets(platform);
  const post = (path: string, body: string) =>
    made(platform.send("POST", `/pipeline/api/${path}`, { contentType: json, body }));
  await post(`pipelines?${SCOPE}`, pipelineYaml());
  const saved = await platform.send("GET", `/pipeline/api/pipelines/deploy?${SCOPE}`);
  assert.equal(saved.body.data.yamlPipeline, pipelineYaml(), "the text is kept as it was sent");
  await post(`inputSets?${SCOPE}&pipelineIdentifier=deploy`, inputSetYaml("deploy", "basic"));
  await post(`triggers?${SCOPE}&targetIdentifier=deploy`, triggerYaml());
  for (const text of ["# a comment\n", "---\n", "\n\n"])
    await made(create.project(platform, text + projectYaml(`named_json_${text.length}`), json));
  assertRefused(
    await create.project(platform, "project:\n  name: a\n  name: b\n", json),
    "INVALID_YAML_ERROR",
    /^Invalid YAML: .*'name' is given twice.* line 3, column 3/,
  );
});

test("JSON is held to JSON: its faults have their place, and what is neither is told as JSON", async () => {
  for (const [body, message] of [
    ['{"project": {"name": "a",\n  "name": "b"}}', /^Invalid JSON: .*'name' is given twice.* line 2, column 3/],
    ["{project: {name: a}}", /^Invalid JSON: .* line 1, column 2/],
    ['\n  {"project": {"name": "a"}', /^Invalid JSON: .* line 2, column 28/],
    ["[1, 2,]", /^Invalid JSON: .* line 1, column 7/],
    ["nothing", /^Invalid JSON: .* line 1, column 1/],
    ["", /^Invalid JSON/],
  ] as const)
    assertRefused(await create.project(platform, body, "application/json"), "INVALID_YAML_ERROR", message);
});

test("empty bodies are refused", async () => {
  for (const body of ["", " \n", "# only a comment\n", "---\n", "null", "[]", "project:", "42"]) {
    for (const send of [create.project, create.connector, create.pipeline]) {
      const answer = await send(platform, body);
      assert.equal(answer.status, body === "" || answer.status === 404 ? answer.status : 400, answer.text);
      assert.ok([400, 404].includes(answer.status), answer.text);
    }
  }
  const none = await platform.send("POST", PROJECTS);
  assert.equal(none.status, 400, none.text);
});

test("bytes that are not UTF-8 are refused", async () => {
  for (const bytes of [
    [0xff, 0xfe, 0x41],
    [0xc0, 0xaf],
    [0xed, 0xa0, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
  ]) {
    const body = Buffer.concat([Buffer.from(projectYaml("x", "  description: ")), Buffer.from(bytes)]);
    for (const path of [PROJECTS, `/pipeline/api/pipelines?${SCOPE}`, "/ng/api/connectors"]) {
      const answer = await platform.send("POST", path, { contentType: YAML, body });
      assert.ok([400, 404].includes(answer.status), answer.text);
    }
    assertRefused(
      await platform.send("POST", PROJECTS, { contentType: YAML, body }),
      "INVALID_YAML_ERROR",
      /not UTF-8/,
    );
  }
});

test("NUL is refused wherever it stands, and never with 500", async () => {
  const named = (field: string): string => {
    const project = {
      identifier: "nul",
      name: "nul",
      orgIdentifier: "default",
      description: "",
      tags: {},
      [field]: "a\0b",
    };
    return JSON.stringify({ project });
  };
  for (const field of ["identifier", "name", "orgIdentifier", "description", "color", "x\0y"])
    assertRefused(await create.project(platform, named(field), "application/json"), "INVALID_YAML_ERROR", /U\+0000/);
  const tags = JSON.stringify({ project: { identifier: "nul", name: "n", tags: { "a\0": "b\0" } } });
  assertRefused(await create.project(platform, tags, "application/json"), "INVALID_YAML_ERROR", /U\+0000/);
  assertRefused(
    await create.project(platform, projectYaml("nul", '  description: "a\\0b"')),
    "INVALID_YAML_ERROR",
    /U\+0000/,
  );
  assertRefused(
    await create.project(platform, projectYaml("nul", "  description: a\0b")),
    "INVALID_YAML_ERROR",
    /U\+0000/,
  );
  for (const path of [
    "/ng/api/projects/a%00b?orgIdentifier=default",
    "/ng/api/projects/a?orgIdentifier=%00",
    "/ng/api/connectors/a?projectIdentifier=%00&orgIdentifier=x%00",
    "/pipeline/api/pipelines/a%00?orgIdentifier=%00&projectIdentifier=%00",
    "/pipeline/api/pipelines/execution/%00",
    "/pipeline/api/pipelines/execution/%00/logs?nodeExecutionId=%00",
    "/pipeline/api/webhook/triggerExecutionDetails/%00",
    "/pipeline/api/webhook/triggerProcessingDetails?eventId=%00",
  ]) {
    const answer = await platform.send("GET", path);
    assert.ok([400, 404].includes(answer.status), `${path}: ${answer.text}`);
  }
});

test("query parameters: required, once, and unknown ones ignored", async () => {
  const send = (query: string): Promise<Answer> =>
    platform.send("POST", `/ng/api/projects?${query}`, { contentType: YAML, body: projectYaml("q") });
  assertRefused(await send(""), "INVALID_REQUEST", /^Query parameter orgIdentifier is required/);
  assertRefused(await send("orgIdentifier="), "INVALID_REQUEST", /^Query parameter orgIdentifier is required/);
  assertRefused(
    await send("orgIdentifier=default&orgIdentifier=default"),
    "INVALID_REQUEST",
    /orgIdentifier is given twice/,
  );
  assertRefused(await send("orgIdentifier=default&orgIdentifier=x"), "INVALID_REQUEST", /orgIdentifier is given twice/);
  assert.equal((await send("orgIdentifier=default&__proto__=x&constructor=y&x[y]=z&unknown=1")).status, 200);
});

test("prototype keys are refused in every document", async () => {
  for (const key of ["__proto__", "constructor", "prototype"]) {
    const inTags = `  tags:\n    ${key}: x\n`;
    assertRefused(
      await create.project(platform, projectYaml("proto", inTags)),
      "INVALID_YAML_ERROR",
      new RegExp(`'${key}' is not allowed`),
    );
    const json = `{"project":{"identifier":"proto","name":"p","orgIdentifier":"default","${key}":{"admin":"true"}}}`;
    assertRefused(
      await create.project(platform, json, "application/json"),
      "INVALID_YAML_ERROR",
      new RegExp(`'${key}' is not allowed`),
    );
    assertRefused(
      await create.connector(platform, connectorYaml("proto", `  ${key}: { x: y }\n`)),
      "INVALID_YAML_ERROR",
      /not allowed/,
    );
  }
  assert.equal(({} as Record<string, unknown>)["admin"], undefined);
});

test("YAML bombs are refused: aliases, depth, count, tags of foreign types", async () => {
  const laughs = `project:\n  a0: &a0 [x, x]\n${Array.from({ length: 30 }, (_, i) => `  a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}]\n`).join("")}`;
  assertRefused(await create.project(platform, laughs), "INVALID_REQUEST", /Aliases are used more than 50 times/);
  assertRefused(
    await create.project(platform, `project: ${"[".repeat(200)}${"]".repeat(200)}`),
    "INVALID_REQUEST",
    /nested deeper/,
  );
  assertRefused(await create.project(platform, `project: ${"[".repeat(50_000)}`), "INVALID_REQUEST", /nested deeper/);
  assertRefused(
    await create.project(platform, `{"project":${"[".repeat(50_000)}`, "application/json"),
    "INVALID_REQUEST",
    /nested deeper/,
  );
  assertRefused(await create.project(platform, `project: [${"1,".repeat(25_000)}1]`), "INVALID_REQUEST", /more than/);
  const merge = "base: &b { name: x }\nproject:\n  <<: *b\n";
  assertRefused(await create.project(platform, merge), "INVALID_YAML_ERROR", /Merge keys/);
  assertRefused(
    await create.project(platform, projectYaml("x", "  description: !!js/function 'x'\n")),
    "INVALID_YAML_ERROR",
    /tag/i,
  );
  assertRefused(
    await create.project(platform, `${projectYaml("a")}---\n${projectYaml("b")}`),
    "INVALID_YAML_ERROR",
    /document/i,
  );
  assertRefused(
    await create.project(platform, projectYaml("x", "  name: again\n")),
    "INVALID_YAML_ERROR",
    /unique|twice/,
  );
});

test("a fault says where it is: path, line and column", async () => {
  const { status, body } = await create.project(platform, "project:\n  name: x\n  identifier: 1a\n  color: red\n");
  assert.equal(status, 400);
  assert.equal(body.code, "SCHEMA_VALIDATION_FAILED");
  assert.equal(body.metadata.type, "SchemaErrors");
  const places = body.metadata.schemaErrors.map((one: Record<string, unknown>) => [
    one["fqn"],
    one["line"],
    one["column"],
  ]);
  assert.deepEqual(places, [
    ["project.identifier", 3, 15],
    ["project.color", 4, 10],
  ]);
  assert.match(
    body.message,
    /^The document is not valid: project\.identifier: .*, at line 3, column 15 \(and 1 more\)\.$/,
  );
  const broken = await create.project(platform, "project:\n  name: [x\n");
  assert.equal(broken.body.code, "INVALID_YAML_ERROR");
  assert.match(broken.body.message, /at line \d, column \d/);
});

test("a sender who goes away in the middle of a body is no fault of the database", { timeout: 20_000 }, async () => {
  const written: string[] = [];
  const logTo = new Writable({ write: (chunk, _encoding, done) => (written.push(String(chunk)), done()) });
  const own = await startTestPlatform({ logTo });
  try {
    for (const path of ["/ng/api/projects?orgIdentifier=default", "/api/graphql?"]) {
      const accepted = once(own.platform.http.app.server, "request");
      const socket = connect(Number(new URL(own.url).port), "127.0.0.1");
      const account = `accountIdentifier=${own.accountId}&accountId=${own.accountId}`;
      const lines = [`POST ${path}&${account} HTTP/1.1`, "host: test", `x-api-key: ${own.apiKey}`];
      socket.write([...lines, "content-type: application/json", "content-length: 1000", "", "{"].join("\r\n"));
      const [request] = (await accepted) as [IncomingMessage];
      // The body is being read; maybe it was so before we got here.
      if (request.listenerCount("data") === 0)
        await new Promise<void>((read) => request.on("newListener", (event) => event === "data" && read()));
      const closed = new Promise((close) => request.socket.on("close", close));
      socket.resetAndDestroy();
      await closed;
      assert.equal((await own.send("GET", "/health/live", { apiKey: null })).status, 200);
    }
    assert.doesNotMatch(written.join(""), /database|db\.unavailable|ECONNRESET/);
  } finally {
    await own.stop();
  }
});
