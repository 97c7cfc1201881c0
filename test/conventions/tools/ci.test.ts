import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { root } from "../../../scripts/lib/files.ts";

const TEST_COMMAND = "npm ci && npm test";

const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

/** Returns whether the text contains the command as a line or as a separate part of a longer script line. */
const runs = (text: string, command: string): boolean =>
  text.split("\n").some((line) => line.trim() === command || line.includes(`"${command}"`));

test("CI runs the README's test command, the check, each benchmark once, and the chaos program", () => {
  assert.ok(read("README.md").includes(TEST_COMMAND), `README.md must say \`${TEST_COMMAND}\``);
  assert.ok(runs(read(".ci/run"), TEST_COMMAND), `.ci/run must run \`${TEST_COMMAND}\``);
  const chaos = ["npm run chaos -- --seed 847 --minutes 2", "npm run chaos -- --seed 1 --plants"];
  for (const command of ["npm run check", "npm run bench -- --brief", ...chaos])
    assert.ok(runs(read(".ci/run"), command), `.ci/run must run \`${command}\``);
  assert.notEqual(statSync(path.join(root, ".ci/run")).mode & 0o100, 0, ".ci/run must be executable");
});

test("planted: CI runs another command", () => {
  assert.ok(runs('part "npm ci && npm test"', TEST_COMMAND));
  assert.ok(!runs("npm ci\nnpm test -- --shard=1", TEST_COMMAND));
  assert.ok(!runs("npm ci && npm test || true", TEST_COMMAND));
  assert.ok(!runs("# npm ci && npm test", TEST_COMMAND));
});

test("every npm script starts the guard, which reports an old Node", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const ours = Object.entries(scripts).filter(([, command]) => /\.ts\b/.test(command));
  assert.ok(ours.length > 0);
  const bare = ours.filter(([, command]) => !command.startsWith("node scripts/guard.js ")).map(([name]) => name);
  assert.deepEqual(bare, [], "Begin these scripts of package.json with `node scripts/guard.js`");
});
