import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAnsi } from "./ansi.ts";
import { markHits } from "./mark-hits.ts";

const marksOf = (line: string, wanted: string): string =>
  markHits(parseAnsi(line), wanted)
    .map(({ text, isHit }) => (isHit ? `[${text}]` : text))
    .join("");

test("hits are marked in any case, also across colours", () => {
  assert.equal(marksOf("an Error and an error", "ERROR"), "an [Error] and an [error]");
  assert.equal(marksOf("a\u001B[31mbc\u001B[0md", "bcd"), "a[bc][d]");
  assert.equal(marksOf("aaaa", "aa"), "[aa][aa]");
  assert.equal(marksOf("nothing", "x"), "nothing");
  assert.equal(marksOf("nothing", ""), "nothing");
});

test("letters that get longer in lower case do not move the marks", () => {
  assert.equal(marksOf("\u0130\u0130 here", "here"), "\u0130\u0130 [here]");
});
