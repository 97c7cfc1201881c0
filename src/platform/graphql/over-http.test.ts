/** GraphQL over HTTP as its specification has it: its audits, and what they leave open. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serverAudits } from "graphql-http";
import { JSON_TYPE } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { isUtf8Type, negotiate } from "./request/media.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

const NEWER = "application/graphql-response+json";
const post = (body: unknown, accept: string | undefined, more: Record<string, string> = {}): Promise<Answer> =>
  platform.send("POST", `/gateway/api/graphql?accountId=${platform.accountId}`, {
    contentType: JSON_TYPE,
    headers: { ...(accept === undefined ? {} : { accept }), ...more },
    body: JSON.stringify(body),
  });

/**
 * GET is optional in the specification. It is declined: a query in the address ends up in logs, and here everything has
 * a credential.
 */
const DECLINED = ["5A70", "D6D5", "6A70"];

test("every audit of the specification passes; what may be declined is GET alone", async () => {
  const audits = serverAudits({
    url: `${platform.url}/gateway/api/graphql?accountId=${platform.accountId}`,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), "x-api-key": platform.apiKey } }),
  });
  assert.ok(audits.length > 50);
  const failed: string[] = [];
  for (const audit of audits) {
    const result = await audit.fn();
    if (result.status === "ok") continue;
    failed.push(audit.id);
    assert.ok(audit.name.startsWith("MAY "), `${audit.id} ${audit.name}: ${result.reason}`);
  }
  assert.deepEqual(failed, DECLINED);
});

test("Accept: quality, exactness, order, and neither", () => {
  const [json, newer] = [JSON_TYPE, NEWER];
  for (const [accept, expected] of [
    [undefined, json],
    ["", json],
    ["*/*", json],
    ["application/*", json],
    ["text/html, application/xhtml+xml, */*;q=0.8", json],
    [json, json],
    ["APPLICATION/JSON; charset=UTF-8", json],
    [newer, newer],
    [`${newer}; charset=utf-8`, newer],
    [`${newer}, ${json};q=0.9`, newer],
    [`${newer};q=0.5, ${json}`, json],
    [`${json}, ${newer}`, json],
    [`${newer}, ${json}`, newer],
    [`${newer}, */*`, newer],
    [`*/*, ${json};q=0`, newer],
    [`${newer};q=0, */*`, json],
    [`${json};q=0.1, ${newer};q=0.2`, newer],
    [`${newer};charset=latin1, ${json}`, json],
  ] as const)
    assert.equal(negotiate(accept), expected, String(accept));
  for (const accept of ["text/html", "application/xml", `${json};q=0`, "*/*;q=0", `${json};charset=utf-16`, "image/*"])
    assert.throws(() => negotiate(accept), /Accept takes neither/, accept);
  // No pattern here may need more than one pass.
  assert.equal(negotiate(`${newer}${",;q=".repeat(3_000)}`), newer);
});

test("an Accept that takes neither is 406, and nothing has run", async () => {
  const query = 'mutation { createApplication(input: { name: "Unwanted" }) { application { id } } }';
  const answer = await post({ query }, "text/html");
  assert.equal(answer.status, 406);
  assert.equal(answer.body.responseMessages[0].code, "INVALID_REQUEST");
  const { body } = await post({ query: "{ applications { nodes { name } } }" }, undefined);
  assert.deepEqual(body.data.applications.nodes, []);
});

