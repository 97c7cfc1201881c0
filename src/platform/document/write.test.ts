/** What is written as YAML is read back as it was. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseDocument } from "./document.ts";
import { writeYaml } from "./write.ts";

/** Text with many of the characters that mean something in YAML, or that no document may have as they are. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(..." \n\t\r#:-'\"\\|>&*!%@{}[],?~=<a0\u007f\u0085\u2028\ufeff\ufffe\uffff"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    ),
    { maxLength: 100 },
  )
  .map((characters) => characters.join("").replace(/\0/g, "").toWellFormed());

test("each text is read back as it was written, as a value and as a key", () => {
  const property = fc.property(text, text, (key, value) => {
    const written = { map: { list: [value, { value }], [key === "<<" ? key : `key${key}`]: value } };
    assert.equal(JSON.stringify(parseDocument(writeYaml(written)).value), JSON.stringify(written));
  });
  const examples: [string, string][] = [
    ["", " \n"],
    ["<<", "<<"],
  ];
  fc.assert(property, { numRuns: 2000, examples });
});

test("a character that no document may have is escaped, and the rest stays as it is", () => {
  assert.equal(writeYaml({ a: "é\u007f\uffff\\" }), 'a: "é\\u007f\\uffff\\\\"\n');
  assert.equal(writeYaml({ "<<": "<<" }), '"<<": "<<"\n');
  const shared = { b: 1 };
  assert.equal(writeYaml([shared, shared]), "- b: 1\n- b: 1\n");
  assert.equal(writeYaml({ a: "two\nlines\n" }), "a: |\n  two\n  lines\n");
});
