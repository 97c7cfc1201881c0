import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "graphql";
import { MAX_ALIAS, findExceededSyntaxBound } from "./syntax-bounds.ts";

test("an alias that each entry and each error would repeat is bounded in length", () => {
  const named = (length: number): string | undefined =>
    findExceededSyntaxBound(parse(`{ apps { ${"a".repeat(length)}: name } }`))?.message;
  assert.equal(named(MAX_ALIAS), undefined);
  assert.equal(named(MAX_ALIAS + 1), "The query has an alias of more than 128 characters.");
});
