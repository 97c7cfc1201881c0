import assert from "node:assert/strict";
import { test } from "node:test";
import { Parser } from "yaml";
import fc from "fast-check";
import { Problem } from "../../core/problem.ts";
import { type Doc, parseDocument } from "./document.ts";

/** The problem that reading must end in. */
function refusal(read: () => unknown): Problem {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof Problem, `not a Problem: ${String(error)}`);
    return error;
  }
  assert.fail("the document was taken");
}

const lines = (...all: readonly string[]): string => `${all.join("\n")}\n`;
const plain = (doc: Doc): unknown => JSON.parse(JSON.stringify(doc.value));

test("YAML becomes maps, lists and scalars of YAML 1.2", () => {
  const doc = parseDocument(
    lines("# a comment", "---", "a: 1", "on: yes", "b: [x, {c: null}]", "d: |", "  text", "e: 0x10", "..."),
  );
  assert.deepEqual(plain(doc), { a: 1, on: "yes", b: ["x", { c: null }], d: "text\n", e: 16 });
  assert.equal(Object.getPrototypeOf(doc.value), null, "no key can be inherited");
});

test("bytes are read as UTF-8 and lines may end with CR LF", () => {
  const doc = parseDocument(Buffer.from("a: ü\r\nb: |\r\n  x\r\n  y\r\n"));
  assert.deepEqual(plain(doc), { a: "ü", b: "x\ny\n" });
});

test("anchors stand for copies of their value", () => {
  assert.deepEqual(plain(parseDocument("a: &x {b: [1]}\nc: *x\nd: *x\n")), {
    a: { b: [1] },
    c: { b: [1] },
    d: { b: [1] },
  });
});

type Row = readonly [
  name: string,
  text: string | Uint8Array,
  line: number,
  column: number,
  message: RegExp,
  path?: string,
];

const UNPARSABLE: readonly Row[] = [
  ["nothing", "", 1, 1, /empty/],
  ["only comments", "# x\n", 1, 1, /empty/],
  ["an empty document", "---\n", 1, 1, /empty/],
  ["a duplicate key", "a: 1\nb:\n  c: 1\n  c: 2\n", 4, 3, /key 'c' is given twice/, "b.c"],
  ["a duplicate key in flow style", "a: {b: 1, b: 2}", 1, 11, /key 'b' is given twice/, "a.b"],
  ["keys that are duplicates only as strings", "1: a\n'1': b\n", 2, 1, /key '1' is given twice/],
  ["a tab as indentation", "a:\n\tb: 1\n", 2, 1, /Tabs/],
  ["NUL", "a: \0", 1, 4, /U\+0000/],
  ["an escaped NUL", 'a: "x\\0"', 1, 4, /U\+0000/, "a"],
  ["a control character", "a: 1\nb: \x1b[0m", 2, 4, /U\+001B/],
  ["a C1 control character", "a: \x85", 1, 4, /U\+0085/],
  ["a byte order mark", "\ufeffa: 1", 1, 1, /byte order mark/],
  ["a byte order mark in bytes", Buffer.from("\ufeffa: 1"), 1, 1, /byte order mark/],
  ["a lone surrogate", "a: \ud800x", 1, 4, /U\+D800/],
  ["an escaped lone surrogate", 'a: "\\udc00"', 1, 4, /lone surrogate/, "a"],
  ["a second document", "a: 1\n---\nb: 2\n", 2, 1, /one document/],
  ["a second document after an end", "a: 1\n...\nb: 2\n", 3, 1, /one document/],
  ["a tag of JavaScript", "a: 1\nb: !!js/function x", 2, 4, /tag !!js/],
  ["a tag of our own", "a: !secret x", 1, 4, /tag !secret/],
  ["a tag of YAML 1.1", "a: !!binary aGk=", 1, 4, /tag !!binary/],
  ["a verbatim tag", "a: !<tag:yaml.org,2002:js> x", 1, 4, /tag/],
  ["a directive", "%YAML 1.1\n---\na: yes\n", 1, 1, /Directives/],
  ["a number beyond doubles", "a: 1e400", 1, 4, /out of range/, "a"],
  ["infinity", "a: [.inf]", 1, 5, /out of range/, "a[0]"],
  ["not a number", "a: .nan", 1, 4, /out of range/],
  ["an integer beyond 2^53", "a: 12345678901234567890", 1, 4, /digits/],
  ["a list as key", "? [a]\n: b\n", 1, 3, /Keys must be strings/],
  ["a map as key", "{a: b}: c\n", 1, 1, /Keys must be strings/],
  ["an alias as key", "a: &x [1]\n*x : 2\n", 2, 1, /Keys must be strings/],
  ["a merge key", "a: &x {b: 1}\nc:\n  <<: *x\n", 3, 3, /Merge keys/, "c.<<"],
  ["the key __proto__", "a:\n  __proto__: {b: 1}\n", 2, 3, /'__proto__' is not allowed/, "a.__proto__"],
  ["the key constructor", "constructor: 1", 1, 1, /'constructor' is not allowed/],
  ["the key prototype", "a: {prototype: 1}", 1, 5, /'prototype' is not allowed/],
  ["an alias without anchor", "a: *x\nb: &x 1\n", 1, 4, /no anchor before it/, "a"],
  ["two maps on one line", "a: b: c", 1, 4, /Nested mappings .* in quotes or below \|/],
  ["an open list", "a: [1, 2\n", 2, 1, /end with a \]/],
  ["an open string", "a: 'x", 1, 6, /closing/],
  ["wrong indentation", "a:\n  b: 1\n c: 2\n", 3, 2, /same column|implicit map key|All mapping items/],
];

