/** The document and the page that shows it are served by this server, to anybody, and load nothing from elsewhere. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../harness/platform.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

const get = (path: string): Promise<Response> => fetch(`${platform.url}${path}`);

test("/openapi.json is the committed document", async () => {
  const committed = readFileSync(new URL("../../api/openapi.json", import.meta.url), "utf8");
  for (const prefix of ["", "/gateway"]) {
    const answer = await get(`${prefix}/openapi.json`);
    assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(await answer.text(), committed);
  }
});

test("/api-docs is a page whose parts all come from this server", async () => {
  const page = await get("/api-docs");
  assert.equal(page.status, 200);
  const html = await page.text();
  const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? "");
  assert.ok(parts.length >= 3, html);
  for (const part of parts) {
    const { origin, pathname } = new URL(part, page.url);
    assert.equal(origin, platform.url, part);
    assert.equal((await get(pathname)).status, 200, part);
  }
  const policy = page.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'; connect-src 'self'/);
  assert.doesNotMatch(policy, /unsafe-eval|https?:|script-src[^;]*unsafe-inline/);
});
