import assert from "node:assert/strict";
import { test } from "node:test";
import { killHiddenProcesses } from "./hidden-processes.ts";

/** @param found what each search finds */
function endWith(found: number[], error?: Error): { readonly isClean: boolean; readonly calls: readonly string[] } {
  const calls: string[] = [];
  const find = (): number => {
    calls.push("find");
    return found.shift() ?? assert.fail("one search too many");
  };
  const kill = (): void => {
    calls.push("kill");
    if (error) throw error;
  };
  return { isClean: killHiddenProcesses({ find, kill }), calls };
}

test("processes that a search does not see are killed, also when it finds none", () =>
  assert.deepEqual(endWith([0, 0]), { isClean: true, calls: ["find", "kill", "find"] }));

test("processes that the search finds are left to the delegate, which sends TERM first", () =>
  assert.deepEqual(endWith([1]), { isClean: false, calls: ["find"] }));

test("a user is not clean while a killed process is there, or when nothing could be killed", () => {
  assert.equal(endWith([0, 1]).isClean, false);
  assert.equal(endWith([0, 0], new Error("refused")).isClean, false);
});
