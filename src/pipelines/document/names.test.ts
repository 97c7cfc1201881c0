/** What saving says of expressions that read what the document does not have. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, faultsOf, SAMPLE } from "./sample.ts";

const STEP = SAMPLE.slice(SAMPLE.indexOf("              - step:"), SAMPLE.indexOf("            rollbackSteps"));
const HEAD = SAMPLE.slice(0, SAMPLE.indexOf("  stages:\n"));

/** Each piece stands on a line of its own. */
const script = (id: string, text: string, more = ""): string =>
  `              - step: {name: ${id}, identifier: ${id}, type: ShellScript, ${more}spec: {shell: Bash, source: {type: Inline, spec: {script: '${text}'}}, outputVariables: [{name: tag, type: String, value: tag}]}}\n`;
const steps = (...all: readonly string[]): string =>
  changed(STEP, all.join("")).replace(
    "        failureStrategies:",
    "        variables: [{name: size, type: String, value: s}]\n        failureStrategies:",
  );
const withVariables = (text: string): string =>
  text.replace(HEAD, `${HEAD}  variables: [{name: version, type: String, value: <+input>}]\n`);
const reads = (path: string, more = ""): string => withVariables(steps(script("a", "x=1"), script("b", path, more)));
const MATRIX = "strategy: {matrix: {os: [linux], version: [1]}}, ";
const CHAINED = `    - stage: {name: C, identifier: c, type: Pipeline, spec: {org: o, project: p, pipeline: x, outputs: [{name: v, value: '<+pipeline.stages.any.status>'}]}}
`;

const TAKEN: readonly string[] = [
  reads("echo <+pipeline.variables.version> <+stage.variables.size> <+pipeline.stages.deploy.variables.size>"),
  reads("echo <+steps.a.output.outputVariables.tag> <+execution.steps.a.status> <+execution.steps.status>"),
  reads("echo <+pipeline.stages.deploy.spec.execution.steps.a.output.outputVariables.tag> <+step.name>"),
  reads("echo <+matrix.os> <+steps.b_0_0.status>", MATRIX),
  reads("echo <+pipeline.variables.none ?? 1> <+pipeline.variables?.none> <+steps.none.status == null>"),
  reads('echo <+empty(pipeline.variables.none)> <+pipeline.variables.get("version")>'),
  reads("echo <+pipeline.variables.none ?: steps.a.status> <+trigger.payload.any.thing> <+spec>").replace(
    " <+spec>",
    "",
  ),
  reads("echo <+repeat.item>", "strategy: {repeat: {items: [1]}}, "),
  withVariables(steps(script("b", "echo <+pipeline.stages.c.output.v>"))).replace(
    "  stages:\n",
    `  stages:\n${CHAINED}`,
  ),
];

for (const [nth, text] of TAKEN.entries()) test(`taken: ${nth + 1}`, () => assert.deepEqual(faultsOf(text), []));

const REFUSED: readonly (readonly [text: string, message: RegExp])[] = [
  [
    reads("echo <+pipeline.variables.verson>"),
    /^'pipeline.variables.verson' leads nowhere: pipeline.variables has no 'verson'; did you mean 'version'\?$/,
  ],
  [steps(script("a", "echo <+pipeline.variables.x>")), /pipeline.variables has no 'x'; it has none$/],
  [reads("echo <+stage.variables.colour>"), /stage.variables has no 'colour'; it has: size$/],
  [reads("echo <+pipeline.stages.test.status>"), /pipeline.stages has no 'test'; it has: deploy$/],
  [reads("echo <+steps.c.status>"), /^'steps.c.status' leads nowhere: steps has no 'c'; it has: a, b$/],
  [reads("echo <+execution.steps.other.status>"), /execution.steps has no 'other'; it has: a, b$/],
  [reads("echo <+steps.a_0.status>"), /steps has no 'a_0'/],
  [reads("echo <+steps.a.output.outputVariables.tags>"), /outputVariables has no 'tags'; did you mean 'tag'\?$/],
  [
    reads("echo <+pipeline.stages.deploy.spec.execution.steps.a.output.outputVariables.url>"),
    /^'pipeline\.stages.*' leads nowhere: pipeline.*outputVariables has no 'url'; it has: tag$/,
  ],
  [reads("echo <+matrix.os>"), /^'matrix.os' has no value here: nothing around it has a strategy with matrix$/],
  [reads("echo <+matrix.platform>", MATRIX), /matrix has no 'platform'; it has: os, version$/],
  [reads("echo <+repeat.item>"), /nothing around it has a strategy with repeat$/],
  [reads("x=1", "when: {stageStatus: All, condition: steps.c.status == 1}, "), /steps has no 'c'/],
  [reads('echo <+pipeline.variables.none.replace("a", "b")>'), /pipeline.variables has no 'none'/],
  [reads("echo <+pipeline.name == 1 || steps.none.status == 1>"), /steps has no 'none'/],
  [
    withVariables(steps(script("b", "echo <+pipeline.stages.c.output.w>"))).replace(
      "  stages:\n",
      `  stages:\n${CHAINED}`,
    ),
    /pipeline.stages.c.output has no 'w'; it has: v$/,
  ],
];

for (const [text, message] of REFUSED)
  test(`refused: ${message.source}`, () => {
    const [fault, ...more] = faultsOf(text);
    assert.match(fault?.message ?? "", message);
    assert.deepEqual(more, []);
  });

test("the place is that of the path", () => {
  const [fault] = faultsOf(steps(script("a", "echo <+pipeline.variables.x>")));
  const text = steps(script("a", "echo <+pipeline.variables.x>"));
  const before = text.slice(0, text.indexOf("pipeline.variables.x")).split("\n");
  assert.equal(fault?.at, `${before.length}:${(before.at(-1) ?? "").length + 1}`);
});
