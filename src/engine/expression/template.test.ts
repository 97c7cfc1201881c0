import assert from "node:assert/strict";
import { newBudget } from "./budget.ts";
import { test } from "node:test";
import fc from "fast-check";
import type { Json } from "../model.ts";
import { ExpressionError } from "./error.ts";
import { jsonPlace, own, type Scope } from "./place.ts";
import { evaluateTemplate, parseTemplate } from "./template.ts";

const CONTEXT: Json = {
  pipeline: {
    name: "release",
    variables: { env: "prod", count: 3, none: null, "x-y": "hyphen", flag: true, tricky: "<+pipeline.name> $(x)" },
    tags: ["a", "b", "c"],
    stages: { deploy: { name: "Deploy" } },
  },
  trigger: JSON.parse(
    '{"payload":{"version":"1.2.3","items":[{"id":7}],"__proto__":{"polluted":"own"},"n":"12","truth":"true"}}',
  ) as Json,
  stage: { name: "deploy" },
};

const scope: Scope = {
  root(name) {
    const value = own(CONTEXT, name);
    return value === undefined ? undefined : jsonPlace(value);
  },
};

const VALUES: readonly (readonly [template: string, value: string])[] = [
  ["no expression", "no expression"],
  ["a <+pipeline.name> b <+stage.name>!", "a release b deploy!"],
  ['<+pipeline.variables["x-y"]> <+pipeline.variables.get("x-y")>', "hyphen hyphen"],
  ["<+pipeline.tags[1]> <+pipeline.tags.get(2)>", "b c"],
  ["<+pipeline.tags>", '["a","b","c"]'],
  ["<+trigger.payload.items[0]>", '{"id":7}'],
  ["<+pipeline.stages.<+stage.name>.name>", "Deploy"],
  ["<+pipeline.stages[stage.name].name>", "Deploy"],
  ['<+<+pipeline.variables.env> == "prod">', "true"],
  ["<+<+pipeline.variables.count> > 2> <+ pipeline.variables.count >= 4>", "true false"],
  ["<+(pipeline.variables.count>2)>", "true"],
  ["<+(<+pipeline.variables.count>>2 && <+pipeline.variables.flag>)>", "true"],
  ["--set <+pipeline.name>=<+stage.name> > out", "--set release=deploy > out"],
  ["<+pipeline.name>>>file", "release>>file"],
  ["<+1 + 2> <+1 + 'a'> <+'a' + \"b\" + true> <+-1.5>", "3 1a abtrue -1.5"],
  ["<+true && !false || false>", "true"],
  ["<+1 < 2 == true>", "true"],
  ["<+pipeline.variables.flag ? 'y' : 'n'> <+false ? 1 : true ? 2 : 3>", "y 2"],
  ["<+false && pipeline.nothing> <+true || pipeline.nothing>", "false true"],
  ["<+trigger.payload.n == 12> <+trigger.payload.n > 9> <+'9' < '12'>", "true true false"],
  ["<+trigger.payload.truth == true> <+trigger.payload.truth ? 1 : 2>", "true 1"],
  ["<+trigger.payload.nope == null> <+null != pipeline.name> <+pipeline.variables.none == null>", "true true true"],
  ["<+trigger.payload.nope.deeper == null ? 'none' : 'some'>", "none"],
  ["<+pipeline.name.toUpperCase()> <+' a '.trim()> <+'ABC'.toLowerCase()>", "RELEASE a abc"],
  ["<+'a.b.c'.split('.')[1]> <+'a.b.c'.replace('.', '-')> <+pipeline.tags.size()> <+'abc'.length()>", "b a-b-c 3 3"],
  [
    "<+'abc'.contains('b')> <+pipeline.tags.contains('c')> <+'abc'.startsWith('ab')> <+'abc'.endsWith('x')>",
    "true true true false",
  ],
  ["<+'abcdef'.substring(2)> <+'abcdef'.substring(1, 3)>", "cdef bc"],
  ["<+'.*'.replace('.*', '$&')>", "$&"],
  [`<+'a\\'b\\n\\t"' + "c\\\\">`, "a'b\n\t\"c\\"],
  ["<+\n pipeline.name\n>", "release"],
  ["<+'\\d+\\u0041\\\\d'>", "\\d+A\\d"],
  ["<+pipeline.variables.tricky>", "<+pipeline.name> $(x)"],
  ["<+'<' + '+pipeline.name>'>", "<+pipeline.name>"],
  ["<+trigger.payload.__proto__.polluted>", "own"],
];

for (const [template, value] of VALUES) {
  test(`${JSON.stringify(template)} is ${JSON.stringify(value)}`, () =>
    assert.equal(evaluateTemplate(template, scope), value));
}

