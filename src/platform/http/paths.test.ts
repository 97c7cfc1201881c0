/** A private resource stays private however its path is spelt and whatever the method is. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { request } from "node:http";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { methodsOf } from "./routes.ts";
import { rawRequest } from "../../../test/support/clients/raw-http.ts";

let platform: TestPlatform;

before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

type Sent = { readonly status: number; readonly text: string };

/** `node:http` sends the path as it is given; fetch would tidy it up. */
function send(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Sent> {
  const { promise, resolve, reject } = Promise.withResolvers<Sent>();
  const { hostname, port } = new URL(platform.url);
  const outgoing = request({ hostname, port, method, path, headers, agent: false }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (more: string) => void (text += more));
    response.on("end", () => resolve({ status: response.statusCode ?? 0, text })).on("error", reject);
  });
  outgoing.on("error", (cause) => reject(new Error(`${method} ${path}`, { cause }))).end();
  return promise;
}

const asItIs = (path: string): string => path;
const SHAPES: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `/${path}`,
  (path) => path.replace("/api/", "//api/"),
  (path) => path.replace("/api/", "/./api/"),
  (path) => `/x/..${path}`,
  (path) => `/health/live/../..${path}`,
  (path) => `/health/live/..;${path}`,
  (path) => `/health%2flive/..%2f..${path}`,
  (path) => path.replace("/api/", "/api%2f"),
  (path) => path.replace("/api/", "%2fapi/"),
  (path) => path.replace("/api/", "/%61pi/"),
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `${path};x=1`,
  (path) => path.replace("/api/", "/api;x=1/"),
  (path) => `${path}%20`,
  (path) => `${path}%00`,
  (path) => `${path}%3f`,
  (path) => `${path}#`,
  (path) => `${path}.json`,
  (path) => path.toUpperCase(),
  (path) => `/gateway/gateway${path}`,
  (path) => `${path}%ff`,
  (path) => path.replaceAll("/", "\\"),
  (path) => `http://localhost${path}`,
  // A route must not be let through for how it ends, nor for what its query says.
  (path) => `${path};/health/live`,
  (path) => `${path}/health/live`,
  (path) => `${path}/..;/health/live`,
  (path) => `${path};.css`,
  (path) => `${path}/api-docs`,
  (path) => `/api-docs/..${path}`,
  (path) => `/graphql-explorer/..${path}`,
  (path) => `/pipeline/api/webhook/custom/x/v3/../../../../../..${path}`,
];

const targets = (): readonly { readonly method: string; readonly path: string }[] => [
  ...platform.platform.http
    .routes()
    .filter(({ access }) => "permission" in access)
    .map(({ method, path }) => ({ method, path: path.replaceAll(/:\w+/g, "x") })),
  { method: "POST", path: "/api/graphql" },
  { method: "POST", path: "/api/graphql-api" },
];

const query = (): string =>
  `?accountIdentifier=${platform.accountId}&accountId=${platform.accountId}&orgIdentifier=default&projectIdentifier=p&targetIdentifier=t`;

test("no spelling of a private path is answered without a credential", async () => {
  for (const { method, path } of targets())
    for (const prefix of ["", "/gateway"])
      for (const shape of [...SHAPES, asItIs]) {
        const spelt = `${shape(`${prefix}${path}`)}${query()}${shape === asItIs ? "&jsp=/health/live;.jsp" : ""}`;
        const { status, text } = await send(method, spelt);
        assert.ok([400, 401, 404, 405].includes(status), `${method} ${spelt}: ${status} ${text}`);
      }
});

test("a public path stays itself, whatever private path its query or its ending names", async () => {
  const { text: plain } = await send("GET", "/health/live");
  for (const { path } of targets()) {
    for (const asked of [`?jsp=${path};.jsp`, `?path=${path}`, `?${path}`, `?/..${path}`]) {
      const { status, text } = await send("GET", `/health/live${asked}`);
      assert.deepEqual([status, text], [200, plain], asked);
    }
    for (const asked of [
      `/health/live;${path}`,
      `/health/live${path}`,
      `/health/live/..;${path}`,
      `/openapi.json${path}`,
    ])
      assert.equal((await send("GET", asked)).status, 404, asked);
    for (const name of ["x-original-url", "x-rewrite-url", "x-forwarded-prefix", "x-forwarded-uri"])
      assert.equal((await send("GET", "/health/live", { [name]: path })).text, plain, name);
  }
});

