import assert from "node:assert/strict";
import { test } from "node:test";
import { between, markdownTable } from "./generated.ts";

const page = "# Title\n\n<!-- part: made by a test -->\n\nold\n\n<!-- end of part -->\n\nafter\n";

test("between replaces only the text between the markers, and a second call changes nothing", () => {
  const made = between("part", page, "new\nlines\n");
  assert.equal(made, page.replace("old", "new\nlines"));
  assert.equal(between("part", made, "new\nlines\n"), made);
});

test("missing or swapped markers are an error", () => {
  assert.throws(() => between("other", page, "x"), /markers <!-- other/);
  assert.throws(() => between("part", "<!-- end of part -->\n<!-- part: x -->\n", "x"), /are missing/);
});

test("a bar inside a cell is escaped", () => {
  assert.equal(markdownTable(["a", "b"], [["1|2", "3"]]), "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |");
});
