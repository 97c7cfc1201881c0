import assert from "node:assert/strict";
import { test } from "node:test";
import { newBudget } from "./budget.ts";
import { ExpressionError } from "./error.ts";
import { evaluateTemplate, evaluateValue } from "./template.ts";
import { scopeOf } from "./testing/sample-scope.ts";

const scope = scopeOf({ trigger: { payload: { json: String.raw`{"a": "x\u0000y"}`, face: "😀" } } });

test("a value that the database cannot store is refused with its expression", () => {
  const half = "<+trigger.payload.face.substring(0, 1)>";
  const nul = "<+json.select('a', trigger.payload.json)>";
  const inside = "<+json.object(trigger.payload.json)>";
  const value = (text: string) => () => evaluateValue(text, scope, newBudget());
  const refused = (evaluate: () => unknown, text: string, fault: string): void =>
    assert.throws(evaluate, (error) => {
      assert.ok(error instanceof ExpressionError);
      assert.ok(error.message.includes(`its value has ${fault}, which cannot be stored`), error.message);
      assert.ok(error.message.includes(text), error.message);
      return true;
    });
  refused(() => evaluateTemplate(`is ${nul}`, scope), nul, "a NUL character");
  refused(() => evaluateTemplate(`is ${half}`, scope), half, "half of a character");
  refused(value(nul), nul, "a NUL character");
  refused(value(inside), inside, "a NUL character");
  refused(value(half), half, "half of a character");
  assert.equal(evaluateTemplate("<+trigger.payload.face>", scope), "😀");
});
