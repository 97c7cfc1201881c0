import assert from "node:assert/strict";
import { test } from "node:test";
import { readCode } from "../../../scripts/lib/files.ts";
import { assertNoViolations } from "../lib/violations.ts";
import { habitViolations } from "../lib/test-habits.ts";

const planted = (text: string, file = "src/x.test.ts"): readonly string[] =>
  habitViolations(new Map([[file, text]])).map(({ message }) => message);

test("tests neither sleep nor prevent other tests from running", () => assertNoViolations(habitViolations(readCode())));

const bad: readonly (readonly [text: string, message: RegExp])[] = [
  ["await new Promise((done) => setTimeout(done, 50));", /^src\/x\.test\.ts:1 calls setTimeout: wait for the event/],
  ["await new Promise((done) => globalThis.setTimeout(done, 50));", /calls setTimeout/],
  ['import { setTimeout as pause } from "node:timers/promises";', /imports timers/],
  ['import timers from "node:timers/promises";', /imports timers/],
  ['const { scheduler } = await import("timers/promises");', /imports timers/],
  ["await sleep(10);", /calls sleep/],
  ["Atomics.wait(cells, 0, 0, 10);", /calls Atomics\.wait/],
  ['test.only("x", () => {});', /runs only this test: remove it/],
  ['describe.only("x", () => {});', /runs only/],
  ['test("x", { only: true }, () => {});', /runs only/],
];
for (const [text, message] of bad) {
  test(`planted: ${text}`, () => {
    assert.match(planted(text).join("\n"), message);
    assert.deepEqual(planted(text, "src/x.ts"), []);
  });
}

test("similar code passes", () => {
  const fine =
    'mock.timers.tick(50); run("sleep 60"); list({ only: true }); only(effects); rows.only(1); const setTimeout = 1; test("x", { timeout: 5 }, f);';
  assert.deepEqual(planted(fine), []);
  assert.deepEqual(planted('import { setImmediate } from "node:timers/promises";'), []);
});
