import assert from "node:assert/strict";
import { test } from "node:test";
import { readCode } from "../../../scripts/lib/files.ts";
import { assertNoViolations } from "../lib/violations.ts";
import { sizeViolations } from "../lib/sizes.ts";

const lines = (count: number): string => "x;\n".repeat(count);

test("no file exceeds the size limit", () => assertNoViolations(sizeViolations(readCode())));

test("planted: a file of 321 lines, and 401 lines in src/core", () => {
  const files = new Map([
    ["src/projects/create.ts", lines(321)],
    ["src/projects/list.ts", lines(320)],
    ["src/projects/create.test.ts", lines(900)],
    ["api/client.ts", lines(900)],
    ["src/core/ids.ts", lines(200)],
    ["src/core/page.ts", lines(201)],
  ]);
  assert.deepEqual(
    sizeViolations(files).map(({ key }) => key),
    ["src/projects/create.ts", "src/core/"],
  );
});
