import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { prepareWeb } from "./prepare.ts";

const logged: string[] = [];
const log = { info: (_facts: object, message: string) => void logged.push(message) };

test("it is built once for the same sources, compressed, without anything inline or from elsewhere", async () => {
  const folder = await prepareWeb(log);
  const first = logged.splice(0);
  assert.ok(first.length <= 1, "at most one line");
  assert.equal(await prepareWeb(log), folder);
  assert.deepEqual(logged, [], "the second call builds nothing");
  const page = await readFile(path.join(folder, "index.html"), "utf8");
  assert.doesNotMatch(page, /<style|style=|<script>|\son\w+=|https?:/);
  for (const [, name = ""] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
    if (name.startsWith("data:")) continue;
    const bytes = await readFile(path.join(folder, name));
    assert.deepEqual(brotliDecompressSync(await readFile(path.join(folder, `${name}.br`))), bytes);
  }
  const assets = await readdir(path.join(folder, "assets"));
  for (const name of assets) assert.match(name, /-[\w-]{8}\.(?:js|css)(?:\.br|\.gz)?$/, "names hold a hash");
});
