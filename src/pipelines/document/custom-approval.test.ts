/** What saving takes and refuses of CustomApproval steps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, STEP_SPEC, withStep } from "./sample.ts";

const SCRIPT = "source: {type: Inline, spec: {script: state=$(cat /state)}}";
const OUTPUTS = "outputVariables: [{name: state, type: String, value: state}]";
const jexl = (expression: string): string => `{type: Jexl, spec: {expression: '${expression}'}}`;
const pairs = (conditions: string): string => `{type: KeyValues, spec: {conditions: [${conditions}]}}`;
const OK = jexl('<+output.outputVariables.state> == "ok"');

const step = (...more: readonly string[]): string =>
  withStep("CustomApproval", ["shell: Bash", SCRIPT, OUTPUTS, ...more]);
const TIMES = ["retryInterval: 30s", "scriptTimeout: 1m"];
const asking = (criteria: string, ...more: readonly string[]): string =>
  step(...TIMES, `approvalCriteria: ${criteria}`, ...more);

const TAKEN: readonly string[] = [
  asking(OK),
  asking(OK, `rejectionCriteria: ${OK}`, "environmentVariables: [{name: A, type: Secret, value: account.x}]"),
  asking(pairs("{key: state, operator: equals, value: a}, {key: state, operator: not in, value: <+pipeline.name>}")),
  asking("{type: KeyValues, spec: {matchAnyCondition: true, conditions: [{key: state, operator: in, value: 'a,b'}]}}"),
  step("retryInterval: <+input>", "scriptTimeout: <+input>.default(1m)", `approvalCriteria: ${OK}`),
  asking(OK, "delegateSelectors: [office]", "rejectionCriteria:"),
];

for (const [nth, text] of TAKEN.entries()) test(`taken: ${nth + 1}`, () => assert.deepEqual(faultsOf(text), []));

const REFUSED: readonly (readonly [text: string, path: string, message: RegExp])[] = [
  [step(...TIMES), ".approvalCriteria", /./],
  [asking("{type: Groovy, spec: {}}"), ".approvalCriteria.type", /Allowed: Jexl, KeyValues/],
  [asking(jexl("")), ".approvalCriteria.spec.expression", /^Expected an expression/],
  [asking(jexl("<+output.state>")), ".approvalCriteria.spec.expression", /state/],
  [asking(jexl("<+output.outputVariables.state> ==")), ".approvalCriteria.spec.expression", /./],
  [asking(jexl('<+secrets.getValue("account.x")> == 1')), ".approvalCriteria.spec.expression", /a secret stands alone/],
  [asking(pairs("")), ".approvalCriteria.spec.conditions", /./],
  [
    asking(pairs("{key: other, operator: in, value: a}")),
    ".approvalCriteria.spec.conditions[0].key",
    /none of the outputVariables: state$/,
  ],
  [
    asking(pairs("{key: state, operator: is, value: a}")),
    ".approvalCriteria.spec.conditions[0].operator",
    /Allowed: equals/,
  ],
  [asking(OK, "rejectionCriteria: {type: Jexl, spec: {expression: a, b: c}}"), ".rejectionCriteria.spec.b", /b/],
  [step("retryInterval: 5s", "scriptTimeout: 1m", `approvalCriteria: ${OK}`), ".retryInterval", /at least 10s/],
  [
    step("retryInterval: 30s", "scriptTimeout: <+pipeline.name>", `approvalCriteria: ${OK}`),
    ".scriptTimeout",
    /A time is/,
  ],
  [asking(OK, "onDelegate: false"), ".onDelegate", /onDelegate/],
  [
    withStep("CustomApproval", [
      "shell: Bash",
      'source: {type: Inline, spec: {script: eval "<+pipeline.name>"}}',
      ...TIMES,
      `approvalCriteria: ${OK}`,
    ]),
    ".source.spec.script",
    /would run the value as code/,
  ],
  [
    withStep("CustomApproval", [
      "shell: Bash",
      SCRIPT,
      "outputVariables: [{name: s, type: Secret, value: s}]",
      ...TIMES,
      `approvalCriteria: ${OK}`,
    ]),
    ".outputVariables[0].type",
    /not supported yet/,
  ],
];

for (const [text, path, message] of REFUSED)
  test(`refused: ${path}: ${message.source.slice(0, 60)}`, () => {
    const faults = faultsOf(text);
    assert.equal(faults.length, 1, JSON.stringify(faults));
    assert.equal(faults[0]?.path, `${STEP_SPEC}${path}`);
    assert.match(faults[0]?.message ?? "", message);
    assert.match(faults[0]?.at ?? "", /^[1-9]\d*:[1-9]\d*$/);
  });

test("what the script leaves has a value in no other text", () => {
  const script = withStep("Wait", ["duration: <+output.outputVariables.state>"]);
  assert.match(
    faultsOf(script)[0]?.message ?? "",
    /'output' has a value only in the criteria of a CustomApproval step/,
  );
});
