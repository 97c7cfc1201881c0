import assert from "node:assert/strict";
import { test } from "node:test";
import { plainLog } from "./plain-log.ts";

test("colours, titles and cursor movements are left out", () => {
  assert.equal(plainLog("\u001B[1;31mred\u001B[0m \u001B]0;title\u0007end\u001B[2K"), "red end");
});

test("a line that a carriage return overwrites shows its last state", () => {
  assert.equal(plainLog("10%\r50%\r100%\r\ndone\r\n"), "100%\ndone\n");
});

test("an unfinished escape and marks of direction are shown by their numbers", () => {
  assert.equal(plainLog("a\u001B"), "a<001B>");
  assert.equal(plainLog("\u202Eevil"), "<202E>evil");
});
