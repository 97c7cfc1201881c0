import assert from "node:assert/strict";
import { test } from "node:test";
import { readText } from "../../scripts/lib/files.ts";
import { attackViolations } from "./lib/attacks.ts";
import { settle } from "./lib/settle.ts";

const DOC = "docs/operations/attacks.md";
/** Classes that have to have a row; a class that is added to the table is added here. */
const CLASSES = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 28, 29, 35, 36, 39,
];

test("every attack class has a defence, and tests that exist", () =>
  settle(attackViolations(DOC, readText(), CLASSES)));

const source =
  'test("it holds", async () => {});\n// test("it is gone", () => {});\ntest.skip("it rests", () => {});\n';
const more = 'test("it waits", { todo: true }, () => {});\ntest(\n  "it is long",\n  { skip },\n  () => {});\n';
const planted = (...rows: readonly string[]): readonly string[] =>
  attackViolations(
    DOC,
    new Map([
      [DOC, ["| class | tried | defence | tests |", "|---|---|---|---|", ...rows].join("\n")],
      ["src/a.ts", ""],
      ["src/a.test.ts", source + more],
    ]),
    [1],
  ).map(({ message }) => message);

const row = (tests: string, defence = "by `src/a.ts`"): string => `| 1. paths | dots | ${defence} | ${tests} |`;

test("planted: a row with its test passes", () => {
  assert.deepEqual(planted(row('`src/a.test.ts`: "it holds", "it is long"')), []);
});

test("planted: rows without a test that runs, classes without a row", () => {
  for (const [rows, message] of [
    [[], /has not one row for class 1/],
    [[row('`src/a.test.ts`: "it holds"'), row('`src/a.test.ts`: "it holds"')], /has not one row for class 1/],
    [[row("")], /names the test file , which does not exist/],
    [[row("`src/a.test.ts`")], /names no test of src\/a\.test\.ts/],
    [[row('`src/b.test.ts`: "it holds"')], /src\/b\.test\.ts, which does not exist/],
    [[row('`src/a.test.ts`: "it hol"')], /does not have: it hol$/],
    [[row('`src/a.test.ts`: "it is gone"')], /does not have: it is gone$/],
    [[row('`src/a.test.ts`: "it rests"')], /does not have: it rests$/],
    [[row('`src/a.test.ts`: "it waits"')], /does not have: it waits$/],
    [[row('`src/a.test.ts`: "it holds"<br>`src/a.test.ts`: "it fell"')], /does not have: it fell$/],
    [[row('`src/a.test.ts`: "it holds"', "by `src/b.ts`")], /names src\/b\.ts, which does not exist/],
    [[row('`src/a.test.ts`: "it holds"', "by luck")], /names no file that defends/],
    [[row('`src/a.test.ts`: "it holds"').replace("1.", "2.")], /class 2 is not asked for/],
  ] as const)
    assert.match(planted(...rows).join("\n"), message);
});
