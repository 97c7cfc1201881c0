/** The GraphQL endpoint as scripts and browsers use it, and as nobody should. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { rawRequest } from "../../../test/support/clients/raw-http.ts";

let platform: TestPlatform;
let other: { readonly accountId: string; readonly apiKey: string };
before(async () => {
  platform = await startTestPlatform();
  other = await platform.addAccount();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const QUERY = "query{applications(limit: 10) {nodes {name}}}";
const FOUND = { data: { applications: { nodes: [{ name: "The shop" }] } } };
const post = (body: string | Uint8Array, contentType = JSON_TYPE, path = "/gateway/api/graphql"): Promise<Answer> =>
  platform.send("POST", `${path}?accountId=${platform.accountId}`, { contentType, body });

type Part = readonly [name: string, value: string | Blob];
/** As a browser does: form data alone, no header of ours. */
const form = (parts: readonly Part[], apiKey: string | null = null): Promise<Answer> => {
  const body = new FormData();
  for (const [name, value] of parts) body.append(name, value);
  return platform.send("POST", `/gateway/api/graphql?accountId=${platform.accountId}`, { apiKey, body });
};

function assertRefused(answer: Answer, message: RegExp): void {
  assert.equal(answer.status, 400, answer.text);
  assert.deepEqual([answer.body.metadata, answer.body.resource], [{}, null]);
  const [only, ...rest] = answer.body.responseMessages;
  assert.equal(only.code, "INVALID_REQUEST");
  assert.equal(only.level, "ERROR");
  assert.match(only.message, message);
  assert.deepEqual(rest, []);
}

test("four paths are one endpoint, with variables as an object, null or left out", async () => {
  for (const path of ["/gateway/api/graphql", "/api/graphql", "/gateway/api/graphql-api", "/api/graphql-api"])
    for (const variables of [{ variables: {} }, { variables: null }, {}]) {
      const answer = await post(JSON.stringify({ query: QUERY, ...variables }), JSON_TYPE, path);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
      assert.deepEqual(answer.body, FOUND);
    }
});

test("success and errors of queries alike: 200, and never a key responseMessages", async () => {
  for (const query of [QUERY, "{ nothing }", "{", '{ application(applicationId: "x") { id } }']) {
    const { status, body } = await platform.graphql(query);
    assert.equal(status, 200);
    assert.equal("responseMessages" in body, false);
    assert.ok(Object.keys(body).every((key) => ["data", "errors"].includes(key)));
  }
});

test("a browser's form: parts query and x-api-key, no header", async () => {
  const key = ["x-api-key", platform.apiKey] as const;
  assert.deepEqual((await form([["query", QUERY], key])).body, FOUND);
  assert.deepEqual((await form([key, ["query", QUERY]])).body, FOUND);
  assert.deepEqual((await form([["query", "{ applications { nodes { name } } }"], key])).body, FOUND);
  const json = JSON.stringify({ query: "query($n: Int){applications(limit: $n){nodes{name}}}", variables: { n: 1 } });
  assert.deepEqual((await form([["query", json], key])).body, FOUND);
  assert.deepEqual((await form([["query", QUERY]], platform.apiKey)).body, FOUND, "the header serves a form too");
  assert.deepEqual((await form([["query", QUERY], key], platform.apiKey)).body, FOUND, "both, agreeing");
});

test("a form with a wrong credential, none, two, or one that the header contradicts", async () => {
  const invalid = {
    code: "INVALID_TOKEN",
    level: "ERROR",
    message: "Token is not valid.",
    exception: null,
    failureTypes: [],
  };
  for (const parts of [[], [["x-api-key", "wrong"]], [["x-api-key", ""]]] as readonly (readonly Part[])[]) {
    const answer = await form([["query", QUERY], ...parts]);
    assert.equal(answer.status, 401, answer.text);
    assert.deepEqual(answer.body, { metadata: {}, resource: null, responseMessages: [invalid] });
  }
  const mine = ["x-api-key", platform.apiKey] as const;
  assertRefused(await form([["query", QUERY], mine, mine]), /two parts named 'x-api-key'/);
  assertRefused(
    await form(
      [
        ["query", QUERY],
        ["x-api-key", other.apiKey],
      ],
      platform.apiKey,
    ),
    /disagree/,
  );
  assert.equal(
    (
      await form([
        ["query", QUERY],
        ["x-api-key", other.apiKey],
      ])
    ).status,
    403,
    "whose account is another",
  );
});

test("forms that are refused: two queries, none, a file, a part with another name, one that is too large", async () => {
  const key = ["x-api-key", platform.apiKey] as const;
  assertRefused(await form([["query", QUERY], ["query", "{ __typename }"], key]), /two parts named 'query'/);
  assertRefused(await form([key]), /has no GraphQL query/);
  assertRefused(await form([["query", "  "], key]), /has no GraphQL query/);
  assert.deepEqual((await form([key, ["query", new Blob([QUERY])]])).body, FOUND, "a part's file name means nothing");
  assertRefused(await form([key, ["query", QUERY], ["file", new Blob(["x"])]]), /takes no file/);
  assertRefused(await form([key, ["query", QUERY], ["variables", "{}"]]), /a part named 'variables'/);
  assertRefused(await form([key, ["query", QUERY], ["__proto__", "x"]]), /./);
  assertRefused(await form([key, ["query", `#${"x".repeat(256 * 1024)}`]]), /The form is larger/);
  assertRefused(
    await form([key, ["query", '{"query":"{__typename}","file":"/etc/passwd"}']]),
    /only taken from the part 'file' of a form; 'file'/,
  );
  assertRefused(await form([key, ...Array.from({ length: 9 }, (): Part => ["query", QUERY])]), /./);
});