test("what could not be executed: 200 as JSON, 400 as the newer type, and no data either way", async () => {
  for (const [body, classification] of [
    [{ query: "{" }, "InvalidSyntax"],
    [{ query: "{ nothing }" }, "ValidationError"],
    [{ query: "{ __typename }", operationName: "Other" }, "ValidationError"],
    [{ query: "query A { __typename } query B { __typename }" }, "ValidationError"],
    [{ query: "query($n: Int!){ applications(limit: $n){ nodes{ id } } }", variables: {} }, "ValidationError"],
    [{ query: "query($n: Int!){ applications(limit: $n){ nodes{ id } } }", variables: { n: "x" } }, "ValidationError"],
    [{ query: "subscription { x }" }, "ValidationError"],
  ] as const) {
    // Also when the document is known and compiled.
    for (let use = 0; use < 4; use += 1) {
      const [old, newer] = [await post(body, JSON_TYPE), await post(body, NEWER)];
      assert.equal(old.status, 200, old.text);
      assert.equal(newer.status, 400, newer.text);
      assert.equal(newer.headers.get("content-type"), `${NEWER}; charset=utf-8`);
      assert.deepEqual(newer.body, old.body);
      assert.deepEqual(Object.keys(newer.body), ["errors"]);
      assert.equal(newer.body.errors[0].extensions.classification, classification, newer.text);
    }
  }
});

test("what was executed is 200, failing fields included", async () => {
  const query = '{ application(applicationId: "x") { id } }';
  const answer = await post({ query }, NEWER);
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.body.data, { application: null });
  assert.match(answer.body.errors[0].message, /^Exception while fetching data \(\/application\) : User not authorized/);
});

test("a refused credential is 401 in the contract's body for both types", async () => {
  for (const accept of [JSON_TYPE, NEWER]) {
    const answer = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
      apiKey: null,
      contentType: JSON_TYPE,
      headers: { accept, cookie: `x-api-key=${platform.apiKey}; token=${platform.apiKey}` },
      body: JSON.stringify({ query: "{ __schema { types { name } } }" }),
    });
    assert.equal(answer.status, 401, "a cookie is no credential, and introspection needs one");
    assert.deepEqual([answer.body.metadata, answer.body.resource], [{}, null]);
    assert.equal(answer.body.responseMessages[0].code, "INVALID_TOKEN");
  }
});

test("a cookie is no credential on a form either", async () => {
  const body = new FormData();
  body.append("query", "{ __typename }");
  const headers = { cookie: `x-api-key=${platform.apiKey}` };
  const path = `/api/graphql?accountId=${platform.accountId}`;
  assert.equal((await platform.send("POST", path, { apiKey: null, headers, body })).status, 401);
});

test("other methods are 405 and say which one there is", async () => {
  for (const path of ["/gateway/api/graphql", "/api/graphql", "/gateway/api/graphql-api", "/api/graphql-api"])
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH"]) {
      const answer = await platform.send(method, `${path}?accountId=${platform.accountId}&query={__typename}`);
      assert.equal(answer.status, 405, `${method} ${path}`);
      assert.equal(answer.headers.get("allow"), "POST, OPTIONS");
      if (method !== "HEAD") assert.deepEqual(Object.keys(answer.body), ["metadata", "resource", "responseMessages"]);
    }
});

test("a request that says it is not UTF-8 is refused", async () => {
  for (const type of ["application/json; charset=utf-16", "application/json;charset=latin1"]) {
    const answer = await post({ query: "{ __typename }" }, undefined, { "content-type": type });
    assert.equal(answer.status, 400, type);
    assert.match(answer.body.responseMessages[0].message, /is not understood/);
  }
  for (const type of ["application/json", "application/json; charset=UTF-8", 'application/json;charset="utf-8"'])
    assert.equal(isUtf8Type(type), true, type);
});

test("the account: missing 400, given twice 400, another's and nobody's alike 403", async () => {
  const other = await platform.addAccount();
  const ask = (search: string): Promise<Answer> =>
    platform.send("POST", `/gateway/api/graphql${search}`, {
      account: null,
      contentType: JSON_TYPE,
      body: JSON.stringify({ query: "{ __typename }" }),
    });
  for (const search of ["", "?accountId=", `?accountId=${platform.accountId}&accountId=${platform.accountId}`])
    assert.equal((await ask(search)).status, 400, search);
  assert.match((await ask("")).body.responseMessages[0].message, /accountId is required/);
  const [existing, none] = [await ask(`?accountId=${other.accountId}`), await ask("?accountId=AAAAAAAAAAAAAAAAAAAAAA")];
  assert.equal(existing.status, 403);
  assert.equal(none.status, 403);
  assert.equal(existing.text, none.text);
});
