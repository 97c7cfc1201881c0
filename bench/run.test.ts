/** Tests the program that runs benchmarks. CI runs the benchmarks themselves with `npm run bench -- --brief`. */
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

test("brief runs the named benchmark and shows and writes no figure", () => {
  const before = results();
  const { status, stdout, stderr } = bench(["--brief", "masking"]);
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /^masking: 4 figures, in [\d.]+ s\n$/);
  assert.deepEqual(results(), before);
});

test("a failing benchmark fails the command with its cause and does not stop the others", () => {
  const { status, stdout, stderr } = bench(["--brief", "masking", "latency"], { TMPDIR: path.join(RESULTS, "gone") });
  assert.equal(status, 1);
  assert.match(stdout, /^latency: failed$/m);
  assert.match(stdout, /^masking: 4 figures/m);
  assert.match(stderr, /1 of 2 failed[^]*the benchmark latency failed[^]*ENOENT/);
});

test("an unknown benchmark or option is an error and runs nothing", () => {
  const unknown = bench(["--brief", "masking", "maskings"]);
  assert.deepEqual([unknown.status, unknown.stdout], [2, ""]);
  assert.match(unknown.stderr, /^Benchmark 'maskings' does not exist\. Use one of latency, /);
  const misspelt = bench(["--breif", "masking"]);
  assert.deepEqual([misspelt.status, misspelt.stdout], [2, ""]);
  assert.match(misspelt.stderr, /^Option '--breif' does not exist\. Use --brief or no option\.\n$/);
});
