/**
 * Checks that the list of environment variables is complete. A variable that is missing there is reported as unknown.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readCode } from "../../../scripts/lib/files.ts";
import { VARIABLES } from "../../../src/platform/variables/variables.ts";

const all = new Set([...VARIABLES.server, ...VARIABLES.delegate]);

/**
 * Finds names that a source reads from an environment: `env["X"]`, `process.env.X`, and quoted names with the prefix.
 */
const READ = /\benv(?:\[["']|\.)(RAILHEAD_[A-Z0-9_]+)|["'`](RAILHEAD_[A-Z0-9_]*[A-Z0-9])["'`]/g;
/** Variables that delegates set for steps and ssh, and a former name that is refused. */
const NOT_READ = new Set(["RAILHEAD_TASK", "RAILHEAD_ANSWER", "RAILHEAD_SERVER_MAY_REACH"]);

test("every variable that a program reads is listed", () => {
  const missing: string[] = [];
  for (const [path, text] of readCode()) {
    if (!/^(src|delegate)\//.test(path) || /\.test\.ts$|\/testing\//.test(path)) continue;
    for (const [, read, quoted] of text.matchAll(READ)) {
      const name = read ?? quoted ?? "";
      if (!all.has(name) && !NOT_READ.has(name)) missing.push(`${path}: ${name}`);
    }
  }
  assert.deepEqual(
    missing,
    [],
    "Add the name to src/platform/variables/variables.ts, and a row to docs/operations/running.md.",
  );
});

test("every listed variable is documented", () => {
  const page = readFileSync(new URL("../../../docs/operations/running.md", import.meta.url), "utf8");
  const missing = [...all].filter((name) => !page.includes(`\`${name}\``) && !page.includes(`${name}=`));
  // The table lists the variants of keys and client secrets by their endings.
  const byEnding = /_(FILE|COMMAND)$/;
  assert.deepEqual(
    missing.filter((name) => !byEnding.test(name)),
    [],
  );
});
