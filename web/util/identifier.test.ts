import assert from "node:assert/strict";
import { test } from "node:test";
import { identifierFor } from "./identifier.ts";

test("names become identifiers", () => {
  assert.equal(identifierFor("Web shop"), "Web_shop");
  assert.equal(identifierFor("  Größe (neu) "), "Gro_e_neu");
  assert.equal(identifierFor("2nd try"), "_2nd_try");
  assert.equal(identifierFor("日本"), "");
  assert.equal(identifierFor("a".repeat(300)).length, 128);
});
