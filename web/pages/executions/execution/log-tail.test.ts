import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogTail, LINES } from "./log-tail.ts";

test("a short log is shown whole", () => {
  const tail = createLogTail(false);
  tail.add("one\ntw");
  tail.add("o\n");
  assert.equal(tail.text(), "one\ntwo\n");
  assert.equal(tail.isCut(), false);
});

test("of a long log the last lines stay, with and without an end of the last one", () => {
  for (const end of ["", "\n"]) {
    const tail = createLogTail(false);
    for (let line = 0; line <= LINES; line += 1) tail.add(line === LINES ? `${line}${end}` : `${line}\n`);
    assert.equal(tail.text().split("\n")[0], "1");
    assert.equal(tail.isCut(), true);
  }
});

test("a log that is read from its middle begins with a whole line", () => {
  const tail = createLogTail(true);
  tail.add("lf a line\nwhole\n");
  assert.equal(tail.text(), "whole\n");
  assert.equal(tail.isCut(), true);
});

test("one line without an end does not grow without bound", () => {
  const tail = createLogTail(false);
  for (let piece = 0; piece < 100; piece += 1) tail.add("x".repeat(10_000));
  assert.ok(tail.text().length <= 4 * 64 * 1024);
});
