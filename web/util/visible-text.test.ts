import assert from "node:assert/strict";
import { test } from "node:test";
import { visibleText } from "./visible-text.ts";

test("characters that deceive readers are shown by their number", () => {
  assert.equal(visibleText("photo\u202Egnp.exe"), "photo<202E>gnp.exe");
  assert.equal(visibleText("\u001B[31mred\u0000"), "<001B>[31mred<0000>");
  assert.equal(visibleText("ad\u200Bmin\uFEFF\u2066"), "ad<200B>min<FEFF><2066>");
});

test("ordinary text of any language stays", () => {
  for (const text of ["deploy-shop", "Größe\tund\nZeile", "שלום", "مرحبا", "👩‍🚀 नमस्ते", "<img src=x>"])
    assert.equal(visibleText(text), text);
});
