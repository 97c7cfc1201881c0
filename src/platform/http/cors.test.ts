import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

const ORIGIN = { origin: "https://dashboard.example.com" };

test("any origin may read answers, refusals too, and none gets credentials", async () => {
  const answers = [
    await platform.graphql("{ applications { nodes { id } } }"),
    await platform.send("GET", "/ng/api/projects/x?orgIdentifier=default", { headers: ORIGIN }),
    await platform.send("GET", "/ng/api/projects/x", { headers: ORIGIN, apiKey: null }),
    await platform.send("POST", "/api/graphql", { headers: ORIGIN, apiKey: null }),
    await platform.send("GET", "/nothing", { headers: { origin: "null" } }),
  ];
  for (const { headers } of answers) {
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.equal(headers.get("access-control-allow-credentials"), null);
  }
});

test("a preflight is answered for each method that a route has, and for the headers of credentials", async () => {
  const routes = platform.platform.http.routes();
  const asked = [...new Set(routes.map(({ method }) => method))];
  for (const [path, method] of [
    ["/gateway/api/graphql", "POST"],
    ...asked.map((method) => ["/gateway/ng/api/projects", method] as const),
  ] as const) {
    const headers = {
      ...ORIGIN,
      "access-control-request-method": method,
      "access-control-request-headers": "x-api-key,content-type",
    };
    const answer = await platform.send("OPTIONS", path, { headers, apiKey: null });
    assert.equal(answer.status, 204, `${method} ${path}`);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    assert.equal(answer.headers.get("access-control-allow-credentials"), null);
    const methods = answer.headers.get("access-control-allow-methods")?.split(/, */) ?? [];
    assert.ok(methods.includes(method), `${method} is not among ${methods.join(", ")}`);
    const allowed = answer.headers.get("access-control-allow-headers")?.toLowerCase().split(/, */) ?? [];
    for (const name of ["x-api-key", "authorization", "content-type"]) assert.ok(allowed.includes(name), name);
  }
});

test("OPTIONS that is no preflight is refused in the error body", async () => {
  for (const headers of [{}, ORIGIN, { "access-control-request-method": "POST" }]) {
    const answer = await platform.send("OPTIONS", "/ng/api/projects", { headers, apiKey: null });
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.body.code, "INVALID_REQUEST");
    assert.match(answer.body.message, /^OPTIONS is answered to browsers only/);
  }
});
