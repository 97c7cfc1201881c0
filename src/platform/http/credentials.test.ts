/** Who a request is from: bodies of refusals to the letter, for REST and for GraphQL. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSON_TYPE } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { rawRequest } from "../../../test/support/clients/raw-http.ts";

let platform: TestPlatform;
let other: { readonly accountId: string; readonly apiKey: string };

before(async () => {
  platform = await startTestPlatform();
  other = await platform.addAccount();
});
after(() => platform?.stop());

const REST = "/gateway/ng/api/projects/none?orgIdentifier=default";
const rest = (headers: Readonly<Record<string, string>>): Promise<Answer> =>
  platform.send("GET", REST, { apiKey: null, headers });
const graphql = (headers: Readonly<Record<string, string>>, account = platform.accountId): Promise<Answer> =>
  platform.send("POST", `/gateway/api/graphql?accountId=${account}`, {
    apiKey: null,
    headers,
    contentType: JSON_TYPE,
    body: JSON.stringify({ query: "{ applications { nodes { id } } }", variables: null }),
  });

const entry = (code: string, message: string) => ({ code, level: "ERROR", message, exception: null, failureTypes: [] });
function assertRest(answer: Answer, status: number, code: string, message: string): void {
  assert.equal(answer.status, status, answer.text);
  const { correlationId, ...body } = answer.body;
  assert.match(correlationId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.deepEqual(body, {
    status: "ERROR",
    code,
    message,
    detailedMessage: null,
    responseMessages: [{ ...entry(code, message), failureSubTypes: [], additionalInfo: {} }],
    metadata: null,
  });
}
function assertGraphql(answer: Answer, status: number, code: string, message: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual(answer.body, { metadata: {}, resource: null, responseMessages: [entry(code, message)] });
}

/** Tokens that are nobody's, each made from the administrator's own. */
function wrongTokens(): Readonly<Record<string, string>> {
  const [kind = "", , id = "", secret = ""] = platform.apiKey.split(".");
  const account = platform.accountId;
  const flipped = secret.startsWith("A") ? `B${secret.slice(1)}` : `A${secret.slice(1)}`;
  return {
    "wrong secret": [kind, account, id, flipped].join("."),
    "secret cut short": [kind, account, id, secret.slice(0, -1)].join("."),
    "no secret": [kind, account, id, ""].join("."),
    "another account spliced in": [kind, other.accountId, id, secret].join("."),
    "another token's id": [kind, account, other.apiKey.split(".")[2], secret].join("."),
    "another kind": ["dlg", account, id, secret].join("."),
    "a part too many": `${platform.apiKey}.x`,
    "in upper case": platform.apiKey.toUpperCase(),
    "very long": "x".repeat(5_000),
    malformed: "not a token",
    empty: "",
  };
}

test("no credential and every wrong one get the same 401 from REST", async () => {
  assertRest(await rest({}), 401, "INVALID_TOKEN", "Token is not valid.");
  for (const [what, token] of Object.entries(wrongTokens())) {
    assertRest(await rest({ "x-api-key": token }), 401, "INVALID_TOKEN", "Token is not valid.");
    assert.equal((await rest({ authorization: `Bearer ${token}` })).status, 401, what);
  }
});

test("no credential and every wrong one get the same 401 from GraphQL", async () => {
  assertGraphql(await graphql({}), 401, "INVALID_TOKEN", "Token is not valid.");
  for (const token of Object.values(wrongTokens())) {
    assertGraphql(await graphql({ "x-api-key": token }), 401, "INVALID_TOKEN", "Token is not valid.");
    assertGraphql(await graphql({ authorization: `Bearer ${token}` }), 401, "INVALID_TOKEN", "Token is not valid.");
  }
});

test("a credential in the address counts for nothing", async () => {
  for (const name of ["x-api-key", "apiKey", "token", "access_token"]) {
    const { status } = await platform.send("GET", `${REST}&${name}=${platform.apiKey}`, { apiKey: null });
    assert.equal(status, 401, name);
  }
});

