import assert from "node:assert/strict";
import { test } from "node:test";
import { parseLogSearch } from "./log-search.ts";

test("what an address may say about a log", () => {
  assert.deepEqual(parseLogSearch({ attempt: 2, q: "error", wrap: true, times: true }), {
    ...{ attempt: 2, q: "error" },
    ...{ wrap: true, times: true },
  });
  assert.deepEqual(parseLogSearch({ attempt: "3", q: 404 }), { attempt: 3, q: "404" });
  assert.deepEqual(parseLogSearch({ attempt: -1, q: "", wrap: "yes", times: false, other: 1 }), {});
  assert.equal(parseLogSearch({ q: "x".repeat(300) }).q?.length, 256);
});
