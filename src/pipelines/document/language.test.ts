/** The whole language. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../core/problem.ts";
import { parseDocument } from "../../platform/document/document.ts";
import { documentProblem, validate } from "../../platform/document/validate.ts";
import { faultsOf } from "./check.ts";
import { nodeFaults } from "./check-nodes.ts";
import { pipelineSchema, type PipelineDocument } from "./schema.ts";

const schema = pipelineSchema("saved");

function read(text: string): PipelineDocument {
  const doc = parseDocument(text, { maxNodes: 40_000, maxBytes: 2_000_000 });
  const pipeline = validate(schema, doc, { root: "pipeline" });
  const faults = faultsOf(pipeline, doc, "saved");
  if (faults.length > 0) throw documentProblem(faults);
  return pipeline;
}

const step = (identifier: string, more = ""): string =>
  `{step: {type: ShellScript, name: ${identifier}, identifier: ${identifier}${more}, spec: {shell: Bash, source: {type: Inline, spec: {script: "true"}}}}}`;

/** A pipeline of one Custom stage: fields of the pipeline, of the stage, and its steps. */
const pipeline = (steps: string, stage = "", more = ""): string => `pipeline:
  name: Release
  identifier: release
${more}  stages:
    - stage:
        name: Build
        identifier: build
        type: Custom
${stage}        spec:
          execution:
            steps:
${steps}`;

const lines = (indent: number, text: string): string =>
  text
    .trim()
    .split("\n")
    .map((line) => `${" ".repeat(indent)}${line}\n`)
    .join("");

const steps = (text: string): string => pipeline(lines(14, text));
const stage = (text: string): string => pipeline(lines(14, `- ${step("one")}`), lines(8, text));
const oneStep = (more: string): string => steps(`- ${step("one", `, ${more}`)}`);
const group = (more: string, inner = `- ${step("one")}`): string =>
  `- stepGroup:\n    name: Group\n    identifier: group\n${lines(4, more)}    steps:\n${lines(6, inner)}`;

const TAKEN: readonly (readonly [name: string, text: string])[] = [
  ["parallel steps and groups", steps(`- parallel:\n    - ${step("a")}\n    - ${step("b")}\n- ${step("c")}`)],
  ["a group inside a group", steps(group("variables: [{name: v, type: String, value: x}]", group("timeout: 10m")))],
  [
    "parallel stages",
    `${steps(`- ${step("one")}`)}    - parallel:
        - stage: {name: A, identifier: a, type: Approval, spec: {execution: {steps: [${step("one")}]}}}
        - stage: {name: B, identifier: b, type: Custom, spec: {execution: {steps: [${step("one")}], rollbackSteps: []}}}
`,
  ],
  ["when on a stage", stage("when: {pipelineStatus: All, condition: '<+pipeline.name> == \"Release\"'}")],
  ["when on a step", oneStep("when: {stageStatus: Failure}")],
  ["a condition given at run time", oneStep('when: {stageStatus: Success, condition: "<+input>"}')],
  [
    "a matrix",
    oneStep("strategy: {matrix: {os: [linux, mac], version: ['1', '2'], exclude: [{os: mac, version: '1'}]}}"),
  ],
  ["a matrix of maps", oneStep("strategy: {matrix: {target: [{name: a, port: 1}, {name: b, port: 2}]}}")],
  [
    "a matrix from a runtime input",
    oneStep('strategy: {matrix: {os: "<+input>", maxConcurrency: 2}, onFailure: SkipQueued}'),
  ],
  [
    "a matrix that exclusions make small",
    stage(
      `strategy:\n  matrix:\n    a: [${[...Array(17).keys()].join(", ")}]\n    b: [${[...Array(16).keys()].join(", ")}]\n    exclude: [{a: 0}]`,
    ),
  ],
  ["a repeat over items", oneStep("strategy: {repeat: {items: [a, b, c], partitionSize: 2, maxConcurrency: 1}}")],
  ["a repeat over a variable", oneStep('strategy: {repeat: {items: "<+pipeline.name.split(\\",\\")>"}}')],
  [
    "times and parallelism",
    steps(`- ${step("a", ", strategy: {repeat: {times: 3}}")}\n- ${step("b", ", strategy: {parallelism: 4}")}`),
  ],
  ["timeouts at each level", pipeline(lines(14, group("timeout: 5m")), lines(8, "timeout: 1h"), "  timeout: 2h\n")],
  [
    "failure strategies at each level",
    pipeline(
      lines(
        14,
        group(
          `failureStrategies:\n  - onFailure: {errors: [Timeout], action: {type: RetryStepGroup, spec: {retryCount: 1}}}`,
          `- ${step("one", ", failureStrategies: [{onFailure: {errors: [AllErrors], action: {type: StepGroupRollback}}}]")}`,
        ),
      ),
      lines(
        8,
        `failureStrategies:
  - onFailure: {errors: [Timeout, Connectivity], action: {type: Retry, spec: {retryCount: 3, retryIntervals: [2s, 1m], onRetryFailure: {action: {type: ManualIntervention, spec: {timeout: 1h, onTimeout: {action: {type: StageRollback}}}}}}}}
  - onFailure: {errors: [AllErrors], action: {type: PipelineRollback}}`,
      ),
    ),
  ],
];

