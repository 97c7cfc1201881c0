import assert from "node:assert/strict";
import { test } from "node:test";
import { fitsInto } from "./answer-size.ts";

test("texts count by their length, wherever they are and under however many names", () => {
  const text = "x".repeat(100);
  assert.equal(
    fitsInto(
      {
        data: {
          nodes: [
            { a: text, b: text },
            { a: text, b: null },
          ],
        },
      },
      308,
    ),
    true,
  );
  assert.equal(
    fitsInto(
      {
        data: {
          nodes: [
            { a: text, b: text },
            { a: text, b: null },
          ],
        },
      },
      307,
    ),
    false,
  );
  assert.equal(fitsInto({ data: Array.from({ length: 30 }, () => text) }, 2_999), false);
});
