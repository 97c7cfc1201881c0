import assert from "node:assert/strict";
import { test } from "node:test";
import { forget } from "./forget.ts";

test("a buffer that has its memory for itself gives it back at once, and all that look into it see nothing", () => {
  const bytes = Buffer.alloc(8 * 1024 * 1024, "s");
  const view = bytes.subarray(1);
  const before = process.memoryUsage().arrayBuffers;
  forget(bytes);
  assert.ok(before - process.memoryUsage().arrayBuffers >= 8 * 1024 * 1024 - 1024);
  assert.deepEqual([bytes.length, view.length], [0, 0]);
});

test("a buffer that lies beside others is overwritten, and they are not", () => {
  const memory = Buffer.from("before secret after");
  const secret = memory.subarray(7, 13);
  forget(secret);
  assert.equal(secret.length, 6);
  assert.equal(memory.toString("latin1"), "before \0\0\0\0\0\0 after");
});
