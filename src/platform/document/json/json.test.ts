import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Problem } from "../../../core/problem.ts";
import { checkedJson, parseCheckedJson } from "./checked-json.ts";
import { parseDocument } from "../document.ts";

const read = (text: string): unknown => JSON.parse(JSON.stringify(parseDocument(text, { format: "json" }).value));

const REFUSED: readonly (readonly [name: string, text: string, line: number, column: number, message: RegExp])[] = [
  ["nothing", "", 1, 1, /end of the document/],
  ["an open map", "{", 1, 2, /key in double quotes/],
  ["a missing value", '{"a":}', 1, 6, /expected a value/],
  ["a comma too many", "[1,]", 1, 4, /expected a value/],
  ["a comma too many in a map", '{"a":1,}', 1, 8, /key in double quotes/],
  ["a missing comma", "[1 2]", 1, 4, /',' or '\]'/],
  ["a missing colon", '{"a" 1}', 1, 6, /':'/],
  ["more after the end", '{"a":1}\nx', 2, 1, /end of the document/],
  ["a word cut short", "nul", 1, 1, /a value/],
  ["an open string", '["abc', 1, 2, /no end/],
  ["a line break in a string", '{"a":"b\nc"}', 1, 6, /line break/],
  ["an unknown escape", '{"a":"\\x41"}', 1, 6, /escape/],
  ["YAML", "a: 1", 1, 1, /expected a value/],
  ["YAML in flow style", "{a: 1}", 1, 2, /key in double quotes/],
  ["single quotes", "{'a': 1}", 1, 2, /key in double quotes/],
  ["a comment", '{"a": 1} # x', 1, 10, /end of the document/],
  ["a leading zero", '{"a":01}', 1, 6, /expected a value/],
  ["a duplicate key", '{"a":1,\n "a":2}', 2, 2, /'a' is given twice/],
  ["a duplicate key written otherwise", '{"a":1,"\\u0061":2}', 1, 8, /'a' is given twice/],
  ["__proto__", '{"b":{"__proto__":1}}', 1, 7, /'__proto__' is not allowed/],
  ["a number beyond doubles", "[1, -1e400]", 1, 5, /out of range/],
  ["an escaped NUL", '{"a":"\\u0000"}', 1, 6, /U\+0000/],
  ["a lone surrogate", '{"a":"\\ud83d"}', 1, 6, /lone surrogate/],
];

for (const [name, text, line, column, message] of REFUSED) {
  test(`JSON is refused at its place: ${name}`, () => {
    assert.throws(
      () => read(text),
      (error: unknown) => {
        assert.ok(error instanceof Problem);
        assert.deepEqual([error.code, error.wire], ["document.not_json", "INVALID_YAML_ERROR"]);
        assert.match(error.faults[0]?.message ?? "", message);
        assert.deepEqual([error.faults[0]?.line, error.faults[0]?.column], [line, column]);
        return true;
      },
    );
  });
}

test("positions in JSON are those of values and keys", () => {
  const doc = parseDocument('{\n\t"a": [1, {"b": "x\\n<+y>"}]\n}', { format: "json" });
  assert.deepEqual(doc.position(["a", 1, "b"]), { line: 2, column: 17 });
  assert.deepEqual(doc.keyPosition(["a", 1, "b"]), { line: 2, column: 12 });
  assert.deepEqual(doc.positionIn(["a", 1, "b"], 2), { line: 2, column: 21 });
});

test("property: what JSON.parse takes is read as the same value", () => {
  const key = fc
    .string()
    .filter((name) => !["__proto__", "constructor", "prototype"].includes(name) && !name.includes("\0"));
  const leaf = fc.oneof(
    fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0")),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true, max: 1e6, min: -1e6 }),
    fc.boolean(),
    fc.constant(null),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
    ),
  }));
  const property = fc.property(tree, fc.constantFrom(0, 2), (value, indent) => {
    // readText refuses raw C1 and DEL, which JSON.stringify leaves as they are.
    const text = JSON.stringify(value, null, indent).replace(/[\u007f-\u009f\ufffe\uffff]/g, "?");
    assert.deepEqual(read(text), JSON.parse(text));
  });
  fc.assert(property, { numRuns: 300 });
});

test("property: text that JSON.parse refuses is refused", () => {
  const unit = fc.constantFrom(...'{}[],:"\\ \n-+.0123eEtrufalsn'.split(""), '"a":', "null", "true");
  const property = fc.property(fc.string({ unit, maxLength: 24 }), (text) => {
    let valid = true;
    try {
      JSON.parse(text);
    } catch {
      valid = false;
    }
    if (!valid) assert.throws(() => read(text), Problem);
  });
  fc.assert(property, { numRuns: 2_000 });
});

const LIMITS = { maxBytes: 1_000, maxDepth: 8 };

