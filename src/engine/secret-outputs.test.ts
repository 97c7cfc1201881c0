/** What expressions make of an output whose value is not in the state. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ExpressionError } from "./expression/error.ts";
import { MASK, readsSecretOutput } from "./expression/secret-outputs.ts";
import { evaluateTemplate } from "./expression/template.ts";
import type { Event, NodeState } from "./model.ts";
import { scopeFor } from "./scope.ts";
import { ended, type Execution, give, initial, planOf } from "./testing/plans.ts";

const plan = planOf([{ id: "s", steps: [{ id: "a", alias: { key: "auth", scope: "stage" } }, { id: "b" }] }]);
const end: Event = ended(1, "a", {
  kind: "exited",
  exitCode: 0,
  outputs: [
    { name: "token", value: MASK, secret: "11111111-1111-4111-8111-111111111111" },
    { name: "user", value: "ada" },
  ],
});
const execution: Execution = give(plan, give(plan, initial(plan), { kind: "started", at: 0 }), end);
const find = (id: string): NodeState | undefined => execution.nodes.get(id);
const scope = scopeFor(plan, find, "b");

const ALONE = ["<+steps.a.output.outputVariables.token>", '<+exportedVariables.getValue("stage.auth.token")>'];

for (const text of ALONE)
  test(`it is known as a secret, and has no value: ${text}`, () => {
    assert.equal(readsSecretOutput(text, scope), true);
    assert.equal(readsSecretOutput(`Bearer ${text}`, scope), true);
    assert.throws(() => evaluateTemplate(text, scope), /it is a secret output: it stands alone/);
  });

const READS = [
  '<+steps.a.output.outputVariables["to" + "ken"]>',
  "<+steps.a.output.outputVariables.token.length()>",
  "<+steps.a.output.outputVariables.token[0]>",
  '<+steps.a.output.outputVariables.token == "x">',
  "<+steps.a.output.outputVariables.token == null>",
  '<+steps.a.output.outputVariables.token ?? "x">',
  '<+steps.a.output.outputVariables?.token ?: "x">',
  '<+exportedVariables["stage.auth." + "token"]>',
  "<+empty(steps.a.output.outputVariables.token)>",
];

for (const text of READS)
  test(`no expression is made of it: ${text}`, () => {
    assert.equal(readsSecretOutput(text, scope), false);
    assert.throws(() => evaluateTemplate(text, scope), ExpressionError);
  });

test("objects that hold it show a mask", () => {
  assert.equal(evaluateTemplate("<+steps.a.output.outputVariables>", scope), `{"token":"${MASK}","user":"ada"}`);
  assert.equal(evaluateTemplate("<+steps.a.output.outputVariables.user>", scope), "ada");
  assert.equal(readsSecretOutput("<+steps.a.output.outputVariables.user>", scope), false);
});
