import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { request } from "node:http";
import { startTestPlatform, type TestPlatform } from "../../../../test/support/platform.ts";

const PAGE = "<!doctype html><title>Railhead</title>";
const SCRIPT = `export const text = "${"railhead ".repeat(200)}";`;

let folder: string;
let platform: TestPlatform;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "railhead-test-web-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), PAGE);
  await writeFile(join(folder, "icon.svg"), "<svg/>");
  await writeFile(join(folder, "assets/main-abc.js"), SCRIPT);
  await writeFile(join(folder, "assets/main-abc.js.br"), brotliCompressSync(SCRIPT));
  await writeFile(join(folder, "assets/main-abc.js.gz"), gzipSync(SCRIPT));
  await writeFile(join(folder, "secret.txt"), "not served");
  platform = await startTestPlatform({ webFolder: Promise.resolve(folder) });
});
after(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

type Raw = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
};

/** fetch would decompress the answer and normalize the path. */
const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Raw> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(platform.url);
    request({ hostname, port, path, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    })
      .on("error", reject)
      .end();
  });

test("every view gets the page, which is checked at each visit and may run no text as code", async () => {
  for (const path of [
    "/",
    "/projects/default/shop/executions/x",
    "/account/audit?actor=a",
    "/profile",
    "/tools/graphql",
    "/components",
  ]) {
    const { status, headers, body } = await get(path);
    assert.equal(status, 200, path);
    assert.equal(body.toString(), PAGE);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.equal(headers["cache-control"], "no-cache");
    assert.equal(headers["x-frame-options"], "DENY");
    const policy = String(headers["content-security-policy"]);
    assert.match(
      policy,
      /^default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'self'; style-src 'self';/,
    );
    assert.match(policy, /frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    const again = await get(path, { "if-none-match": String(headers["etag"]) });
    assert.deepEqual([again.status, again.body.length], [304, 0]);
  }
});

test("files are sent compressed as the browser takes them, and cached for good", async () => {
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync } as const;
  for (const encoding of ["br", "gzip"] as const) {
    const { status, headers, body } = await get("/assets/main-abc.js", { "accept-encoding": encoding });
    assert.deepEqual([status, headers["content-encoding"], headers["vary"]], [200, encoding, "accept-encoding"]);
    assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
    assert.equal(decoders[encoding](body).toString(), SCRIPT);
  }
  const plain = await get("/assets/main-abc.js");
  assert.deepEqual([plain.headers["content-encoding"], plain.body.toString()], [undefined, SCRIPT]);
});

test("only built files are served, by their exact names", async () => {
  for (const path of [
    "/assets/none.js",
    "/assets/../index.html",
    "/assets/..%2Findex.html",
    "/assets/%2e%2e/secret.txt",
    "/assets/main-abc.js.br",
    "/assets/",
    "/secret.txt",
    "/index.html",
  ]) {
    const { status, body } = await get(path);
    assert.equal(status, 404, path);
    assert.doesNotMatch(body.toString(), /not served/);
  }
});

test("paths of the API that do not exist are no pages", async () => {
  for (const path of ["/pipeline/api/none", "/unknown", "/gateway", "/projects-of-others"]) {
    const { status, headers } = await get(path);
    assert.deepEqual([status, headers["content-type"]], [404, "application/json; charset=utf-8"], path);
  }
});

test("without a build the page says so, and the API works", async () => {
  const failed = Promise.reject<string>(new Error("no bundler"));
  failed.catch(() => {});
  const broken = await startTestPlatform({ webFolder: failed });
  const page = await broken.send("GET", "/", { account: null, apiKey: null });
  assert.deepEqual(
    [page.status, page.text],
    [503, "The web interface could not be built. The server's log says why.\n"],
  );
  const { status } = await broken.send("GET", "/ng/api/organizations");
  assert.equal(status, 200);
  await broken.stop();
});

test("a server without the web interface answers its addresses as unknown ones", async () => {
  const bare = await startTestPlatform();
  const { status } = await bare.send("GET", "/", { account: null, apiKey: null });
  assert.equal(status, 404);
  await bare.stop();
});