test("a payload is what JSON.parse makes of it", () => {
  assert.deepEqual(checkedJson('{"a":[1,"]["],"b":{}}', LIMITS), { a: [1, "]["], b: {} });
});

test("a payload that is too large, too deep or no JSON is refused", () => {
  const code = (text: string): string => {
    try {
      checkedJson(text, LIMITS);
    } catch (error) {
      assert.ok(error instanceof Problem);
      return `${error.code} ${error.status} ${error.wire}`;
    }
    return "taken";
  };
  assert.equal(code(`"${"ü".repeat(500)}"`), "document.too_large 400 INVALID_REQUEST");
  assert.equal(code(`${"[".repeat(9)}${"]".repeat(9)}`), "document.too_complex 400 INVALID_REQUEST");
  assert.equal(code(`${"[".repeat(8)}${"]".repeat(8)}`), "taken");
  assert.equal(code(`[${'{"a":[]},'.repeat(40)}1]`), "taken", "brackets that close do not add up");
  assert.equal(code('{"a":'), "document.bad_payload 400 INVALID_REQUEST");
});

test("a number that cannot be held exactly is the text of its digits", () => {
  const text = `{"n":12345678901234567890,"e":1e400,"m":-9007199254740993,"v":1.10,"d":0.1,"z":-0,"k":1E5,
    "x":0.30000000000000000001,"f":100000000000000000000000,"s":"12345678901234567890","y":[123456789012345678]}`;
  assert.deepEqual(checkedJson(text, LIMITS), {
    n: "12345678901234567890",
    e: "1e400",
    m: "-9007199254740993",
    v: 1.1,
    d: 0.1,
    z: -0,
    k: 100_000,
    x: "0.30000000000000000001",
    f: "100000000000000000000000",
    s: "12345678901234567890",
    y: ["123456789012345678"],
  });
  assert.deepEqual(parseCheckedJson('{"n":12345678901234567890}'), { n: "12345678901234567890" });
  // The quotes make no JSON of what is none.
  for (const bad of ["{12345678901234567890:1}", "[12345678901234567890.]", "[12345678901234567890 1]"])
    assert.throws(() => checkedJson(bad, LIMITS), { code: "document.bad_payload" });
});

test("property: numbers that are safe integers and short decimals stay numbers, whatever is around them", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.maxSafeInteger(), (value, number) => {
      const given = { value, number };
      const text = JSON.stringify(given);
      assert.equal(JSON.stringify(checkedJson(text, { maxBytes: 1_000_000, maxDepth: 100 })), text);
    }),
  );
});

test("a key that an object has twice is refused with its place, also when it is written otherwise", () => {
  const message = (text: string): string => {
    try {
      checkedJson(text, LIMITS);
    } catch (error) {
      assert.ok(error instanceof Problem);
      return error.message;
    }
    return "taken";
  };
  assert.match(message('{"a":1,\n "a":2}'), /The key 'a' is given twice, at line 2, column 2/);
  assert.match(message('[{"b":{"c":1,"a":[],"\\u0061":2}}]'), /The key 'a' is given twice/);
  assert.match(message('{"a\\"":1,"b":",","a\\"":2}'), /twice/);
  for (const fine of ['{"a":{"a":{"a":1}},"b":["a","a",{"a":1},{"a":1}]}', '{"a":"\\",\\"a\\":","b":"a"}', '["a","a"]'])
    assert.equal(message(fine), "taken", fine);
});

test("an empty payload, and one that is cut off, are called so", () => {
  assert.throws(() => checkedJson(" ", LIMITS), /The body is empty\./);
  assert.throws(() => checkedJson('{"a":', LIMITS), /It ends in the middle of a value\./);
});

test("a message about a payload does not repeat it", () => {
  assert.throws(
    () => checkedJson('{"token":"s3cret",}', LIMITS),
    (error: unknown) => {
      assert.ok(error instanceof Problem);
      assert.doesNotMatch(error.message, /s3cret/);
      return true;
    },
  );
});

test("__proto__ in a payload is data and changes no object", () => {
  const payload = checkedJson('{"__proto__":{"polluted":true}}', LIMITS) as object;
  assert.deepEqual(Object.keys(payload), ["__proto__"]);
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.equal(Reflect.get(payload, "polluted"), undefined);
});

test("property: a JSON text is the same document when it is read as YAML", () => {
  const unit = fc.constantFrom(..."aé\u{1f600}\"\\/\t\n #:-,{}[]&*!|>'%@`".split(/(?:)/u));
  const text = fc.string({ unit, maxLength: 12 });
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(text, tie("tree"), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  const property = fc.property(tree, fc.constantFrom<string | number>(0, 2, "\t"), (value, indent) => {
    const source = JSON.stringify({ value }, null, indent);
    assert.deepEqual(JSON.parse(JSON.stringify(parseDocument(source).value)), { value });
  });
  fc.assert(property, { numRuns: 300 });
});
