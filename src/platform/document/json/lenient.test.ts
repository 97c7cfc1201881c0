import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { Problem } from "../../../core/problem.ts";
import { parseDocument } from "../document.ts";
import { closedObject, validateEnvelope } from "./lenient.ts";
import { pathText } from "../position/path.ts";

function read<T>(schema: z.ZodType<T>, text: string, root?: string) {
  const ignored: string[] = [];
  const onIgnored = (fields: readonly { readonly path: readonly (string | number)[] }[]): void =>
    void ignored.push(...fields.map(({ path }) => pathText(path)));
  const options = root === undefined ? { onIgnored } : { root, onIgnored };
  try {
    return { value: validateEnvelope(schema, parseDocument(text), options), ignored };
  } catch (error) {
    assert.ok(error instanceof Problem);
    return { faults: error.faults.map(({ path, message, line }) => `${line} ${path}: ${message}`), ignored };
  }
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("unknown fields are left out at every depth, in the order of the text, and told", () => {
  const schema = z.strictObject({ list: z.array(z.strictObject({ a: z.int().optional() })), name: z.string() });
  const text = "other: 1\nthing:\n  x: {y: 1}\n  list: [{a: 1, b: 2}, {c: [3]}]\n  name: n\n";
  const { value, ignored } = read(schema, text, "thing");
  assert.deepEqual(plain(value), { list: [{ a: 1 }, {}], name: "n" });
  assert.deepEqual(ignored, ["other", "thing.x", "thing.list[0].b", "thing.list[1].c"]);
});

test("what is wrong beside them is still told, at its place", () => {
  const schema = z.strictObject({ name: z.string(), size: z.int().optional() });
  const { faults, ignored } = read(schema, "nmae: n\nsize: big\n");
  assert.deepEqual(faults, ["1 name: Missing: expected a string", "2 size: Expected a number, got 'big'"]);
  assert.deepEqual(ignored, ["nmae"]);
});

test("of several shapes, the one that needs the fewest fields left out is taken", () => {
  const shape = z.union([
    z.strictObject({ a: z.int().optional() }),
    z.strictObject({ b: z.int(), c: z.strictObject({ d: z.int() }) }),
  ]);
  const { value, ignored } = read(z.strictObject({ shape }), "shape: {b: 1, c: {d: 2, e: 3}, f: 4}\n");
  assert.deepEqual(plain(value), { shape: { b: 1, c: { d: 2 } } });
  assert.deepEqual(ignored.toSorted(), ["shape.c.e", "shape.f"]);
});

test("a field that is refused by name, and any unknown one of a closed object, is a fault", () => {
  const schema = z.strictObject({
    later: z.never().optional(),
    grants: z.array(closedObject({ type: z.string(), identifiers: z.array(z.string()).optional() })),
  });
  const { faults, ignored } = read(schema, "later: 1\ngrants:\n  - {type: SECRET, identifer: [a]}\nother: 1\n");
  assert.deepEqual(faults, [
    "1 later: 'later' is not supported yet",
    "3 grants[0].identifer: 'identifer' is not supported yet",
  ]);
  assert.deepEqual(ignored, ["other"]);
});

test("three thousand unknown fields, and unions within unions, are read in a few rounds", () => {
  const many = `{${Array.from({ length: 2_900 }, (_, at) => `"k${at}": 0`).join(",")}}`;
  const { value, ignored } = read(z.strictObject({}), many);
  assert.deepEqual(plain(value), {});
  assert.equal(ignored.length, 2_900);
  const deep = z.union([z.null(), z.strictObject({ u: z.union([z.string(), z.strictObject({ v: z.int() })]) })]);
  assert.deepEqual(plain(read(deep, "{u: {v: 1, w: 2}, x: 3}").value), { u: { v: 1 } });
});