for (const [name, text] of TAKEN)
  test(`taken: ${name}`, () => {
    read(text);
  });

/** `¦` stands where the fault is expected. */
const REFUSED: readonly (readonly [text: string, message: string | RegExp])[] = [
  [steps(`- ¦{}`), "Expected exactly one of step, stepGroup, parallel"],
  [
    steps(`- ¦parallel: [${step("a")}]\n  ${step("b").slice(1, -1)}`),
    "Expected exactly one of step, stepGroup, parallel",
  ],
  [steps(`- parallel:\n    - {¦parallel: [${step("a")}]}`), "'parallel' is not supported yet"],
  [steps(`- parallel: ¦[]`), "At least 1 item needed"],
  [steps(group("¦stepGroupInfra: {}")), "'stepGroupInfra' is not supported yet"],
  [
    steps(`- ${step("a")}\n- parallel: [${step("b")}, ${step("¦a").replace("name: ¦a", "name: a")}]`),
    "The step identifier 'a' is given twice",
  ],
  [stage("when: {pipelineStatus: ¦Never}"), "Unknown pipeline status 'Never'. Allowed: Success, Failure, All"],
  [stage("when: {¦stageStatus: All, pipelineStatus: All}"), /^Unknown field 'stageStatus'/],
  [oneStep("when: {stageStatus: All, condition: '<+¦pipelin.name> == 1'}"), /pipelin/],
  [oneStep("strategy: {matrix: {os: [¦1.10]}}"), "Write '1.10' in quotes: unquoted, it is read as 1.1"],
  [oneStep("strategy: ¦{matrix: {os: [a]}, parallelism: 2}"), "A strategy is one of matrix, repeat, parallelism"],
  [oneStep("strategy: {matrix: ¦{maxConcurrency: 2}}"), "A matrix has at least one axis, as in version: [1, 2]"],
  [oneStep("strategy: {matrix: {os: [a], exclude: [{arch: ¦x}]}}"), "The matrix has no axis 'arch'"],
  [oneStep("strategy: {matrix: {a-b: ¦[x]}}"), "An axis has letters, digits and _, and begins with a letter or _"],
  [oneStep("strategy: {parallelism: ¦1000000}"), "Expected a whole number from 1 to 256"],
  [
    oneStep("strategy: {repeat: {times: ¦1000000}}"),
    /^Expected a whole number from 1 to 256 \(limit iterationsPerLoop\)/,
  ],
  [oneStep("strategy: {repeat: ¦{maxConcurrency: 1}}"), "A repeat has either items or times"],
  [oneStep("strategy: {repeat: {items: [a], ¦start: 1}}"), "'start' is not supported yet"],
  [
    oneStep("strategy: {repeat: {items: [{a: ¦<+pipeline.name>}]}}"),
    "An expression stands for a whole item, not for a field of one",
  ],
  [oneStep("failureStrategies: [{onFailure: {errors: [¦AllErrors, Timeout], action: {type: Abort}}}]"), /AllErrors/],
  [
    oneStep("failureStrategies: [{onFailure: {errors: [AllErrors], action: {type: ¦StepGroupRollback}}}]"),
    "StepGroupRollback needs a step group around the step",
  ],
  [
    oneStep("failureStrategies: [{onFailure: {errors: [¦PluginImageFailure], action: {type: Abort}}}]"),
    "Failure error 'PluginImageFailure' is not supported yet",
  ],
  [
    oneStep(
      "failureStrategies: [{onFailure: {errors: [Timeout], action: {type: Retry, spec: {retryCount: 1, onRetryFailure: {action: {type: ¦Retry}}}}}}]",
    ),
    "Failure action 'Retry' is not supported yet",
  ],
  [
    oneStep("failureStrategies: [{onFailure: {errors: [Timeout], action: {type: Retry, spec: {retryCount: ¦0}}}}]"),
    "Expected a whole number from 1 to 100",
  ],
  [
    oneStep(
      "failureStrategies: [{onFailure: {errors: [Timeout], action: {type: Retry, spec: {retryCount: 1, retryIntervals: [¦soon]}}}}]",
    ),
    /^A time is written like 10s/,
  ],
  [stage("timeout: ¦forever"), /^A timeout is written like/],
  [
    pipeline(lines(14, `- ${step("one")}`), "", "  timeout: ¦5ms\n"),
    "Milliseconds are not allowed in a timeout: '5ms'",
  ],
];

