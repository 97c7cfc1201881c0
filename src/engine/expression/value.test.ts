import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Budget,
  ExpressionError,
  evaluateCondition,
  evaluateTemplate,
  evaluateValue,
  newBudget,
  type Json,
} from "../index.ts";
import { scopeOf } from "./testing/sample-scope.ts";

const scope = scopeOf({
  pipeline: {
    name: "release",
    variables: { env: "prod", count: 3, flag: true, none: null, list: ["a", "b"], zero: 0 },
  },
  steps: { check: { output: { outputVariables: { n: "5", ok: "true" } } } },
});

const valueOf = (text: string, budget: Budget = newBudget()): Json => evaluateValue(text, scope, budget);

test("a text that is one expression has the value's type", () => {
  const values: readonly (readonly [string, Json])[] = [
    ["<+pipeline.variables.count>", 3],
    ["<+pipeline.variables.flag>", true],
    ["\n  <+pipeline.variables.list>\n", ["a", "b"]],
    ["<+pipeline.variables.none>", null],
    ["<+[1, pipeline.name, [true]]>", [1, "release", [true]]],
    ["<+[]>", []],
    ["n=<+pipeline.variables.count>", "n=3"],
    ["<+pipeline.variables.count><+pipeline.variables.count>", "33"],
    ["plain", "plain"],
    ["", ""],
  ];
  for (const [text, value] of values) assert.deepEqual(valueOf(text), value, text);
});

test("operators", () => {
  const values: readonly (readonly [string, Json])[] = [
    ["1 + 2 * 3 - 4", 3],
    ["(1 + 2) * 3", 9],
    ["10 - 2 - 3", 5],
    ["-7 / 2", -3],
    ["7.5 / 2", 3.75],
    ["-7 % 3", -1],
    ["7 mod 4 eq 3", true],
    ["6 div 4", 1],
    ["- pipeline.variables.count", -3],
    ["-(1 + 1)", -2],
    ["steps.check.output.outputVariables.n - 2", 3],
    ["steps.check.output.outputVariables.n + 2", "52"],
    ["0 * -1", 0],
    ["1 lt 2 and not (3 le 2)", true],
    ["1 ge 2 or 2 gt 1", true],
    ["'a' ne 'b'", true],
    ["pipeline.name =~ ['x', 'release']", true],
    ["pipeline.name !~ pipeline.variables.list", true],
    ["pipeline.variables.count =~ ['3']", true],
    ["pipeline.name =^ 're' && pipeline.name =$ 'ase'", true],
    ["pipeline?.nope?.deeper ?? 'x'", "x"],
    ["pipeline.nope?.trim() == null", true],
    ["[pipeline.nope?.trim(), pipeline.variables.none?.trim(), pipeline?.name.trim()]", [null, null, "release"]],
    ["pipeline.variables.none?.x == null", true],
    ["pipeline.name?.length()", 7],
    ["pipeline.variables.zero ?? 1", 0],
    ["pipeline.variables.zero ?: 1", 0],
    ["false ?: 'x'", "x"],
    ["pipeline.nope ?: pipeline.none ?: 'y'", "y"],
    ["pipeline.variables.none ?? 'n'", "n"],
    ["empty(pipeline.nope.deeper) && empty pipeline.variables.none", true],
    ["empty '' and not empty pipeline.name", true],
    ["empty([]) && !empty(0)", true],
    ["size pipeline.variables.list", 2],
    ["size(pipeline.variables)", 6],
    ["pipeline.get('name')", "release"],
    ["pipeline.variables.list.indexOf('b') - pipeline.variables.list.indexOf('c')", 2],
    ["'v1.2' =~ 'v[0-9.]+' && 'v1.2' !~ 'v'", true],
    ["'a,b;c,,'.split('[,;]')", ["a", "b", "c"]],
    ["'a,b,,'.split(',', -1)", ["a", "b", "", ""]],
    ["'a,b,c'.split(',', 2)", ["a", "b,c"]],
    ["'a.b'.split('.')[1]", "b"],
    ["'a||b'.split('\\\\|+')", ["a", "b"]],
    ["'abc'.split('')", ["a", "b", "c"]],
    ["''.split(',')", [""]],
    ["'x.y'.replaceAll('.', '$0-')", "x-.-y-"],
    ["'price'.replaceAll('price', '\\\\$1')", "$1"],
    ["'abc'.replaceAll('x*', '-')", "-a-b-c-"],
    ["true ? 1 : 2", 1],
    ["pipeline.nope == null ? 'none' : 'some'", "none"],
  ];
  for (const [text, value] of values) assert.deepEqual(valueOf(`<+${text}>`), value, text);
});

test("what a condition says, with and without brackets", () => {
  const met = (text: string): boolean => evaluateCondition(text, scope, newBudget());
  for (const text of [
    '<+pipeline.variables.env> == "prod"',
    "<+pipeline.variables.env == 'prod'>",
    "<+<+pipeline.variables.count> > 2>",
    "<+pipeline.variables.count>>2",
    "<+pipeline.variables.count> >= 3 && <+pipeline.variables.flag>",
    "<+pipeline.variables.flag>",
    "<+steps.check.output.outputVariables.ok>",
    "not <+pipeline.variables.env>.startsWith('dev')\n",
    "  (pipeline.variables.env eq 'prod') or false",
    "<+steps.missing.status> == null",
  ])
    assert.equal(met(text), true, text);
  assert.equal(met('<+pipeline.variables.env> == "dev"'), false);
});

