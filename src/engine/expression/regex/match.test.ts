import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ExpressionError } from "../error.ts";
import { findMatch } from "./match.ts";
import { compilePattern } from "./program.ts";

const spend = (): void => undefined;
const found = (pattern: string, text: string): readonly number[] | undefined =>
  findMatch(compilePattern(pattern, 0), text, { spend });
const isWhole = (pattern: string, text: string): boolean =>
  findMatch(compilePattern(pattern, 0), text, { isFull: true, spend }) !== undefined;

test("what matches, and where", () => {
  const cases: readonly (readonly [string, string, readonly number[] | undefined])[] = [
    ["b+", "abbc", [1, 3]],
    ["b+?", "abbc", [1, 2]],
    ["^b", "ab", undefined],
    ["b$", "ab", [1, 2]],
    ["a|ab", "ab", [0, 1]],
    ["(a)|(b)", "b", [0, 1, -1, -1, 0, 1]],
    ["(\\d+)-(\\w*)", "x 12-ab", [2, 7, 2, 4, 5, 7]],
    ["[^a-c]", "abcd", [3, 4]],
    ["[\\]\\-x]", "-", [0, 1]],
    ["[a-]", "-", [0, 1]],
    ["[\\d.]+", "v1.2", [1, 4]],
    ["[^\\s]+", " ab ", [1, 3]],
    [".", "\n", undefined],
    ["(?s).", "\n", [0, 1]],
    ["(?i)prod", "PrOd", [0, 4]],
    ["(?i)[^a]", "A", undefined],
    ["\\bcat\\b", "a cat", [2, 5]],
    ["\\Bt", "cat", [2, 3]],
    ["a{2,3}", "aaaa", [0, 3]],
    ["a{2}", "aaaa", [0, 2]],
    ["a{3,}", "aaaa", [0, 4]],
    ["(?:ab)*c", "ababc", [0, 5]],
    ["(a*)*", "b", [0, 0, 0, 0]],
    ["x*", "", [0, 0]],
    ["\\u0041\\x42", "AB", [0, 2]],
    ["^.$", "😀", [0, 2]],
    ["", "a", [0, 0]],
  ];
  for (const [pattern, text, match] of cases) {
    // A group that takes part with an empty text is a matter of taste among engines.
    const slice = pattern === "(a*)*" ? 2 : undefined;
    assert.deepEqual(found(pattern, text)?.slice(0, slice), match?.slice(0, slice), pattern);
  }
  assert.equal(isWhole("a|ab", "ab"), true);
  assert.equal(isWhole("v\\d+", "v12x"), false);
});

test("what needs backtracking, or is wrong, is refused by name and place", () => {
  const faults: readonly (readonly [string, RegExp])[] = [
    ["(a", /character 3: a \( has no \)/],
    ["a)", /character 2: a \) has no \(/],
    ["*a", /nothing to repeat before \*/],
    ["a**", /a quantifier follows a quantifier/],
    ["a++", /possessive quantifiers are not supported/],
    ["^*", /nothing to repeat/],
    ["(?=a)", /only \(\?: is supported/],
    ["(?<n>a)", /only \(\?: is supported/],
    ["(a)\\1", /back references are not supported/],
    ["\\p{L}", /\\p is not supported/],
    ["[a", /ends too early/],
    ["[]", /a class has no characters|ends too early/],
    ["[z-a]", /ends before it begins/],
    ["[\\d-z]", /a character on both sides/],
    ["[a&&b]", /classes inside of classes/],
    ["[[a]]", /classes inside of classes/],
    ["a{,2}", /a count is written/],
    ["a{3,2}", /the count ends before it begins/],
    ["a{1001}", /a count is more than 1000/],
    ["a\\", /ends too early/],
    ["\\uZZZZ", /4 hexadecimal digits/],
    ["(?:a{100}){100}", /too large/],
    [`${"(?:".repeat(9)}${"){1000}".repeat(9)}`, /too large/],
    ["(".repeat(40) + ")".repeat(40), /nests deeper than 32|more than 20 groups/],
    ["a".repeat(600), /more than 512 characters/],
  ];
  for (const [pattern, message] of faults) {
    assert.throws(
      () => compilePattern(pattern, 7),
      (error) => error instanceof ExpressionError && error.offset === 7 && message.test(error.message),
      pattern,
    );
  }
});

/** Patterns of a small language, in which a loop never repeats something empty: engines differ there. */
const pattern = fc.letrec<{ filled: string; any: string }>((tie) => ({
  filled: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom("a", "b", "ab", ".", "[ab]", "[^a]", "\\w", "\\d", "\\s", "1"),
    fc.tuple(tie("filled"), tie("any")).map(([left, right]) => `(${left})${right}`),
    fc.tuple(tie("filled"), tie("filled")).map(([left, right]) => `(?:${left}|${right})`),
    fc
      .tuple(tie("filled"), fc.constantFrom("+", "+?", "{2}", "{1,2}", "{2,}"))
      .map(([one, sign]) => `(?:${one})${sign}`),
  ),
  any: fc.oneof(
    { maxDepth: 5 },
    tie("filled"),
    fc.constantFrom("", "^", "$", "\\b", "\\B"),
    fc.tuple(tie("filled"), fc.constantFrom("*", "*?", "?", "??", "{0,2}")).map(([one, sign]) => `(${one})${sign}`),
    fc.tuple(tie("any"), tie("any")).map(([left, right]) => `${left}${right}`),
    fc.tuple(tie("any"), tie("any")).map(([left, right]) => `(?:${left}|${right})`),
  ),
})).any;

const subjectText = fc.array(fc.constantFrom("a", "b", "1", " ", "\n", "_"), { maxLength: 12 }).map((c) => c.join(""));

test("property: the match is that of JavaScript's engine", () => {
  fc.assert(
    fc.property(pattern, subjectText, fc.boolean(), (source, text, isFull) => {
      const groups = (source.match(/\((?!\?)/g) ?? []).length;
      fc.pre(groups <= 20 && source.length <= 512);
      const program = compilePattern(source, 0);
      const mine = findMatch(program, text, { isFull, spend });
      const theirs = new RegExp(isFull ? `^(?:${source})$` : source, "d").exec(text);
      assert.deepEqual(mine?.slice(0, 2), theirs?.indices?.[0], JSON.stringify([source, text]));
    }),
    { numRuns: 3000 },
  );
});

test("property: any text is a pattern or is refused, and the steps are bounded by both lengths", () => {
  const sign = fc.constantFrom(..."ab(|)*+?{}[]^$.\\-,12".split(""), "(?:", "{2,}", "\\b", "\\d");
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 20 }), subjectText, (signs, text) => {
      let units = 0;
      try {
        const program = compilePattern(signs.join(""), 0);
        findMatch(program, text, { spend: (more) => (units += more) });
        assert.ok(units <= program.code.length * (text.length + 1) + 1);
      } catch (error) {
        assert.ok(error instanceof ExpressionError, String(error));
      }
    }),
    { numRuns: 3000 },
  );
});

test("patterns that make a backtracking engine hang cost what others cost", () => {
  const text = `${"a".repeat(20_000)}!`;
  for (const source of ["(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*)*x", "(?:a?){50}a{50}b"]) {
    let units = 0;
    const program = compilePattern(source, 0);
    assert.equal(findMatch(program, text, { isFull: true, spend: (more) => (units += more) }), undefined);
    assert.ok(units < program.code.length * text.length, source);
  }
});