for (const [name, text, line, column, message, path = ""] of UNPARSABLE) {
  test(`YAML is refused at its place: ${name}`, () => {
    const problem = refusal(() => parseDocument(text));
    assert.deepEqual([problem.code, problem.status, problem.wire], ["document.not_yaml", 400, "INVALID_YAML_ERROR"]);
    const [fault] = problem.faults;
    assert.match(fault?.message ?? "", message);
    assert.deepEqual([fault?.line, fault?.column], [line, column]);
    if (path !== "") assert.equal(fault?.path, path);
  });
}

test("bytes that are not UTF-8 are refused", () => {
  assert.match(refusal(() => parseDocument(Buffer.from([0x61, 0x3a, 0x20, 0xff]))).message, /not UTF-8/);
});

const levels = (count: number, make: (level: number) => string): string =>
  Array.from({ length: count }, (_, level) => make(level)).join("");

// A refusal that names an early place has not read on: that is the bound on the work.
const BOMBS: readonly (readonly [name: string, text: string, line: number, maxColumn: number])[] = [
  ["100,000 open lists", "[".repeat(100_000), 1, 65],
  ["60,000 open maps in flow style", "{a: ".repeat(60_000), 1, 257],
  ["100,000 nested lists on a line", `${"- ".repeat(100_000)}a`, 1, 40],
  ["100,000 explicit keys on a line", `${"? ".repeat(100_000)}a`, 1, 40],
  ["80,000 maps on a line", "a: ".repeat(80_000), 1, 60],
  ["66 levels of indentation", levels(66, (level) => `${" ".repeat(level)}a:\n`), 66, 66],
  ["600 levels of indentation", levels(600, (level) => `${" ".repeat(level)}a:\n`), 258, 258],
  ["lists and maps in turn", levels(40, (level) => `${" ".repeat(2 * level)}- a:\n`), 33, 80],
  ["more than 50 aliases", `a: &a 1\nb: [${"*a, ".repeat(51)}]`, 2, 210],
  ["a cyclic alias", "a: &x\n  b: [*x]\n", 2, 7],
  ["an alias of its own list", "&x [*x]", 1, 5],
];

for (const [name, text, line, maxColumn] of BOMBS) {
  test(`a bomb is refused before it costs: ${name}`, () => {
    const problem = refusal(() => parseDocument(text));
    assert.deepEqual([problem.code, problem.wire], ["document.too_complex", "INVALID_REQUEST"]);
    const [fault] = problem.faults;
    assert.equal(fault?.line, line);
    assert.ok((fault?.column ?? Infinity) <= maxColumn, `column ${fault?.column}`);
  });
}

test("a billion laughs end at the count of aliases", () => {
  const rows = "bcdefghij"
    .split("")
    .map((name, index) => `${name}: &${name} [${`*${"abcdefghi"[index]}, `.repeat(9)}]`);
  assert.match(
    refusal(() => parseDocument(lines("a: &a [ha, ha, ha]", ...rows))).message,
    /Aliases are used more than 50 times/,
  );
});

test("few aliases that stand for many values end at the count of values", () => {
  const rows = "bcdefghij"
    .split("")
    .map((name, index) => `${name}: &${name} [${`*${"abcdefghi"[index]}, `.repeat(5)}]`);
  assert.match(refusal(() => parseDocument(lines("a: &a [ha, ha, ha]", ...rows))).message, /more than 3000 values/);
});

test("200,000 items are refused after a fixed number of them, in YAML and JSON", () => {
  const options = { maxBytes: 1_000_000 };
  const text = `[${"1,".repeat(200_000)}1]`;
  for (const format of ["yaml", "json"] as const) {
    const problem = refusal(() => parseDocument(text, { ...options, format }));
    assert.equal(problem.code, "document.too_complex");
    assert.ok((problem.faults[0]?.column ?? Infinity) < 130_000);
  }
});

test("values of JSON are nested 64 deep and no deeper, and the place is named", () => {
  const nested = (depth: number): string => `{"a": ${"[".repeat(depth - 1)}1${"]".repeat(depth - 1)}}`;
  assert.ok(parseDocument(nested(64), { format: "json" }));
  const { code, faults } = refusal(() => parseDocument(nested(65), { format: "json" }));
  assert.equal(code, "document.too_complex");
  assert.match(faults[0]?.message ?? "", /deeper than 64 levels \(limit documentDepth\)/);
  assert.deepEqual([faults[0]?.line, faults[0]?.column], [1, 70]);
});

