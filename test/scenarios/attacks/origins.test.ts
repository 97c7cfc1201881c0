/** Attack class 7: responses allow every origin the same access, and never access with a visitor's credentials. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { World } from "../../contract/world.ts";
import { isStream } from "../../contract/operations.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";
import { sendSample, createExamples, samples } from "./requests.ts";

let platform: TestPlatform;
let world: World;
before(async () => {
  platform = await startTestPlatform();
  world = await createExamples(platform);
});
after(() => platform?.stop());

const origins = (): readonly string[] => {
  const { host, port } = new URL(platform.url);
  return [
    "null",
    platform.url,
    `http://${host}.example.com`,
    `http://railhead.${host}`,
    `https://localhost:${port}`,
    `http://127.0.0.1:${port}@example.com`,
    "https://example.com",
    "file://",
    "*",
  ];
};

function assertSameForAll({ headers }: Answer, what: string): void {
  assert.equal(headers.get("access-control-allow-origin"), "*", what);
  assert.equal(headers.get("access-control-allow-credentials"), null, what);
  assert.equal(headers.get("access-control-allow-private-network"), null, what);
}

test("no operation repeats an origin or allows credentials, in responses, refusals and event streams", async () => {
  for (const sample of samples(world).filter(
    ({ operation, type }) => operation.method !== "DELETE" && type !== "multipart/form-data",
  ))
    for (const origin of sample.operation.method === "GET" ? origins() : origins().slice(0, 3)) {
      const what = `${sample.operation.operationId} for ${origin}`;
      // An open event stream would not end. The test checks its refusal instead.
      if (!isStream(sample.operation))
        assertSameForAll(await sendSample(platform, sample, { headers: { origin } }), what);
      assertSameForAll(await sendSample(platform, sample, { headers: { origin }, apiKey: null }), what);
    }
});

test("a preflight response is the same for every origin, also for requests to a private network", async () => {
  for (const path of ["/api/graphql", "/gateway/api/graphql", "/ng/api/projects", "/ng/api/v2/secrets"])
    for (const origin of origins()) {
      const headers = {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-api-key,cookie,x-http-method-override",
        "access-control-request-private-network": "true",
      };
      const answer = await platform.send("OPTIONS", path, { headers, apiKey: null });
      assert.equal(answer.status, 204, `${path} ${origin}`);
      assertSameForAll(answer, `${path} ${origin}`);
      const allowed = answer.headers.get("access-control-allow-headers")?.toLowerCase().split(/, */) ?? [];
      for (const name of ["*", "cookie", "x-http-method-override"]) assert.ok(!allowed.includes(name), name);
    }
});

test("a cookie is no credential for any operation", async () => {
  for (const sample of samples(world).filter(({ operation }) => !operation.public)) {
    const cookie = `x-api-key=${platform.apiKey}; token=${platform.apiKey}; session=${platform.apiKey}`;
    const answer = await sendSample(platform, sample, { apiKey: null, headers: { cookie } });
    assert.equal(answer.status, 401, `${sample.operation.operationId}: ${answer.text}`);
    assert.equal(answer.headers.get("set-cookie"), null, sample.operation.operationId);
  }
});
