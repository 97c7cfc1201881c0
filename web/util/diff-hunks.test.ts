import assert from "node:assert/strict";
import { test } from "node:test";
import { foldUnchanged } from "./diff-hunks.ts";
import { diffLines } from "./line-diff.ts";

const numbers = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i + 1));
const fold = (before: readonly string[], after: readonly string[]) =>
  foldUnchanged(diffLines(before.join("\n"), after.join("\n"))).map(({ kind, lines }) => [kind, lines.length]);

test("equal lines far from a change are folded", () => {
  const changed = numbers(20).map((line) => (line === "10" ? "ten" : line));
  assert.deepEqual(fold(numbers(20), changed), [
    ["folded", 6],
    ["lines", 8],
    ["folded", 7],
  ]);
  assert.deepEqual(fold(numbers(20), numbers(20)), [["folded", 20]]);
});

test("a single line is not folded", () => {
  assert.deepEqual(fold(numbers(5), [...numbers(4), "five"]), [
    ["lines", 1],
    ["lines", 5],
  ]);
});
