/** What saving advises beside a fault. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../core/problem.ts";
import { readPipeline } from "./read.ts";
import { changed, SAMPLE, SCOPE } from "./sample.ts";

const ROWS: readonly (readonly [piece: string, replacement: string, hint: string])[] = [
  ["failureStrategies:", "failureStrategy:", "Did you mean 'failureStrategies'?"],
  ["type: ShellScript", "type: shellScript", "Did you mean 'ShellScript'?"],
  ["shell: Bash", "shell: bash", "Did you mean 'Bash'?"],
  ["type: Deployment", "type: deployment", "Did you mean 'Deployment'?"],
  ["tags: {}\n  stages", "needs: {}\n  stages", "Remove it, or correct its name."],
  ["type: Deployment", "type: CI", "Use a stage of the type Custom."],
];

for (const [piece, replacement, hint] of ROWS)
  test(`${replacement.split("\n")[0]}: ${hint}`, () => {
    assert.throws(
      () => readPipeline(changed(piece, replacement, SAMPLE), SCOPE),
      (error) => error instanceof Problem && error.faults[0]?.about?.hint === hint,
    );
  });