for (const [marked, message] of REFUSED)
  test(`refused: ${message} at ${/.*¦.*/.exec(marked)?.[0].trim().slice(0, 60)}`, () => {
    const before = marked.slice(0, marked.indexOf("¦")).split("\n");
    const at = `${before.length}:${(before.at(-1) ?? "").length + 1}`;
    const faults = refusals(marked.replace("¦", ""));
    if (typeof message === "string") assert.deepEqual(faults[0], { at, message });
    else assert.match(faults[0]?.message ?? "", message);
    assert.equal(faults[0]?.at, at);
  });

function refusals(text: string): readonly { readonly at: string; readonly message: string }[] {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error.faults.map(({ line, column, message }) => ({ at: `${line}:${column}`, message }));
  }
  return [];
}

const nested = (depth: number): string => {
  let inner = `- ${step("one")}`;
  for (let nth = 0; nth < depth; nth += 1) inner = group("description: x", inner);
  return steps(inner);
};

test("groups nest eight deep, and no deeper", () => {
  read(nested(8));
  assert.match(refusals(nested(9))[0]?.message ?? "", /^Step groups nest at most 8 deep \(limit groupDepth\)$/);
});

const numbers = (count: number): string => [...Array(count).keys()].join(", ");

test("a matrix of 256 × 256 is refused with the limit's name", () => {
  const text = oneStep(`strategy: {matrix: {a: [${numbers(256)}], b: [${numbers(256)}]}}`);
  assert.equal(
    refusals(text)[0]?.message,
    "A loop has at most 256 iterations (limit iterationsPerLoop); this matrix has 65536",
  );
  for (const list of [`repeat: {items: [${numbers(257)}]}`, `matrix: {a: [${numbers(257)}]}`])
    assert.match(
      refusals(oneStep(`strategy: {${list}}`))[0]?.message ?? "",
      /^A loop has at most 256 iterations \(limit iterationsPerLoop\)/,
    );
});

test("nested loops that come to more than 5,000 nodes are refused with the limit's name", () => {
  const many = (count: number) =>
    group(`strategy: {parallelism: ${count}}`, `- ${step("one", ", strategy: {parallelism: 50}")}`);
  read(steps(many(90)));
  assert.match(
    refusals(steps(many(100)))[0]?.message ?? "",
    /at most 5000 nodes \(limit nodesPerExecution\), and this comes to 5100$/,
  );
});

test("10,000 steps are refused with the limit's name", () => {
  const one = {
    identifier: "one",
    steps: Array.from({ length: 10_000 }, (_, nth) => ({ step: { identifier: `s${nth}` } })),
  };
  const document = {
    stages: [{ stage: { identifier: "s", spec: { execution: one } } }],
  } as unknown as PipelineDocument;
  assert.deepEqual(nodeFaults(document), [
    {
      path: ["pipeline", "stages", 0, "stage"],
      message: "An execution has at most 5000 nodes (limit nodesPerExecution), and this comes to 10001",
    },
  ]);
});
