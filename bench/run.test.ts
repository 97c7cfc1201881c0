/** The program around the benchmarks; what they measure is started by CI itself, with `npm run bench -- --brief`. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const RESULTS = path.join(import.meta.dirname, "results");

const bench = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  spawnSync(process.execPath, [path.join(import.meta.dirname, "run.ts"), ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });

const results = () => readdirSync(RESULTS).map((name) => [name, statSync(path.join(RESULTS, name)).mtimeMs]);

test("brief starts what is named, shows no figure and writes none", () => {
  const before = results();
  const { status, stdout, stderr } = bench(["--brief", "masking"]);
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /^masking: 4 figures, in [\d.]+ s\n$/);
  assert.deepEqual(results(), before);
});

test("one that fails is a failure of the whole, with its cause; the others are tried", () => {
  const { status, stdout, stderr } = bench(["--brief", "masking", "latency"], { TMPDIR: path.join(RESULTS, "gone") });
  assert.equal(status, 1);
  assert.match(stdout, /^latency: failed$/m);
  assert.match(stdout, /^masking: 4 figures/m);
  assert.match(stderr, /1 of 2 failed[^]*the benchmark latency failed[^]*ENOENT/);
});

test("a name or an option that there is not is refused, and nothing is measured", () => {
  const unknown = bench(["--brief", "masking", "maskings"]);
  assert.deepEqual([unknown.status, unknown.stdout], [2, ""]);
  assert.match(unknown.stderr, /^There is no benchmark 'maskings'; there are latency, /);
  const misspelt = bench(["--breif", "masking"]);
  assert.deepEqual([misspelt.status, misspelt.stdout], [2, ""]);
  assert.match(misspelt.stderr, /^There is no option '--breif'; there is --brief\.\n$/);
});
