import assert from "node:assert/strict";
import { test } from "node:test";
import { fitsInto } from "./answer-size.ts";

test("texts and names count by their length, wherever they are and under however many names", () => {
  const text = "x".repeat(100);
  const answer = {
    nodes: [
      { a: text, b: text },
      { a: text, b: null },
    ],
  };
  assert.equal(fitsInto(answer, 5 + 4 + 300 + 8), true);
  assert.equal(fitsInto(answer, 5 + 4 + 300 + 7), false);
  assert.equal(fitsInto({ data: Array.from({ length: 30 }, () => text) }, 2_999), false);
  assert.equal(
    fitsInto(
      Array.from({ length: 10 }, () => ({ [text]: 1 })),
      1_079,
    ),
    false,
  );
  assert.equal(
    fitsInto(
      Array.from({ length: 10 }, () => ({ [text]: 1 })),
      1_080,
    ),
    true,
  );
});
