import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { diffLines } from "./line-diff.ts";

const SIGNS = { same: " ", removed: "-", added: "+" } as const;
const show = (before: string, after: string): readonly string[] =>
  diffLines(before, after).map(({ kind, text }) => SIGNS[kind] + text);

test("a difference has the fewest lines", () => {
  assert.deepEqual(show("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n"), [
    "-a",
    "-b",
    " c",
    "+b",
    " a",
    " b",
    "-b",
    " a",
    "+c",
  ]);
  assert.deepEqual(show("a\nb\n", "a\nx\nb\n"), [" a", "+x", " b"]);
  assert.deepEqual(show("", "a\n"), ["+a"]);
  assert.deepEqual(show("a\n", ""), ["-a"]);
  assert.deepEqual(show("", ""), []);
  assert.deepEqual(show("a\r\nb", "a\nb\n"), [" a", " b"]);
});

test("lines have their numbers in both texts", () => {
  assert.deepEqual(
    diffLines("a\nb\nc", "a\nc\nd").map(({ before, after }) => [before, after]),
    [
      [1, 1],
      [2, undefined],
      [3, 2],
      [undefined, 3],
    ],
  );
});

test("either text can be read from a difference, and no shorter one exists", () => {
  const texts = fc
    .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 })
    .map((lines) => lines.map((line) => `${line}\n`).join(""));
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = diffLines(before, after);
      const side = (left: "removed" | "added"): string =>
        lines
          .filter(({ kind }) => kind !== left)
          .map(({ text }) => `${text}\n`)
          .join("");
      assert.equal(side("added"), before);
      assert.equal(side("removed"), after);
      const same = lines.filter(({ kind }) => kind === "same").length;
      assert.equal(same, longestCommon(before.split("\n").slice(0, -1), after.split("\n").slice(0, -1)));
    }),
    { numRuns: 500 },
  );
});

test("texts with too many differences are shown as replaced, in time", () => {
  const text = (name: string): string => Array.from({ length: 20_000 }, (_, i) => `${name} ${i}`).join("\n");
  const startedAt = performance.now();
  const lines = diffLines(`start\n${text("old")}\nend`, `start\n${text("new")}\nend`);
  assert.equal(lines.length, 40_002);
  assert.deepEqual(
    [lines[0]?.kind, lines[1]?.kind, lines.at(-2)?.kind, lines.at(-1)?.kind],
    ["same", "removed", "added", "same"],
  );
  assert.ok(performance.now() - startedAt < 10_000);
});

/** The length of the longest common subsequence, by the plain table. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    for (const [j, other] of b.entries())
      next.push(line === other ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}