test("3,000 values are read and no more, and what has many more is refused before any of it is parsed", (t) => {
  const tags = (count: number): string => `a:\n${Array.from({ length: count }, (_, nth) => `  t${nth}: v\n`).join("")}`;
  assert.ok(parseDocument(tags(2_998)));
  const { code, message } = refusal(() => parseDocument(tags(2_999)));
  assert.deepEqual([code, /more than 3000 values/.test(message)], ["document.too_complex", true]);
  const parse = t.mock.method(Parser.prototype, "next");
  for (const many of ["- x\n".repeat(7_000), `[${"x,".repeat(7_000)}]`, `[${"[],".repeat(3_100)}]`, "}".repeat(25_000)])
    assert.equal(refusal(() => parseDocument(many)).code, "document.too_complex");
  assert.equal(parse.mock.callCount(), 0);
});

test("bytes are counted, not characters", () => {
  assert.equal(parseDocument("a: üüü", { maxBytes: 9 }).position([])?.line, 1);
  const problem = refusal(() => parseDocument("a: üüü", { maxBytes: 8 }));
  assert.deepEqual([problem.code, problem.status, problem.wire], ["document.too_large", 400, "INVALID_REQUEST"]);
  assert.equal(refusal(() => parseDocument("x".repeat(300_000))).code, "document.too_large");
});

test("64 levels are read, in both styles", () => {
  assert.ok(parseDocument(`${"[".repeat(64)}${"]".repeat(64)}`));
  assert.ok(parseDocument(`${"[".repeat(64)}${"]".repeat(64)}`, { format: "json" }));
  assert.ok(parseDocument(`${levels(64, (level) => `${" ".repeat(level)}a:\n`)}${" ".repeat(64)}1\n`));
});

test("positions are those of values, keys and characters", () => {
  const text = lines(
    "a:",
    "  - b: x",
    "    c: |",
    "      one",
    "",
    "        <+two>",
    "  - 'it''s here'",
    'd: "x\\ty\\u00e9z"',
    "e: >",
    "  f",
    "  g",
  );
  const doc = parseDocument(text);
  assert.deepEqual(doc.position(["a", 0, "b"]), { line: 2, column: 8 });
  assert.deepEqual(doc.keyPosition(["a", 0, "c"]), { line: 3, column: 5 });
  assert.deepEqual(doc.position(["a", 0]), { line: 2, column: 5 });
  assert.equal(doc.position(["a", 7]), undefined);
  assert.equal(doc.position(["a", "b"]), undefined);
  assert.equal(doc.position(["toString"]), undefined);
  const script = String((plain(doc) as { a: { c: string }[] }).a[0]?.c);
  assert.deepEqual(doc.positionIn(["a", 0, "c"], script.indexOf("one")), { line: 4, column: 7 });
  assert.deepEqual(doc.positionIn(["a", 0, "c"], script.indexOf("<+")), { line: 6, column: 9 });
  assert.deepEqual(doc.positionIn(["a", 1], "it's ".length), { line: 7, column: 12 });
  assert.deepEqual(doc.positionIn(["d"], "x\tyé".length), { line: 8, column: 15 });
  assert.deepEqual(doc.positionIn(["e"], 2), { line: 9, column: 4 });
  assert.equal(doc.source(["d"]), '"x\\ty\\u00e9z"');
  assert.equal(doc.pathText(["a", 0, "b-c", "d.e"]), 'a[0].b-c["d.e"]');
});

test("property: each character of a literal block is found where it stands", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "<", "+"), maxLength: 6 }).map((text) => `x${text}x`);
  const property = fc.property(
    fc.array(fc.oneof(line, fc.constant("")), { minLength: 1 }),
    fc.nat(6),
    fc.constantFrom("\n", "\r\n"),
    (body, deeper, end) => {
      const indent = " ".repeat(deeper + 1);
      const all = ["x", ...body];
      const doc = parseDocument(["k: |", ...all.map((one) => (one === "" ? "" : indent + one)), ""].join(end));
      for (const [index, one] of all.entries()) {
        const offset = all.slice(0, index).reduce((sum, before) => sum + before.length + 1, 0);
        if (one !== "") assert.deepEqual(doc.positionIn(["k"], offset), { line: index + 2, column: deeper + 2 });
      }
    },
  );
  fc.assert(property, { numRuns: 100 });
});

test("property: nothing but a Problem is thrown, whatever the text", () => {
  const unit = fc.constantFrom(
    ..."abc:-?[]{},'\"|>&*!%#@` \t\n\r\\\0\ufeff\ud800".split(""),
    "- ",
    ": ",
    "\n  ",
    "---\n",
    "&a ",
    "*a",
    "!!str ",
    "<<: ",
    "1e999",
    '{"a":',
    "\\u",
  );
  const text = fc.oneof(fc.string({ unit, maxLength: 120 }), fc.json(), fc.string({ unit: "binary" }));
  const property = fc.property(text, fc.constantFrom("yaml" as const, "json" as const), (input, format) => {
    try {
      parseDocument(input, { format });
    } catch (error) {
      assert.ok(error instanceof Problem, String(error));
    }
  });
  fc.assert(property, { numRuns: 1_000 });
});