test("a form that is broken off or has no boundary is the sender's fault", async () => {
  const full = `--b\r\ncontent-disposition: form-data; name="x-api-key"\r\n\r\n${platform.apiKey}\r\n--b\r\ncontent-disposition: form-data; name="query"\r\n\r\n${QUERY}\r\n--b--\r\n`;
  assert.deepEqual((await post(full, "multipart/form-data; boundary=b")).body, FOUND);
  const multipart = ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=other"];
  for (const type of multipart) assertRefused(await post(full, type), /./);
  for (const body of ["", "--b", full.slice(0, -8), full.slice(0, 60), "--b\r\n\r\n\r\n--b--", "\0\xff"])
    assertRefused(await post(body, "multipart/form-data; boundary=b"), /./);
});

test("an endless form is cut off", { timeout: 20_000 }, async () => {
  const line = `POST /gateway/api/graphql?accountId=${platform.accountId} HTTP/1.1`;
  const type = "content-type: multipart/form-data; boundary=b";
  const part = (name: string): string => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n`;
  for (const opening of [part("query"), part("x-api-key"), "preamble ", `${part("query")}{a}\r\n--b--\r\n`]) {
    const pieces = [opening, ...Array<string>(1_000).fill("x".repeat(64 * 1024))];
    const chunked = function* (): Generator<string> {
      for (const piece of pieces) yield `${piece.length.toString(16)}\r\n${piece}\r\n`;
    };
    const head = [line, "host: x", type, "transfer-encoding: chunked"];
    // Whoever goes on sending may meet the closed connection before having read the answer.
    const { status, sent } = await rawRequest(platform.url, head, chunked()).catch((error: unknown) => {
      const cut = error as Error & { readonly sent: number };
      assert.match(cut.message, /without an answer/);
      return { status: 400, sent: cut.sent };
    });
    assert.equal(status, 400, opening);
    assert.ok(sent < 16 * 1024 * 1024, `${opening}: ${sent} bytes left`);
  }
});

test("JSON bodies that are refused: batches, uploads, and what is no request", async () => {
  assertRefused(await post(JSON.stringify([{ query: QUERY }, { query: QUERY }])), /not a JSON object/);
  for (const body of ["null", "1", '"x"', "[]"]) assertRefused(await post(body), /not a JSON object/);
  for (const name of ["file", "files", "filepath", "path", "tempFilePath"])
    assertRefused(await post(JSON.stringify({ query: QUERY, [name]: "/etc/passwd" })), new RegExp(`'${name}'`));
  for (const body of ["{}", '{"query":null}', '{"query":1}', '{"query":" "}', '{"query":["{x}"]}', '{"Query":"{x}"}'])
    assertRefused(await post(body), /has no GraphQL query/);
  for (const variables of ["[]", "1", '"x"', "true"])
    assertRefused(await post(`{"query":"{__typename}","variables":${variables}}`), /variables is neither/);
  assertRefused(await post('{"query":"{__typename}","operationName":1}'), /operationName/);
  for (const body of ["", "{", QUERY, '{"query":"{__typename}"} x', "\0"]) assertRefused(await post(body), /not JSON/);
  assertRefused(await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), /not UTF-8/);
  for (const type of ["text/plain", "application/graphql", "application/x-www-form-urlencoded", "text/html"])
    assertRefused(await post(JSON.stringify({ query: QUERY }), type), new RegExp(`'${type}' is not understood`));
});

test("a query does not travel in the address, and GET is no way in", async () => {
  const path = `/gateway/api/graphql?accountId=${platform.accountId}&query=${encodeURIComponent(QUERY)}`;
  assert.equal((await platform.send("GET", path)).status, 405);
  assertRefused(await platform.send("POST", path, { contentType: JSON_TYPE, body: "{}" }), /no GraphQL query/);
});

test("strings that no database takes are answered, not failed at", async () => {
  for (const name of ["\0", "a\0b", "\ud800", "\ufffe", "'; drop table users --", "x".repeat(100_000)]) {
    const { status, body } = await platform.graphql("query($n: String!){ userByName(name: $n) { id } }", { n: name });
    assert.equal(status, 200);
    assert.equal(body.data.userByName, null);
    assert.doesNotMatch(body.errors[0].message, /went wrong on the server/, JSON.stringify(name.slice(0, 9)));
    const { body: application } = await platform.graphql(
      "query($n: String!){ application(applicationId: $n) { id } execution(executionId: $n) { id } }",
      { n: name },
    );
    assert.deepEqual(application.data, { application: null, execution: null });
  }
});

test("prototype keys in variables and in the body change nothing", async () => {
  const query = "query($f: [ExecutionFilter]){ executions(filters: $f) { nodes { id } } }";
  const variables = '{"f":[{"__proto__":{"pipeline":{"operator":"EQUALS","values":["x"]}}}]}';
  const answer = await post(`{"query":${JSON.stringify(query)},"variables":${variables},"__proto__":{"x":1}}`);
  assert.equal(answer.status, 200);
  assert.match(answer.body.errors[0].message, /Field "__proto__" is not defined by type "ExecutionFilter"/);
});
