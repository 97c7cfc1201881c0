import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isMarker, type Marker, readMarker, valueFault } from "./marker.ts";

const TAKEN: readonly (readonly [text: string, marker: Marker])[] = [
  ["<+input>", {}],
  ["<+input> ", {}],
  ["<+input>.default(a)", { default: "a" }],
  ["<+input>.default(a, b)", { default: "a, b" }],
  ["<+input>.default('')", { default: "" }],
  ["<+input>.default(it's)", { default: "it's" }],
  ["<+input>.default(f(x))", { default: "f(x)" }],
  ["<+input>.default(10m)", { default: "10m" }],
  ["<+input>.allowedValues(a,b)", { allowed: ["a", "b"] }],
  ["<+input>.allowedValues( a , b )", { allowed: ["a", "b"] }],
  ["<+input>.allowedValues(\\'a,b\\',c)", { allowed: ["a,b", "c"] }],
  ["<+input>.allowedValues('a)', ' b ')", { allowed: ["a)", " b "] }],
  ["<+input>.allowedValues(a,b).default(b)", { allowed: ["a", "b"], default: "b" }],
  ["<+input>.selectOneFrom(a,b)", { allowed: ["a", "b"] }],
  ["<+input>.selectManyFrom(a,b).default(b, a)", { allowed: ["a", "b"], isMany: true, default: "b, a" }],
  ["<+input>.regex([a-z]+(-[0-9]+)?)", { regex: "[a-z]+(-[0-9]+)?" }],
  ["<+input>.default(v1).regex(v\\d+)", { regex: "v\\d+", default: "v1" }],
  ["<+input>.default(b).allowedValues(a,b)", { allowed: ["a", "b"], default: "b" }],
  ["<+input>.executionInput().allowedValues(a,b)", { isAsked: true, allowed: ["a", "b"] }],
  ["<+input>.default(a).executionInput()", { default: "a", isAsked: true }],
];

for (const [text, marker] of TAKEN) {
  test(`the runtime input ${text} is read`, () => assert.deepEqual(readMarker(text), marker));
}

const REFUSED: readonly (readonly [text: string, fault: RegExp])[] = [
  ["<+input>.executionInput(a)", /'\.executionInput\(\)' takes no value/],
  ["<+input>.executionInput().executionInput()", /given twice/],
  ["<+input>.executionInput", /must be the whole value/],
  ["<+input>.selectOneFrom(a,b).default(c)", /The default 'c' is not one of the allowed values: a, b/],
  ["<+input>.selectManyFrom(a,b).default(a, c)", /The default 'c' is not one of the allowed values: a, b/],
  ["<+input>.selectOneFrom(a).allowedValues(a)", /beside another list of values/],
  ["<+input>.regex(a+).default(b)", /The default 'b' does not match the pattern a\+/],
  ["<+input>.regex('a(')", /The pattern of '\.regex\(\)' is wrong/],
  ["<+input>.regex(a).regex(b)", /given twice/],
  ["<+input>.upperCase()", /Unknown '\.upperCase\(\)'/],
  ["<+input>.default()", /needs a value/],
  ["<+input>.allowedValues()", /needs a value/],
  ["<+input>.default(a", /is not closed/],
  ["<+input>.default('a)", /is not closed/],
  ["<+input>.default('a'b)", /is not closed/],
  ["<+input>.default(*a)", /may not begin with '\*'/],
  ["<+input>.default(c).allowedValues(a,b)", /not one of the allowed values/],
  ["<+input>.default(a).default(b)", /given twice/],
  ["<+input>.allowedValues(a).allowedValues(b)", /given twice/],
  ["<+input>-suffix", /must be the whole value/],
  ["<+input>.default", /must be the whole value/],
  ["<+input> and more", /must be the whole value/],
];

for (const [text, fault] of REFUSED) {
  test(`the runtime input ${text} is refused`, () => {
    const read = readMarker(text);
    assert.ok("fault" in read);
    assert.match(read.fault, fault);
  });
}

test("only text that begins with <+input> stands for one", () => {
  assert.deepEqual(["<+input>", "<+input>.x", " <+input>", "<+inputs>", "", 5, null].map(isMarker), [
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("property: quoted values come back as they were written", () => {
  const value = fc.string({ unit: fc.constantFrom("a", "b", " ", ",", "(", ")", "."), minLength: 1 });
  const property = fc.property(fc.uniqueArray(value, { minLength: 1, maxLength: 4 }), (values) => {
    assert.deepEqual(readMarker(`<+input>.allowedValues(${values.map((one) => `'${one}'`).join(",")})`), {
      allowed: values,
    });
  });
  fc.assert(property, { numRuns: 200 });
});

test("a pattern that backtracks elsewhere takes time in proportion to the value", () => {
  const marker = readMarker("<+input>.regex((a+)+b)");
  assert.ok(!("fault" in marker));
  assert.equal(valueFault(marker, "aab"), undefined);
  assert.match(valueFault(marker, "a".repeat(5_000)) ?? "", /does not match the pattern/);
});
