import assert from "node:assert/strict";
import { test } from "node:test";
import { readJsonRequest, readQueryPart } from "./request.ts";

const QUERY = '"query":"{ applications { nodes { id } } }"';

test("a key that a body has twice is refused with its place, at every depth and in forms too", () => {
  for (const text of [
    `{${QUERY},"query":"{ users { nodes { id } } }"}`,
    `{${QUERY},"variables":{"secret":{"secretId":"a","secretId":"b"}}}`,
    `{${QUERY},"variables":{"a":1,"\\u0061":2}}`,
  ]) {
    for (const read of [() => readJsonRequest(Buffer.from(text)), () => readQueryPart(text)])
      assert.throws(read, { code: "graphql.bad_body", message: /is given twice, at line 1, column \d+/ });
  }
  const fine = `{${QUERY},"variables":{"a":{"a":1},"b":["a","a"]}}`;
  assert.deepEqual(readJsonRequest(Buffer.from(fine)).variables, { a: { a: 1 }, b: ["a", "a"] });
});
