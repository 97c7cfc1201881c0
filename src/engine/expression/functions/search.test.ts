import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { firstOffset, lastOffset, occurrences } from "./search.ts";

/** Texts of two letters, so that long patterns occur and overlap. */
const letters = (maxLength: number) =>
  fc.array(fc.constantFrom("a", "b"), { maxLength }).map((chars) => chars.join(""));

test("property: patterns of each length are found where the engine's own search finds them", () => {
  const wanted = fc.oneof(
    letters(4),
    letters(40),
    fc.nat({ max: 30 }).map((count) => "ab".repeat(count)),
  );
  fc.assert(
    fc.property(letters(60), wanted, letters(60), (before, pattern, after) => {
      const text = before + pattern + pattern.slice(0, 20) + after;
      assert.equal(firstOffset(text, pattern), text.indexOf(pattern));
      assert.equal(lastOffset(text, pattern), text.lastIndexOf(pattern));
      if (pattern === "") return;
      assert.equal([...occurrences(text, pattern)].length, text.split(pattern).length - 1);
    }),
  );
});

test("property: a pattern is found after a part of itself, where the search has to step back", () => {
  fc.assert(
    fc.property(letters(5), letters(5), fc.integer({ min: 1, max: 12 }), (period, tail, count) => {
      const pattern = period.repeat(count) + tail;
      fc.pre(pattern !== "");
      for (const text of [period + pattern, pattern.slice(0, -1) + pattern, period + pattern + pattern]) {
        assert.equal(firstOffset(text, pattern), text.indexOf(pattern));
        assert.equal(lastOffset(text, pattern), text.lastIndexOf(pattern));
        assert.equal([...occurrences(text, pattern)].length, text.split(pattern).length - 1);
      }
    }),
    { numRuns: 500 },
  );
});

test("a search takes steps in proportion to the text, whatever the pattern", () => {
  let reads = 0;
  const counted = new Proxy(Object("a".repeat(20_000)) as object, {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key) as unknown;
    },
  }) as unknown as string;
  assert.equal(firstOffset(counted, `${"a".repeat(5000)}b${"a".repeat(5000)}`), -1);
  assert.ok(reads < 100_000, String(reads));
});
