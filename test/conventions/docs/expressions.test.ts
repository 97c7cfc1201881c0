import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { expressions } from "../../../scripts/gen/expressions.ts";
import { root } from "../../../scripts/lib/files.ts";

test("docs/reference/expressions.md has the tables that evaluate expressions", async () => {
  const page = readFileSync(path.join(root, expressions.file), "utf8");
  assert.equal(page, await expressions.make(page), "Run `npm run gen`.");
});
