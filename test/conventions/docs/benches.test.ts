import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { BENCHMARKS } from "../../../bench/runner/benchmarks.ts";
import { projectPaths, root } from "../../../scripts/lib/files.ts";
import { benchViolations } from "../lib/benches.ts";
import { assertNoViolations } from "../lib/violations.ts";

test("CI starts every benchmark, and bench/README.md describes it", () => {
  const readme = readFileSync(path.join(root, "bench/README.md"), "utf8");
  assertNoViolations(benchViolations(projectPaths(), Object.keys(BENCHMARKS), readme));
});

const files = ["bench/benchmarks/latency.ts", "bench/run.ts", "bench/load/generator.ts", "bench/README.md"];
const readme =
  "| name | from … to | floor | goal |\n| --- | --- | --- | --- |\n| `latency` | a to b | a bare one | none |\n";
const planted = (change: { files?: string[]; names?: string[]; readme?: string }): readonly string[] =>
  benchViolations(change.files ?? files, change.names ?? ["latency"], change.readme ?? readme).map(
    ({ message }) => message,
  );

test("planted: a benchmark that is never started, and a name without a file", () => {
  assert.deepEqual(planted({}), []);
  assert.deepEqual(planted({ files: [...files, "bench/benchmarks/new.ts"] }), [
    "bench/benchmarks/new.ts is never started: add it to bench/runner/benchmarks.ts, or move it",
  ]);
  assert.match(
    planted({ files: files.slice(1) }).join("\n"),
    /^the benchmark latency has no file bench\/benchmarks\/latency\.ts/,
  );
});

test("planted: a row without a goal, a missing row, and an extra row", () => {
  const wanted = 'bench/README.md: say of latency what is measured, its floor and its goal, or "none"';
  assert.deepEqual(planted({ readme: readme.replace(" none |", " |") }), [wanted]);
  assert.deepEqual(planted({ readme: "| `latency` | a to b | a bare one |\n" }), [wanted]);
  assert.deepEqual(planted({ readme: "" }), [wanted]);
  assert.deepEqual(planted({ readme: `${readme}| \`old\` | a | b | c |\n` }), [
    "bench/README.md: there is no benchmark old",
  ]);
});
