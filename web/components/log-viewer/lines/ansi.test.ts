import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAnsi, plainText } from "./ansi.ts";

const textOf = (line: string): string => plainText(parseAnsi(line));

test("colours and styles begin, combine and end", () => {
  assert.deepEqual(parseAnsi("a\u001B[1;31mb\u001B[39mc\u001B[0md"), [
    { text: "a", style: {} },
    { text: "b", style: { isBold: true, color: "red" } },
    { text: "c", style: { isBold: true, color: undefined } },
    { text: "d", style: {} },
  ]);
  assert.deepEqual(parseAnsi("\u001B[44mx\u001B[my"), [
    { text: "x", style: { background: "blue" } },
    { text: "y", style: {} },
  ]);
});

test("of extended colours the nearest hue remains, and what follows them counts", () => {
  const hueOf = (parameters: string) => parseAnsi(`\u001B[${parameters}mx`)[0]?.style;
  assert.deepEqual(hueOf("38;5;196"), { color: "red" });
  assert.deepEqual(hueOf("38;5;9;1"), { color: "red", isBold: true });
  assert.deepEqual(hueOf("48;2;10;200;30;4"), { background: "green", isUnderlined: true });
  assert.deepEqual(hueOf("38;5;244"), { color: "grey" });
  assert.deepEqual(hueOf("38;2;0;190;200"), { color: "cyan" });
  assert.deepEqual(hueOf("38"), { color: undefined });
});

test("links, titles, cursor movements and unknown sequences are left out, and their text stays", () => {
  assert.equal(textOf("\u001B]8;;javascript:alert(1)\u0007link\u001B]8;;\u0007"), "link");
  assert.equal(textOf("\u001B]8;;http://x\u001B\\link\u001B]8;;\u001B\\!"), "link!");
  assert.equal(textOf("a\u001B[2J\u001B[1;1Hb\u001B(Bc\u001B7d\u001B[?25le"), "abcde");
  assert.equal(textOf("\u001B]0;a title that never ends"), "0;a title that never ends");
  assert.equal(textOf("\u001B[".repeat(10_000)), "");
  assert.equal(textOf("a\u001B"), "a\u001B");
  assert.equal(textOf("<b>&amp;\u001B[31m</b>"), "<b>&amp;</b>");
});

test("of a line that overwrites itself the last state remains", () => {
  assert.equal(textOf("10%\r50%\r100%\r"), "100%");
  assert.equal(textOf("\r"), "");
});
