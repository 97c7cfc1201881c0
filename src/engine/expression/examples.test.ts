import assert from "node:assert/strict";
import { test } from "node:test";
import { newBudget } from "./budget.ts";
import { checkTemplate } from "./check.ts";
import { FUNCTIONS, METHODS } from "./functions.ts";
import { ROOTS } from "./names/table.ts";
import { OPERATORS } from "./operators.ts";
import { sampleScope } from "./testing/sample-scope.ts";
import { evaluateValue } from "./template.ts";

const ROWS = [
  ...ROOTS,
  ...OPERATORS.map(({ signs, ...row }) => ({ ...row, name: signs })),
  ...METHODS.map((row) => ({ ...row, name: `.${row.name}()` })),
  ...FUNCTIONS.map((row) => ({ ...row, name: `${row.name}()` })),
];

const LOCAL = ROOTS.filter(({ place }) => place !== undefined).map(({ name }) => name);

for (const { name, example, result } of ROWS) {
  test(`${name}: ${example}`, () => {
    assert.deepEqual(checkTemplate(example, { names: LOCAL }), []);
    assert.deepEqual(evaluateValue(example, sampleScope, newBudget()), result);
  });
}

test("each function has one row, and an example that calls it", () => {
  for (const rows of [METHODS, FUNCTIONS]) {
    assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
    for (const { name, example } of rows) assert.ok(example.includes(`${name}(`), name);
  }
});
