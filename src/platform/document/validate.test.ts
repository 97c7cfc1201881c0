import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { Problem } from "../../core/problem.ts";
import { parseDocument } from "./document.ts";
import { validate } from "./validate.ts";

const schema = z.strictObject({
  name: z.string().min(1).max(5),
  kind: z.enum(["one", "two"]).optional(),
  size: z.int().min(1).max(9).optional(),
  tags: z.record(z.string(), z.string()).optional(),
  items: z
    .array(z.union([z.strictObject({ id: z.string() }), z.null()]))
    .max(2)
    .optional(),
  matrix: z.never().optional(),
});

function faults(text: string): readonly string[] {
  try {
    validate(schema, parseDocument(text), { root: "thing" });
  } catch (error) {
    assert.ok(error instanceof Problem);
    assert.deepEqual([error.code, error.status, error.wire], ["document.invalid", 400, "SCHEMA_VALIDATION_FAILED"]);
    return error.faults.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
  }
  return [];
}

test("what stands under the root is answered as the schema types it", () => {
  const thing = validate(
    schema.transform(({ name }) => ({ title: name })),
    parseDocument("thing: {name: x, tags: {a: b}}"),
    { root: "thing" },
  );
  assert.deepEqual(thing, { title: "x" });
  assert.equal(validate(z.number(), parseDocument("7")), 7);
});

const ROWS: readonly (readonly [text: string, ...faults: string[]])[] = [
  ["thing: {name: x}"],
  ["thing:\n  name: 5\n", "2:9 thing.name: Expected a string, got 5; write it in quotes"],
  ["thing:\n  name: [a]\n", "2:9 thing.name: Expected a string, got a list"],
  ["thing:\n  name:\n", "2:8 thing.name: Expected a string, got nothing"],
  ["thing:\n  size: 1\n", "2:3 thing.name: Missing: expected a string"],
  ["thing: {name: ''}", "1:15 thing.name: At least 1 character needed"],
  ["thing: {name: abcdef}", "1:15 thing.name: At most 5 characters allowed"],
  ["thing: {name: x, kind: three}", "1:24 thing.kind: Expected one of one, two, got 'three'"],
  ["thing: {name: x, size: 0}", "1:24 thing.size: Must be at least 1"],
  ["thing: {name: x, size: 1.5}", "1:24 thing.size: Expected a whole number, got 1.5"],
  ["thing: {name: x, tags: {a: 1}}", "1:28 thing.tags.a: Expected a string, got 1; write it in quotes"],
  ["thing: {name: x, tags: []}", "1:24 thing.tags: Expected a map, got a list"],
  ["thing: {name: x, items: [{id: 1}]}", "1:31 thing.items[0].id: Expected a string, got 1; write it in quotes"],
  ["thing: {name: x, items: [null, null, null]}", "1:25 thing.items: At most 2 items allowed"],
  [
    "thing:\n  name: x\n  colour: red\n",
    "3:3 thing.colour: Unknown field 'colour'. Allowed here: name, kind, size, tags, items",
  ],
  ["thing:\n  name: x\n  matrix: {}\n", "3:3 thing.matrix: 'matrix' is not supported yet"],
  ["thing:\n  matrix: {}\n", "2:3 thing.matrix: 'matrix' is not supported yet"],
  [
    "thing:\n  size: 10\n  b: 1\n  name: x\n  a: 1\n",
    "2:9 thing.size: Must be at most 9",
    "3:3 thing.b: Unknown field 'b'. Allowed here: name, kind, size, tags, items",
    "5:3 thing.a: Unknown field 'a'. Allowed here: name, kind, size, tags, items",
  ],
  ["other: 1\n", "1:1 thing: Missing: expected a map", "1:1 other: Unknown field 'other'. Allowed here: thing"],
  ["- thing\n", "1:1 : Expected a map, got a list"],
  ["thing: text\n", "1:8 thing: Expected a map, got 'text'"],
];

for (const [text, ...expected] of ROWS) {
  test(`validation of ${JSON.stringify(text)}`, () => assert.deepEqual(faults(text), expected));
}

test("the message names the first fault and counts the rest", () => {
  const read = () => validate(schema, parseDocument("thing:\n  name: 5\n  x: 1\n"), { root: "thing" });
  assert.throws(read, {
    message:
      "The document is not valid: thing.name: Expected a string, got 5; write it in quotes, at line 2, column 9 (and 1 more).",
  });
});

test("a document with thousands of faults answers with fifty", () => {
  const text = `thing:\n  name: x\n${Array.from({ length: 2_900 }, (_, index) => `  k${index}: 1\n`).join("")}`;
  assert.equal(faults(text).length, 50);
});
