import assert from "node:assert/strict";
import { test } from "node:test";
import { formatLineSpan, parseLineSpan } from "./line-range.ts";

test("lines are read in all spellings, and written in one", () => {
  assert.deepEqual(parseLineSpan("L10"), { from: 10, to: 10 });
  assert.deepEqual(parseLineSpan("l20-L10"), { from: 10, to: 20 });
  assert.deepEqual(parseLineSpan(" 3-7 "), { from: 3, to: 7 });
  for (const text of ["", "L0", "L", "L1-", "main", "L1234567890123"]) assert.equal(parseLineSpan(text), undefined);
  assert.equal(formatLineSpan({ from: 4, to: 4 }), "L4");
  assert.equal(formatLineSpan({ from: 4, to: 9 }), "L4-L9");
});