test("no other method of a private path is answered without a credential", async () => {
  for (const { path } of targets())
    for (const method of ["HEAD", "OPTIONS", "GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "QUERY"]) {
      const { status } = await send(method, `${path}${query()}`);
      assert.ok([400, 401, 404, 405].includes(status), `${method} ${path}: ${status}`);
    }
});

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"];

test("a path that there is answers other methods with 405 and Allow, in its own envelope, to everybody alike", async () => {
  const paths = Map.groupBy(platform.platform.http.routes(), ({ path }) => path);
  const elsewhere = { method: ["POST"], errors: "graphql", path: "/api/graphql" };
  const known = [
    ...[...paths].map(([path, routes]) => ({ path, method: routes.flatMap(methodsOf), errors: routes[0]?.errors })),
    elsewhere,
    ...["/openapi.json", "/api-docs", "/login", "/graphql-explorer"].map((path) => ({
      path,
      method: ["GET", "HEAD"],
      errors: "rest",
    })),
  ];
  const named = (path: string): string => path.replaceAll(/:\w+/g, "nobody-made-this");
  // `/batch` of a collection is an identifier to the methods that it has not.
  const methodsAt = (target: string): readonly string[] =>
    known
      .filter(({ path }) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]*")}$`).test(target))
      .flatMap((one) => one.method);
  const ask = async (
    target: string,
    { path, errors }: (typeof known)[number],
    other: string,
    key = {},
  ): Promise<void> => {
    const answer = await fetch(`${platform.url}${target}?x=1`, { method: other, headers: key });
    const text = await answer.text();
    assert.equal(answer.status, 405, `${other} ${target}: ${text}`);
    const allowed = answer.headers.get("allow")?.split(", ") ?? [];
    const expected = [...new Set(methodsAt(named(path))), "OPTIONS"];
    assert.deepEqual(allowed.toSorted(), expected.toSorted(), `${other} ${target}`);
    if (other !== "HEAD") assertFamily(text, String(errors), other, allowed);
  };
  let asked = 0;
  for (const one of known)
    for (const other of METHODS.filter((method) => !methodsAt(named(one.path)).includes(method))) {
      await ask(named(one.path), one, other);
      if (one.path !== "/api-docs")
        await ask(`/gateway${named(one.path)}`, one, other, { "x-api-key": platform.apiKey });
      asked += 2;
    }
  assert.ok(asked > 1_000, String(asked));
});

/** 405 as the clients of a family read their errors. */
function assertFamily(text: string, family: string, method: string, allowed: readonly string[]): void {
  const body = JSON.parse(text) as Record<string, unknown>;
  const keys = {
    rest: ["status", "code", "message", "correlationId", "detailedMessage", "responseMessages", "metadata"],
    resource: ["metaData", "resource", "responseMessages"],
    graphql: ["metadata", "resource", "responseMessages"],
    scim: ["schemas", "status", "detail"],
  }[family];
  assert.deepEqual(Object.keys(body), keys, text);
  assert.ok(text.includes(`There is no ${method} here; this address takes`), text);
  for (const one of allowed) assert.ok(text.includes(one), text);
}

test("what is no path stays 404, whatever the method", async () => {
  for (const path of [
    "/nothing",
    "/ng/api/projects/a/",
    "/ng/api/projects/a/b/c",
    `/ng/api/projects/${"x".repeat(257)}`,
    "//ng/api/projects/x",
    "/NG/api/projects",
    "/gateway/gateway/ng/api/projects",
  ])
    for (const method of ["PATCH", "POST", "DELETE"]) {
      const { status, text } = await send(method, path);
      assert.equal(status, 404, `${method} ${path}: ${text}`);
    }
});

test("HEAD answers what GET answers, without the body", async () => {
  const key = { "x-api-key": platform.apiKey };
  for (const path of [
    `/ng/api/organizations/default${query()}`,
    "/health/live",
    `/ng/api/projects/none${query()}`,
    ...["/openapi.json", "/api-docs", "/login", "/graphql-explorer"],
  ]) {
    const [get, head] = [await send("GET", path, key), await send("HEAD", path, key)];
    assert.deepEqual([head.status, head.text], [get.status, ""], path);
    assert.ok(get.text.length > 0);
  }
});

test("a header or a parameter does not change the method", async () => {
  for (const name of ["x-http-method-override", "x-http-method", "x-method-override"]) {
    const { status } = await send("GET", "/health/live?_method=DELETE", { [name]: "DELETE" });
    assert.equal(status, 200);
    const hidden = await send("POST", `/health/live${query()}`, { [name]: "GET" });
    assert.equal(hidden.status, 405);
  }
});

test("a path that is no URL, and a parameter that is too long, are refused in the envelope", async () => {
  const bad = await send("GET", `/ng/api/projects/%ff${query()}`);
  assert.equal(bad.status, 400, bad.text);
  assert.equal(JSON.parse(bad.text).status, "ERROR");
  const long = await send("GET", `/ng/api/projects/${"x".repeat(300)}${query()}`);
  assert.equal(long.status, 404, long.text);
  assert.equal(JSON.parse(long.text).code, "RESOURCE_NOT_FOUND");
});

test("nothing is found in the envelope of errors, which names the path and not the query", async () => {
  const { status, text } = await send("GET", "/nothing/here?token=abc");
  assert.equal(status, 404);
  const { correlationId, ...body } = JSON.parse(text);
  assert.match(correlationId, /^[0-9a-f-]{36}$/);
  const entry = {
    code: "RESOURCE_NOT_FOUND",
    level: "ERROR",
    message: "No resource at GET /nothing/here.",
    exception: null,
  };
  assert.deepEqual(body, {
    status: "ERROR",
    code: "RESOURCE_NOT_FOUND",
    message: "No resource at GET /nothing/here.",
    detailedMessage: null,
    responseMessages: [{ ...entry, failureTypes: [], failureSubTypes: [], additionalInfo: {} }],
    metadata: null,
  });
});

test("what is no HTTP, and addresses and headers that are too long, are refused in the envelope", async () => {
  const heads: readonly (readonly string[])[] = [
    ["GET /ng/api/projects?orgIdentifier=\u00e9 HTTP/1.1", "host: x"],
    ["GET /health/live HTTP/1.1", "host: x", "no colon"],
    [`GET /ng/api/projects?searchTerm=${"x".repeat(20_000)} HTTP/1.1`, "host: x"],
    ["GET /health/live HTTP/9", "host: x"],
    ["rubbish"],
    ["GET /health/live HTTP/1.1"],
  ];
  for (const head of heads) {
    const { status, head: answered, body } = await rawRequest(platform.url, head);
    assert.equal(status, 400, head.join().slice(0, 80));
    assert.match(answered, /^content-type: application\/json; charset=utf-8$/m);
    const { status: word, code, message, correlationId } = JSON.parse(body) as Record<string, string>;
    assert.deepEqual([word, code], ["ERROR", "INVALID_REQUEST"]);
    assert.match(message ?? "", /^The request cannot be read: /);
    assert.match(correlationId ?? "", /^[0-9a-f-]{36}$/);
  }
});

test("an address that no route has is refused as those beside it", async () => {
  const long = "x".repeat(300);
  for (const path of [
    `/api/delegate/${long}/delegate-tags`,
    "/api/delegate/a/b/delegate-tags",
    `/api/executions/${long}`,
  ])
    for (const prefix of ["", "/gateway"]) {
      const { status, text } = await send("PUT", prefix + path, { "x-api-key": platform.apiKey });
      assert.equal(status, 404);
      assert.deepEqual(Object.keys(JSON.parse(text) as object), ["metaData", "resource", "responseMessages"]);
    }
  const { status, text } = await send("GET", `/ng/api/connectors/${long}`, { "x-api-key": platform.apiKey });
  assert.deepEqual([status, (JSON.parse(text) as { status: string }).status], [404, "ERROR"]);
});
