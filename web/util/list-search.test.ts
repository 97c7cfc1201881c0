import assert from "node:assert/strict";
import { test } from "node:test";
import { parseListSearch } from "./list-search.ts";

test("text and page are read; what is none of them is left out", () => {
  assert.deepEqual(parseListSearch({ q: "shop", page: 3 }), { q: "shop", page: 3 });
  assert.deepEqual(parseListSearch({ page: "2" }), { page: 2 });
  for (const page of [1, 0, -1, 1.5, "x", null, undefined, {}]) assert.deepEqual(parseListSearch({ q: "", page }), {});
  assert.deepEqual(parseListSearch({ q: 5, other: "x" }), {});
});
