import assert from "node:assert/strict";
import { test } from "node:test";
import { describeUserAgent } from "./user-agent.ts";

test("browser and system are named; what claims to be another browser is not taken for it", () => {
  const chrome =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
  assert.equal(describeUserAgent(chrome), "Chrome on Linux");
  assert.equal(describeUserAgent(`${chrome} Edg/140.0`), "Edge on Linux");
  assert.equal(describeUserAgent("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605"), "Safari on iOS");
  assert.equal(describeUserAgent("Mozilla/5.0 (Windows NT 10.0) Firefox/150.0"), "Firefox on Windows");
  assert.equal(describeUserAgent("curl/8.1"), undefined);
});
