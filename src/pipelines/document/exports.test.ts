/** What saving takes and refuses of aliases for outputs, and of expressions that read them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf } from "./sample.ts";

const alias = (scope: string, key = "build"): string => `outputAlias: {key: ${key}, scope: ${scope}}`;

const step = (identifier: string, script: string, more = ""): string =>
  `{step: {type: ShellScript, name: ${identifier}, identifier: ${identifier}, spec: {shell: Bash, source: {type: Inline, spec: {script: '${script}'}}, outputVariables: [{name: version, type: String, value: v}], ${more}}}}`;

const reads = (name: string): string => step("reader", `echo "<+exportedVariables.getValue("${name}")>"`);

const stage = (identifier: string, ...steps: readonly string[]): string =>
  `    - stage: {name: ${identifier}, identifier: ${identifier}, type: Custom, spec: {execution: {steps: [${steps.join(", ")}]}}}\n`;

const pipeline = (...stages: readonly string[]): string =>
  `pipeline:\n  name: P\n  identifier: p\n  stages:\n${stages.join("")}`;

const group = (identifier: string, ...steps: readonly string[]): string =>
  `{stepGroup: {name: ${identifier}, identifier: ${identifier}, steps: [${steps.join(", ")}]}}`;

const TAKEN: readonly (readonly [what: string, text: string])[] = [
  ["stage", pipeline(stage("s", step("a", "v=1", alias("Stage")), reads("stage.build.version")))],
  ["pipeline", pipeline(stage("s", step("a", "v=1", alias("Pipeline"))), stage("t", reads("pipeline.build.version")))],
  [
    "group",
    pipeline(
      stage("s", group("g", step("a", "v=1", alias("StepGroup")), group("h", reads("stepGroup.build.version")))),
    ),
  ],
  [
    "the same key in two stages",
    pipeline(stage("s", step("a", "v=1", alias("Stage"))), stage("t", step("a", "v=1", alias("Stage")))),
  ],
  [
    "the same key in two scopes",
    pipeline(stage("s", step("a", "v=1", alias("Stage")), step("b", "v=1", alias("Pipeline")))),
  ],
];

for (const [what, text] of TAKEN) test(`taken: ${what}`, () => assert.deepEqual(faultsOf(text), []));

const REFUSED: readonly (readonly [what: string, text: string, path: RegExp, message: RegExp])[] = [
  [
    "a key that is given twice",
    pipeline(stage("s", step("a", "v=1", alias("Stage")), step("b", "v=1", alias("Stage")))),
    /steps\[1\]\.step\.spec\.outputAlias\.key$/,
    /^The outputAlias 'build' is given twice in this stage$/,
  ],
  [
    "a key that is given twice in parallel stages",
    pipeline(stage("s", step("a", "v=1", alias("Pipeline"))), stage("t", step("a", "v=1", alias("Pipeline")))),
    /stages\[1\].*outputAlias\.key$/,
    /twice in this pipeline/,
  ],
  [
    "StepGroup outside of a group",
    pipeline(stage("s", step("a", "v=1", alias("StepGroup")))),
    /outputAlias\.scope$/,
    /needs a step group/,
  ],
  [
    "an unknown scope",
    pipeline(stage("s", step("a", "v=1", alias("Account")))),
    /outputAlias\.scope$/,
    /Allowed: Pipeline, Stage, StepGroup/,
  ],
  [
    "a key with a dot",
    pipeline(stage("s", step("a", "v=1", alias("Stage", "a.b")))),
    /outputAlias\.key$/,
    /An identifier has/,
  ],
  [
    "a key of the host",
    pipeline(stage("s", step("a", "v=1", alias("Stage", "__proto__")))),
    /outputAlias\.key$/,
    /reserved word/,
  ],
  [
    "an unknown key",
    pipeline(stage("s", step("a", "v=1", alias("Stage")), reads("stage.other.version"))),
    /script$/,
    /^No step here has the outputAlias 'other' with the scope stage$/,
  ],
  [
    "an unknown variable",
    pipeline(stage("s", step("a", "v=1", alias("Stage")), reads("stage.build.other"))),
    /script$/,
    /has no output variable 'other'; it has: version$/,
  ],
  [
    "the alias of another stage",
    pipeline(stage("s", step("a", "v=1", alias("Stage"))), stage("t", reads("stage.build.version"))),
    /script$/,
    /No step here/,
  ],
  [
    "the alias of another group",
    pipeline(
      stage("s", group("g", step("a", "v=1", alias("StepGroup"))), group("h", reads("stepGroup.build.version"))),
    ),
    /script$/,
    /No step here/,
  ],
  [
    "a name without a scope",
    pipeline(stage("s", reads("build.version"))),
    /script$/,
    /an exported variable is named as in/,
  ],
];

for (const [what, text, path, message] of REFUSED)
  test(`refused: ${what}`, () => {
    const [fault, ...others] = faultsOf(text);
    assert.deepEqual(others, []);
    assert.match(fault?.path ?? "", path);
    assert.match(fault?.message ?? "", message);
  });

test("refused: a variable, which is evaluated before the steps run", () => {
  const text = pipeline(stage("s", step("a", "v=1", alias("Pipeline")))).replace(
    "  stages:",
    `  variables: [{name: x, type: String, value: '<+exportedVariables.getValue("pipeline.build.version")>'}]\n  stages:`,
  );
  assert.match(faultsOf(text)[0]?.message ?? "", /A variable is evaluated when the execution starts/);
});
