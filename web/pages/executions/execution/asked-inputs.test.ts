import assert from "node:assert/strict";
import { test } from "node:test";
import { askedInputs, fillTemplate } from "./asked-inputs.ts";

const TEMPLATE = `stage:
  identifier: release
  type: Custom
  variables:
    - name: region
      type: String
      value: <+input>.executionInput().selectOneFrom(eu, us)
    - name: replicas
      type: Number
      value: <+input>.executionInput().default(2)
  spec:
    namespace: <+input>.executionInput().regex((a|b)+)
`;

test("a template asks for the values that it marks, by their names", () => {
  assert.deepEqual(
    askedInputs(TEMPLATE).map(({ label, initial, choices, pattern }) => ({ label, initial, choices, pattern })),
    [
      { label: "region", initial: "", choices: ["eu", "us"], pattern: undefined },
      { label: "replicas", initial: "2", choices: undefined, pattern: undefined },
      { label: "namespace", initial: "", choices: undefined, pattern: "(a|b)+" },
    ],
  );
});

test("values stay data, whatever they contain", () => {
  const filled = fillTemplate(TEMPLATE, ["eu: [", "3", 'a"\n- b: c']);
  assert.match(filled, /value: 3\n/);
  assert.deepEqual(askedInputs(filled), []);
  const hostile = fillTemplate(TEMPLATE, ["true", "3", "no"]);
  assert.match(hostile, /value: "true"/);
});
