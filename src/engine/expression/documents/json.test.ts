import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Json } from "../../model.ts";
import { ExpressionError } from "../error.ts";
import { parseJson } from "./json-text.ts";
import { selectJson } from "./json-path.ts";

const refuse = (message: string): ExpressionError => new ExpressionError("type", message, 0);
const parsed = (text: string): Json => parseJson(text, refuse, () => undefined);
const place = { at: 7, spend: () => undefined };
const DOCUMENT: Json = {
  items: [
    { id: 1, name: "a", spec: { kind: "x" } },
    { id: 2, name: "b b", spec: { kind: "y" } },
  ],
  "a-b": { $ref: null },
  empty: [],
};

test("property: JSON is read as it was written", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      assert.deepEqual(parsed(JSON.stringify(value)), JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("a number that cannot be held exactly is the text of its digits", () => {
  const numbers: readonly (readonly [string, Json])[] = [
    ["12345678901234567890", "12345678901234567890"],
    ["1e400", "1e400"],
    ["1e-400", "1e-400"],
    ["0.12345678901234567", "0.12345678901234567"],
    ["9007199254740991", 9007199254740991],
    ["1.50", 1.5],
    ["-0.0", -0],
    ["1e3", 1000],
    ["0e5", 0],
    [`1${"0".repeat(60)}`, `1${"0".repeat(60)}`],
  ];
  for (const [text, value] of numbers) assert.deepEqual(parsed(`{"n":[${text}]}`), { n: [value] }, text);
});

test("what is not JSON, or too deep, is refused without its text", () => {
  for (const text of ["", "{", "secret", "[1,]", "{'a':1}", "NaN", '"\n"']) {
    assert.throws(() => parsed(text), { message: "is not JSON" });
  }
  const deep = `${"[".repeat(65)}${"]".repeat(65)}`;
  assert.throws(() => parsed(deep), { message: "nests deeper than 64" });
  assert.throws(() => parsed("[".repeat(250_000)), { message: "nests deeper than 64" });
  assert.deepEqual(parsed(`["${"[".repeat(100)}\\"["]`), [`${"[".repeat(100)}"[`]);
});

test("no prototype is reached or changed", () => {
  const value = parsed('{"__proto__": {"polluted": 1}, "a": {"constructor": 2}}');
  assert.equal(({} as { polluted?: number }).polluted, undefined);
  assert.deepEqual(selectJson("__proto__.polluted", value, place).values, [1]);
  assert.deepEqual(selectJson("a.toString", value, place).values, []);
  assert.deepEqual(selectJson("a.constructor.name", value, place).values, []);
});

test("what a path selects", () => {
  const selections: readonly (readonly [path: string, values: readonly Json[], isSingle: boolean])[] = [
    ["$", [DOCUMENT], true],
    ["items[1].name", ["b b"], true],
    ["$.items[0].spec.kind", ["x"], true],
    ["$['a-b'].$ref", [null], true],
    ["a-b.$ref", [null], true],
    ['["items"][0]["id"]', [1], true],
    ["items[*].id", [1, 2], false],
    ["items.*.id", [1, 2], false],
    ["items[5].id", [], true],
    ["items.length", [], true],
    ["empty[*]", [], false],
    ["items[?(@.name == 'b b')].id", [2], false],
    ["items[?(@.spec.kind!='y')].id", [1], false],
    ["items[?(@.id==2)]['name']", ["b b"], false],
    ["items[?(@.nope.deeper == 1)]", [], false],
  ];
  for (const [path, values, isSingle] of selections) {
    assert.deepEqual(selectJson(path, DOCUMENT, place), { values, isSingle }, path);
  }
});

test("a path with another syntax is refused at its place", () => {
  const refusals: readonly (readonly [string, RegExp])[] = [
    ["a b", /wrong at character 2/],
    ["items[", /wrong at character 6/],
    ["items[-1]", /wrong at character 6/],
    ["$..id", /'\.\.', which is not supported/],
    ["items[0]id", /wrong at character 9/],
    ["items[?(@.id > 1)]", /wrong at character 6/],
    ["items[?(@.a=='x' && @.b)]", /wrong at character 6/],
    [".", /wrong at character 1/],
  ];
  for (const [path, message] of refusals) {
    assert.throws(
      () => selectJson(path, DOCUMENT, place),
      (error) => error instanceof ExpressionError && error.offset === 7 && message.test(error.message),
      path,
    );
  }
});
