import assert from "node:assert/strict";
import { test } from "node:test";
import { createFolding, type Hidden } from "./folding.ts";

/** The lines that remain, one by one. */
function shownLines(hidden: readonly Hidden[], totalLines: number): readonly number[] {
  const all = Array.from({ length: totalLines }, (_, at) => at + 1);
  return all.filter((line) => !hidden.some(({ from, to }) => from <= line && line <= to));
}

test("rows are the lines that remain, in both directions", () => {
  const cases: readonly (readonly Hidden[])[] = [
    [],
    [{ from: 3, to: 5 }],
    [
      { from: 9, to: 12 },
      { from: 2, to: 3 },
    ],
    [
      { from: 2, to: 10 },
      { from: 4, to: 6 },
      { from: 11, to: 11 },
    ],
    [{ from: 18, to: Number.POSITIVE_INFINITY }],
    [{ from: 5, to: 4 }],
  ];
  for (const hidden of cases) {
    const shown = shownLines(hidden, 20);
    const folding = createFolding(hidden, 20);
    assert.equal(folding.rows, shown.length);
    for (const [row, line] of shown.entries()) {
      assert.equal(folding.lineOf(row), line);
      assert.equal(folding.rowOf(line), row);
    }
  }
});

test("a hidden line stands for the line that hides it", () => {
  const folding = createFolding([{ from: 3, to: 5 }], 10);
  assert.deepEqual([3, 4, 5].map(folding.rowOf), [1, 1, 1]);
});
