/** The document and its page are public, and the page loads only from this server. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";

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

/** Sends the request without `fetch`, which would decompress the response. */
function wireOf(path: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage & { bytes: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage & { bytes: Buffer }>();
  request(`${platform.url}${path}`, { headers }, (response) => {
    const pieces: Buffer[] = [];
    response.on("data", (piece: Buffer) => pieces.push(piece)).on("error", reject);
    response.on("end", () => resolve(Object.assign(response, { bytes: Buffer.concat(pieces) })));
  })
    .on("error", reject)
    .end();
  return promise;
}

test("the document is compressed for clients that accept it, and sent once to clients that cache it", async () => {
  const committed = readFileSync(new URL("../../api/openapi.json", import.meta.url));
  const ways = [
    ["br", "br", brotliDecompressSync],
    ["gzip, deflate, br", "br", brotliDecompressSync],
    ["gzip", "gzip", gunzipSync],
    ["*;q=0.5, br;q=0", "gzip", gunzipSync],
    ["deflate", undefined, (bytes: Buffer) => bytes],
    ["br;q=0, gzip;q=0", undefined, (bytes: Buffer) => bytes],
    ["", undefined, (bytes: Buffer) => bytes],
  ] as const;
  for (const [taken, encoding, open] of ways) {
    const { statusCode, headers, bytes } = await wireOf("/openapi.json", { "accept-encoding": taken });
    assert.deepEqual(
      [statusCode, headers["content-encoding"], headers.vary],
      [200, encoding, "accept-encoding"],
      taken,
    );
    assert.ok(open(bytes).equals(committed), taken);
    assert.equal(Number(headers["content-length"]), bytes.length);
    if (encoding) assert.ok(bytes.length < committed.length / 8, `${taken}: ${bytes.length}`);
  }
  const tag = (await wireOf("/gateway/openapi.json", {})).headers.etag ?? "";
  assert.match(tag, /^W\/"[\w-]{22}"$/);
  for (const known of [tag, tag.slice(2), `"x", ${tag}`, "*"]) {
    const { statusCode, headers, bytes } = await wireOf("/openapi.json", { "if-none-match": known });
    assert.deepEqual([statusCode, headers.etag, bytes.length], [304, tag, 0], known);
  }
  for (const other of ['W/"x"', tag.slice(3, -1), ""])
    assert.equal((await wireOf("/openapi.json", { "if-none-match": other })).statusCode, 200, other);
  const page = await wireOf("/api-docs", {});
  assert.notEqual(page.headers.etag, tag);
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
