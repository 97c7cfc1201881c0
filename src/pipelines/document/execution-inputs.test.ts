/** `<+input>.executionInput()`: where it may stand, what its node asks for, and what is given before the run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../core/problem.ts";
import { fillIn, inputTemplate } from "../inputs.ts";
import { executionInputs } from "./execution-inputs.ts";
import { readPipeline } from "./read.ts";
import { changed, faultsOf, SAMPLE, SCOPE } from "./sample.ts";

const ASKED = "<+input>.executionInput()";
const ENVIRONMENT = "environmentVariables: []";
const env = (value: string): readonly [string, string] => [
  ENVIRONMENT,
  `environmentVariables:\n                      - {name: A, type: String, value: ${value}}`,
];
const stageVariables = (list: string): readonly [string, string] => [
  "        tags: {}\n        failure",
  `        variables: ${list}\n        tags: {}\n        failure`,
];

const taken = (...changes: readonly (readonly [string, string])[]): string =>
  changes.reduce((text, [piece, replacement]) => changed(piece, replacement, text), SAMPLE);

const LATE = "'.executionInput()' is not allowed here, as the value is needed before the execution reaches it";
const DATA = "Defaults and allowed values beside '.executionInput()' hold no expressions";
const early = (name: string): string => `'${name}' is asked for while the pipeline runs, and is needed here before`;

const SIZE = stageVariables(`[{name: size, type: Number, value: ${ASKED}}]`);

const REFUSED: readonly (readonly [string, readonly (readonly [string, string])[], string | RegExp])[] = [
  ["the timeout of a step", [["timeout: 10m", `timeout: ${ASKED}`]], LATE],
  ["a reference", [["environmentRef: staging", `environmentRef: ${ASKED}`]], LATE],
  ["a name", [["name: Greet", `name: ${ASKED}`]], "A runtime input is not allowed here"],
  [
    "a condition",
    [["                  timeout: 10m", `                  when: {stageStatus: All, condition: ${ASKED}}`]],
    "'.executionInput()' is not allowed in a condition",
  ],
  ["a loop", [["                  timeout: 10m", `                  strategy: {repeat: {items: ${ASKED}}}`]], LATE],
  [
    "a script",
    [['|\n                          echo "hello"\n                          greeting=hello', ASKED]],
    /^'\.executionInput\(\)' is not allowed here, as scripts are checked before they run/,
  ],
  [
    "a variable of the pipeline",
    [["  tags: {}\n  stages", `  tags: {}\n  variables: [{name: a, type: String, value: ${ASKED}}]\n  stages`]],
    LATE,
  ],
  ["a variable of the service", [["variables: []", `variables: [{name: a, type: String, value: ${ASKED}}]`]], LATE],
  [
    "a secret",
    [stageVariables(`[{name: a, type: Secret, value: ${ASKED}}]`)],
    /the secrets of an execution are known when it starts/,
  ],
  ["a default with an expression", [env(`${ASKED}.default(<+pipeline.name>)`)], DATA],
  ["an allowed value with an expression", [env(`"${ASKED}.allowedValues(a,<+pipeline.name>)"`)], DATA],
  [
    "a default beside it with an expression",
    [stageVariables(`[{name: a, type: String, value: ${ASKED}, default: <+pipeline.name>}]`)],
    DATA,
  ],
  [
    "a variable that reads one",
    [
      stageVariables(
        `[{name: size, type: Number, value: ${ASKED}}, {name: b, type: String, value: <+stage.variables.size>}]`,
      ),
    ],
    early("stage.variables.size"),
  ],
  [
    "a reference that reads one",
    [SIZE, ["environmentRef: staging", "environmentRef: <+stage.variables.size>"]],
    early("stage.variables.size"),
  ],
  [
    "the condition of its own stage",
    [
      SIZE,
      [
        "        tags: {}\n        fail",
        "        when: {pipelineStatus: All, condition: <+stage.variables.size> == 1}\n        tags: {}\n        fail",
      ],
    ],
    early("stage.variables.size"),
  ],
  [
    "the timeout of its own stage",
    [
      SIZE,
      [
        "        tags: {}\n        fail",
        "        timeout: <+pipeline.stages.deploy.variables.size>m\n        tags: {}\n        fail",
      ],
    ],
    early("pipeline.stages.deploy.variables.size"),
  ],
  [
    "ProceedWithDefaultValues for other failures",
    [env(`${ASKED}.default(a)`), ["type: StageRollback", "type: ProceedWithDefaultValues"]],
    "ProceedWithDefaultValues applies to InputTimeoutError alone",
  ],
  [
    "ProceedWithDefaultValues without a default",
    [env(ASKED), ["- AllErrors", "- InputTimeoutError"], ["type: StageRollback", "type: ProceedWithDefaultValues"]],
    "ProceedWithDefaultValues needs an input with .executionInput() and a default",
  ],
  ["the name that reads it", [env("'<+executionInput[\"a\"]>'")], /there is no 'executionInput'/],
];

for (const [title, changes, message] of REFUSED)
  test(`saving refuses ${title}`, () => {
    const [first, ...others] = faultsOf(taken(...changes));
    assert.ok(first && others.length === 0, JSON.stringify([first, ...others]));
    if (typeof message === "string") assert.equal(first.message, message);
    else assert.match(first.message, message);
    const [line = 0, column = 0] = first.at.split(":").map(Number);
    assert.ok(line > 1 && column > 1, first.at);
  });

const read = (text: string) => readPipeline(text, SCOPE).pipeline;

test("each node asks for its own, with a template of its own", () => {
  const pipeline = read(
    taken(
      stageVariables(
        `[{name: fixed, type: String, value: x}, {name: size, type: Number, value: ${ASKED}, default: 3, required: true}]`,
      ),
      env(`"${ASKED}.allowedValues(a,b).default(a)"`),
      ["namespace: web\n", `namespace: ${ASKED}\n`],
    ),
  );
  const { ofNodes, expressions } = executionInputs(pipeline);
  assert.deepEqual(Object.fromEntries(ofNodes), {
    "pipeline.stages.deploy": {
      template: {
        stage: {
          ...{ identifier: "deploy", type: "Deployment" },
          spec: {
            infrastructure: { infrastructureDefinition: { type: "KubernetesDirect", spec: { namespace: ASKED } } },
          },
          variables: [{ name: "size", type: "Number", value: ASKED }],
        },
      },
      inputs: [
        { key: "stage.variables[0].value", variable: "size", type: "Number", isRequired: true, default: "3" },
        { key: "stage.spec.infrastructure.infrastructureDefinition.spec.namespace" },
      ],
    },
    "pipeline.stages.deploy.spec.execution.steps.greet": {
      template: {
        step: {
          ...{ identifier: "greet", type: "ShellScript" },
          spec: {
            environmentVariables: [{ name: "A", type: "String", value: `${ASKED}.allowedValues(a,b).default(a)` }],
          },
        },
      },
      inputs: [{ key: "step.spec.environmentVariables[0].value", default: "a" }],
    },
  });
  assert.equal(
    expressions.get("pipeline.stages[0].stage.variables[1].value"),
    '<+executionInput["stage.variables[0].value"]>',
  );
});

test("what is asked for is not among the inputs of a run, and cannot be given there", () => {
  const pipeline = read(taken(env(ASKED)));
  assert.equal(inputTemplate(pipeline), undefined);
  const filled = fillIn(pipeline, undefined);
  assert.match(JSON.stringify(filled.pipeline), /<\+executionInput\[/);
  const given = (value: string): string =>
    `pipeline: {stages: [{stage: {identifier: deploy, spec: {execution: {steps: [{step: {identifier: greet, spec: {environmentVariables: [{name: A, value: '${value}'}]}}}]}}}}]}`;
  assert.deepEqual(fillIn(pipeline, given(ASKED)).pipeline, filled.pipeline);
  assert.throws(
    () => fillIn(pipeline, given("x")),
    (error) =>
      error instanceof Problem &&
      error.code === "pipeline.bad_inputs" &&
      /: This input is asked for while the pipeline runs/.test(error.message),
  );
  const open = read(taken(env("<+input>")));
  assert.throws(() => fillIn(open, given('<+executionInput["k"]>')), /There is no 'executionInput'/);
});
