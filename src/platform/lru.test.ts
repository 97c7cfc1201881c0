import assert from "node:assert/strict";
import { test } from "node:test";
import { createLru } from "./lru.ts";

test("the entry used least recently is forgotten first", () => {
  const lru = createLru<string, number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  assert.equal(lru.get("a"), 1);
  lru.set("c", 3);
  assert.equal(lru.get("b"), undefined);
  assert.deepEqual([lru.get("a"), lru.get("c"), lru.size()], [1, 3, 2]);
});

test("weights count, and a replaced entry's weight is given back", () => {
  const lru = createLru<string, string>(10, (key, value) => key.length + value.length);
  lru.set("a", "1234");
  lru.set("a", "12345678");
  lru.set("b", "");
  assert.deepEqual([lru.get("a"), lru.get("b")], ["12345678", ""]);
  lru.set("c", "x");
  assert.deepEqual([lru.get("a"), lru.get("b"), lru.get("c")], [undefined, "", "x"]);
});

test("an entry heavier than the whole is not kept", () => {
  const lru = createLru<string, string>(3, (_key, value) => value.length);
  lru.set("a", "1234");
  assert.deepEqual([lru.get("a"), lru.size()], [undefined, 0]);
});