test("an API key and a bearer token are the same thing", async () => {
  assert.equal((await graphql({ "x-api-key": platform.apiKey })).status, 200);
  for (const scheme of ["Bearer", "bearer", "BEARER"])
    assert.equal((await graphql({ authorization: `${scheme} ${platform.apiKey}` })).status, 200);
  const both = { "x-api-key": platform.apiKey, authorization: `Bearer ${platform.apiKey}` };
  assert.equal((await graphql(both)).status, 200);
  for (const authorization of [platform.apiKey, `Basic ${platform.apiKey}`, `Bearer ${platform.apiKey} x`, "Bearer"])
    assert.equal((await rest({ authorization })).status, 401, authorization);
});

test("two credentials that disagree are refused, whichever is right", async () => {
  const message = "The request carries two credentials that disagree; send one.";
  for (const [key, bearer] of [
    [platform.apiKey, other.apiKey],
    [other.apiKey, platform.apiKey],
    [platform.apiKey, "wrong"],
    ["", platform.apiKey],
  ] as const) {
    const headers = { "x-api-key": key, authorization: `Bearer ${bearer}` };
    assertRest(await rest(headers), 400, "INVALID_REQUEST", message);
    assertGraphql(await graphql(headers), 400, "INVALID_REQUEST", message);
  }
});

test("the same header twice with two values is never answered as one of them", async () => {
  const [right, wrong] = [platform.apiKey, other.apiKey];
  for (const [first, second] of [
    [right, wrong],
    [wrong, right],
  ])
    for (const lines of [
      [`x-api-key: ${first}`, `x-api-key: ${second}`],
      [`authorization: Bearer ${first}`, `authorization: Bearer ${second}`],
    ]) {
      const path = `${REST}&accountIdentifier=${platform.accountId}`;
      const { status } = await rawRequest(platform.url, [`GET ${path} HTTP/1.1`, "host: x", ...lines]);
      assert.ok([400, 401].includes(status), `${lines[0]?.split(":")[0]}: ${status}`);
    }
});

test("another account is refused with 403, and one that does not exist with the same bytes", async () => {
  const REFUSED = ["ACCESS_DENIED", "User not authorized."] as const;
  const existing = await graphql({ "x-api-key": platform.apiKey }, other.accountId);
  const missing = await graphql({ "x-api-key": platform.apiKey }, "AAAAAAAAAAAAAAAAAAAAAA");
  assertGraphql(existing, 403, ...REFUSED);
  assert.equal(missing.status, 403);
  assert.equal(existing.text, missing.text);
  assert.deepEqual([...existing.headers.keys()], [...missing.headers.keys()]);
  for (const account of [other.accountId, "AAAAAAAAAAAAAAAAAAAAAA", "x", "\0", "ä", platform.accountId.slice(0, 21)]) {
    const answer = await platform.send("GET", `${REST}&accountIdentifier=${encodeURIComponent(account)}`);
    assertRest(answer, 403, ...REFUSED);
  }
});

test("the account is required, once, by the name of its family", async () => {
  const twice = `accountIdentifier=${platform.accountId}&accountIdentifier=${other.accountId}`;
  const message = (text: string): string => `Query parameter ${text}`;
  assertRest(
    await platform.send("GET", `${REST}&${twice}`),
    400,
    "INVALID_REQUEST",
    message("accountIdentifier is given twice."),
  );
  assertRest(
    await platform.send("GET", REST, { account: null }),
    400,
    "INVALID_REQUEST",
    message("accountIdentifier is required."),
  );
  const alias = await platform.send("GET", `${REST}&routingId=${platform.accountId}`, { account: null });
  assert.equal(alias.status, 404, "routingId stands for the account");
  const none = await platform.send("POST", "/api/graphql", {
    account: null,
    contentType: JSON_TYPE,
    body: `{"query":"{__typename}"}`,
  });
  assertGraphql(none, 400, "INVALID_REQUEST", message("accountId is required."));
});