const FAILURES: readonly (readonly [template: string, message: RegExp | string, offset?: number])[] = [
  [
    "<+pipeline.variables.x>",
    "Expression <+pipeline.variables.x> cannot be resolved: pipeline.variables has no 'x'; it has: env, count, none, x-y, flag, tricky",
  ],
  ["ab <+pipeline.variables.none>", /is null/, 3],
  ["<+pipeline.variables.none.x>", /pipeline\.variables\.none is null and has no members|has no 'x'; it is null/],
  ["<+pipeline.name.first>", /pipeline\.name is a text and has no members/],
  ["<+pipeline.tags[3]>", /pipeline\.tags is a list of 3 and has no \[3\]/],
  ["<+pipeline.tags['length']>", /is a list of 3/],
  ['<+pipeline["a b"].c>', /pipeline has no 'a b'/],
  ["<+pipeline.toString>", /has no 'toString'/],
  ["<+pipeline.constructor>", /has no 'constructor'/],
  ["<+pipeline['__proto__']>", /has no '__proto__'/],
  ["<+pipeline.name.constructor('x')>", /there is no function 'constructor'/],
  ["<+pipeline.valueOf()>", /there is no function 'valueOf'/],
  ["<+pipelines.name>", /there is no 'pipelines'; did you mean 'pipeline'\?/],
  ["<+org.name>", /there is no 'org' here/],
  ["<+pipelin.x == null>", /there is no 'pipelin'/],
  ['<+secrets.getValue("x")>', /^Expression <\+secrets\.getValue\("x"\)> cannot stand here: a secret stands alone/],
  ["<+input>", /runtime input that was given no value/],
  ["<+upper('x')>", /there is no function 'upper'/],
  ["<+'x'.split()>", /split\(\) takes 1 to 2 arguments, not 0/],
  ["<+'x'.replace('', 'y')>", /not empty/],
  ["<+'abc'.substring(2, 1)>", /ends before it begins/],
  ["<+'abc'.substring(4)>", /from 0 to 3/],
  ["<+pipeline.trim()>", /needs a text, not an object/],
  ["<+1 < 'x'>", /a number and a text have no order/],
  ["<+true + 1>", /cannot be added/],
  ["<+'a' ? 1 : 2>", /true or false is needed here, not a text/],
  ["<+pipeline == pipeline>", /lists and objects cannot be compared/],
  ["<+'<+pipeline.name>' == 'x'>", /inside quotes is not replaced/, 3],
  ["a <+pipeline.", /a name after the dot is missing at the end of the text/, 13],
  ["<+>", /'>' stands where a value is expected/, 2],
  ["<+a-b>", /\["like-this"\]/],
  ["<+ pipeline.name > rest", /blanks on both sides compares/],
  ["<+'open>", /no closing '/, 2],
  ["<+'a\nb'>", /no closing '/],
  ["<+'\\u00zz'>", /four hexadecimal digits/, 3],
  ["<+'\\", /no closing/],
  ["<+a b>", /'b' stands where/, 4],
  ["<+a[1>", /missing at the end/],
  ["<+a[1 + )>", /'\)' stands where a value is expected/],
  ["<+(a]>", /']' stands where '\)' is expected/],
  ["<+a ? 1>", /':' of the condition/],
  ["<+12345678901234567890>", /too large/],
  ["<+a @ b>", /'@' is not understood/, 4],
  ["<+a = b>", /'=' is not understood/],
  [`<+${"(".repeat(40)}1${")".repeat(40)}>`, /nests deeper/],
  [`<+${"!".repeat(40)}true>`, /nests deeper/],
  [`<+1${" + 1".repeat(600)}>`, /more than 1000 terms/],
  [`<+'${"a".repeat(20_000)}'>`, /more than 16384 characters|no closing/],
];

for (const [template, message, offset] of FAILURES) {
  test(`${JSON.stringify(template.slice(0, 60))} fails and says why`, () => {
    const error = failureOf(template);
    if (typeof message === "string") assert.equal(error.message, message);
    else assert.match(error.message, message);
    if (offset !== undefined) assert.equal(error.offset, offset);
  });
}

function failureOf(template: string, within = scope): ExpressionError {
  try {
    assert.fail(`it gave ${evaluateTemplate(template, within).slice(0, 200)}`);
  } catch (error) {
    assert.ok(error instanceof ExpressionError, String(error));
    return error;
  }
}

test("a template is cut into parts with their offsets", () => {
  const { parts } = parseTemplate("a<+step.name>b<+stage.name>");
  assert.deepEqual(
    parts.map(({ kind, start, end, text }) => [kind, start, end, text]),
    [
      ["literal", 0, 1, "a"],
      ["expression", 1, 13, "<+step.name>"],
      ["literal", 13, 14, "b"],
      ["expression", 14, 27, "<+stage.name>"],
    ],
  );
});

test("values cannot grow without end", () => {
  const big = "x".repeat(200 * 1024);
  const within: Scope = { root: () => jsonPlace({ big, list: Array.from({ length: 3000 }, () => "y".repeat(100)) }) };
  assert.match(failureOf("<+pipeline.big + pipeline.big>", within).message, /more than 262144 bytes/);
  assert.match(failureOf("<+pipeline.big><+pipeline.big>", within).message, /The filled text has more than/);
  assert.match(failureOf("<+pipeline.big.replace('x', 'yyyy')>", within).message, /too long/);
  assert.match(failureOf("<+pipeline.big.split('x')>", within).message, /more than 10000 items/);
  assert.match(failureOf("<+pipeline.list>", within).message, /more than 262144 bytes/);
  const costly = `<+${"pipeline.big.trim() == '' || ".repeat(60)}true>`;
  assert.match(failureOf(costly, within).message, /too many steps/);
});

test("several texts have one bound in sum, in bytes and in work", () => {
  const within: Scope = { root: () => jsonPlace({ big: "x".repeat(200 * 1024) }) };
  const bytes = newBudget();
  const evaluated = (text: string, budget = bytes): string => evaluateTemplate(text, within, budget);
  for (let nth = 0; nth < 5; nth += 1) evaluated("<+pipeline.big>");
  assert.throws(() => evaluated("<+pipeline.big>"), /more than 1048576 bytes together/);
  assert.throws(() => evaluated("a"), /together/, "nor anything after it");
  const work = newBudget();
  const costly = `<+${"pipeline.big.trim() == '' || ".repeat(12)}true>`;
  assert.throws(() => {
    for (let nth = 0; nth < 40; nth += 1) evaluated(costly, work);
  }, /too many steps to evaluate/);
});

test("a value that nests deep is an error of the expression and nothing worse", () => {
  let deep: Json = 1;
  for (let level = 0; level < 200_000; level++) deep = [deep];
  const value = deep;
  assert.match(
    failureOf("<+pipeline>", { root: () => jsonPlace(value) }).message.slice(0, 200),
    /nests too deep|more than 262144 bytes/,
  );
});

const TOKENS = [
  "<+",
  ">",
  "pipeline",
  "trigger",
  "stage",
  ".",
  "payload",
  "variables",
  "__proto__",
  "constructor",
  "prototype",
  "env",
  "[",
  "]",
  "(",
  ")",
  "0",
  "1",
  '"x-y"',
  "'a'",
  "==",
  "!=",
  "<",
  ">",
  " > ",
  ">=",
  "&&",
  "||",
  "!",
  "?",
  ":",
  "+",
  "-",
  ",",
  " ",
  "split",
  "replace",
  "get",
  "length",
  "toString",
  "null",
  "true",
  "\\",
  '"',
];

test("property: whatever the text, the answer is a text or an ExpressionError, and no prototype is reached", () => {
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...TOKENS), { maxLength: 25 }).map((tokens) => tokens.join("")),
    fc.array(fc.constantFrom(...TOKENS), { maxLength: 12 }).map((tokens) => `<+${tokens.join("")}>`),
  );
  fc.assert(
    fc.property(text, (source) => {
      try {
        const value = evaluateTemplate(source, scope);
        assert.equal(typeof value, "string");
        assert.doesNotMatch(value.replaceAll(source, ""), /\[native code\]|\[object/);
      } catch (error) {
        assert.ok(error instanceof ExpressionError, `${source}: ${String(error)}`);
        assert.ok(error.offset >= 0 && error.offset <= source.length);
      }
    }),
    { numRuns: 5000 },
  );
  assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
});

test("property: members of every object's prototype are not there", () => {
  const inherited = fc.constantFrom(
    ...Object.getOwnPropertyNames(Object.prototype),
    ...Object.getOwnPropertyNames(Array.prototype),
    ...Object.getOwnPropertyNames(String.prototype),
  );
  const path = fc.constantFrom(
    "pipeline",
    "pipeline.tags",
    "pipeline.name",
    "pipeline.variables",
    "trigger.payload.items[0]",
  );
  fc.assert(
    fc.property(path, inherited, (base, name) => {
      assert.equal(failureOf(`<+${base}["${name}"]>`).fault, "unresolved");
    }),
  );
});

test("property: a value arrives as it is, once, whatever it looks like", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom("", "<+pipeline.name>", "<+"), (text, more) => {
      const value = text + more;
      assert.equal(evaluateTemplate("<+pipeline.v>", { root: () => jsonPlace({ v: value }) }), value);
    }),
  );
});