const refused = (text: string, evaluateIt: (text: string) => unknown = valueOf): ExpressionError => {
  try {
    assert.fail(`it gave ${JSON.stringify(evaluateIt(text))}`);
  } catch (error) {
    assert.ok(error instanceof ExpressionError, String(error));
    return error;
  }
};

test("a condition that is no boolean is refused with its text", () => {
  const ask = (text: string): unknown => evaluateCondition(text, scope, newBudget());
  const messages: readonly (readonly [string, RegExp])[] = [
    [
      "<+pipeline.name>",
      /^Expression <\+pipeline\.name> cannot be evaluated: true or false is needed here, not a text$/,
    ],
    ["<+pipeline.variables.count>", /not a number/],
    ["<+pipeline.variables.none>", /not null/],
    ["", /a value is missing at the end/],
    ["<+pipeline.name> == ", /a value is missing/],
    ["<+pipeline.name> == prod", /there is no 'prod'/],
    ['"<+pipeline.name>" == "x"', /inside quotes is not replaced; write it without the quotes/],
    ["<+pipeline.name> = 'x'", /'=' is not understood here; == compares/],
    ["<+pipeline.variables.flag> & true", /&& is 'and'/],
    ["true true", /'true' stands where the end of the condition is expected/],
    ["true)", /'\)' stands where the end/],
    [`${"true && ".repeat(3000)}true`, /more than 16384 characters|more than 1000 terms/],
    [`true${" ".repeat(17_000)}`, /more than 16384 characters/],
  ];
  for (const [text, message] of messages) assert.match(refused(text, ask).message, message, text);
});

test("what cannot be computed is refused", () => {
  const messages: readonly (readonly [string, RegExp])[] = [
    ["1 / 0", /division by zero/],
    ["1 % 0", /division by zero/],
    ["9007199254740991 + 1", /too large a number/],
    ["9007199254740991 * 9007199254740991", /too large a number/],
    ["'a' - 1", /'-' needs two numbers, not a text and a number/],
    ["-'a'", /'-' needs a number, not a text/],
    ["pipeline.variables.list * 2", /not a list and a number/],
    ["1 =~ 2", /needs a list or a pattern on its right, not a number/],
    ["pipeline.nope - 1", /has no 'nope'/],
    ["pipeline.my-var", /\["like-this"\]/],
    ["pipeline.v-1", /\["like-this"\]/],
    ["pipeline?.nope.deeper", /it is null/],
    ["pipelin?.name ?? 1", /there is no 'pipelin'; did you mean 'pipeline'\?/],
    ["empty(pipelin.x)", /there is no 'pipelin'/],
    ["[1, 2", /missing at the end/],
    ["{1: 2}", /a list is written \[1, 2\]/],
    ["'ab'.repeat(262144)", /too long/],
    ["'ab'.charAt(2)", /from 0 to 1/],
    ["''.charAt(0)", /not empty/],
    ["1.join(',')", /needs a list, not a number/],
    ["'x'.matches('(a')", /cannot|is not valid: the pattern is wrong at character 3: a \( has no \)/],
    ["'x'.replaceAll('x', '$1')", /needs the number of a group/],
    ["'x'.replaceAll('x', '$')", /needs the number of a group/],
    ["json.select('a'.repeat(513), '{}')", /a path has more than 512 characters/],
    ["xml.select('/a'.repeat(257), '<a/>')", /a path has more than 512 characters/],
    ["json.select('a', 'no')", /argument 2 of json\.select\(\) is not JSON/],
    ["json.select('a', '{}')", /json\.select\(\) finds nothing at its path/],
    ["xml.select('/a', 'no')", /argument 2 of xml\.select\(\) is not XML, at character 1/],
    ["xml.select('/b', '<a/>')", /xml\.select\(\) finds nothing at its path/],
    ["json.object('[]').x", /is a list of 0|is empty|has no 'x'/],
    ["'x'.keySet()", /needs an object, not a text/],
    ["'x'.triM2()", /did you mean 'trim'\?/],
    ["sizes('x')", /did you mean 'size'\?/],
  ];
  for (const [text, message] of messages) assert.match(refused(`<+${text}>`).message, message, text);
});

test("values and conditions count against the budget of the step", () => {
  const budget = newBudget();
  const big = scopeOf({ pipeline: { big: "x".repeat(200 * 1024), list: ["y".repeat(200 * 1024)] } });
  for (let nth = 0; nth < 5; nth += 1) evaluateValue("<+pipeline.list>", big, budget);
  const again = (text: string): unknown => evaluateValue(text, big, budget);
  assert.match(refused("<+pipeline.big>", again).message, /more than 1048576 bytes together/);
  const work = newBudget();
  const costly = `${"pipeline.big.trim() == '' || ".repeat(12)}true`;
  assert.throws(() => {
    for (let nth = 0; nth < 40; nth += 1) evaluateCondition(costly, big, work);
  }, /too many steps to evaluate/);
});

test("what a failed evaluation cost counts, too", () => {
  const big = scopeOf({ pipeline: { big: "a".repeat(100 * 1024) } });
  const budget = newBudget();
  for (const evaluateIt of [evaluateValue, evaluateTemplate]) {
    const before = budget.work;
    assert.throws(() => evaluateIt("<+pipeline.big.replaceAll('(a*b)|a', '')>", big, budget), /too many steps/);
    assert.ok(budget.work > before + 50_000);
  }
});
