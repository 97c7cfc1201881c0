import assert from "node:assert/strict";
import { test } from "node:test";
import { formatBytes } from "./bytes.ts";

test("a size has the largest unit that fits", () => {
  for (const [bytes, expected] of [
    [-1, "0 B"],
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KiB"],
    [1434, "1.4 KiB"],
    [10 * 1024, "10 KiB"],
    [1024 ** 2 - 1, "1.0 MiB"],
    [12.4 * 1024 ** 2, "12 MiB"],
    [3 * 1024 ** 3, "3.0 GiB"],
    [5_000 * 1024 ** 4, "5000 TiB"],
  ] as const)
    assert.equal(formatBytes(bytes), expected, String(bytes));
});
