import assert from "node:assert/strict";
import { test } from "node:test";
import { REFUSED_ROOTS } from "./names/table.ts";
import { checkTemplate, referencesOf } from "./check.ts";

test("the paths that a text reads, as far as they are written out", () => {
  const paths = (text: string) => referencesOf(text).map(({ path }) => path.join("/"));
  assert.deepEqual(paths("none"), []);
  assert.deepEqual(paths('a <+pipeline.variables["x-y"].z> <+trigger.payload.get("k")[0].id.trim()>'), [
    "pipeline/variables/x-y/z",
    "trigger/payload/k/0/id",
  ]);
  assert.deepEqual(paths("<+pipeline.stages.<+stage.name>.spec[step.x].y == 'a' ? org.a : 1>"), [
    "pipeline/stages",
    "stage/name",
    "step/x",
    "org/a",
  ]);
  assert.deepEqual(
    referencesOf("ab<+!(step.a || steps.b.c)>").map(({ offset }) => offset),
    [6, 16],
  );
});

const messages = (text: string): readonly string[] => checkTemplate(text).map(({ message }) => message);

test("what can be said before a text runs", () => {
  assert.deepEqual(messages("plain"), []);
  assert.deepEqual(messages("<+pipeline.variables.at.all> <+steps.a.output.outputVariables.X.trim()>"), []);
  assert.deepEqual(messages("<+pipeline.a.foo() + b.c>").length, 2);
  assert.match(messages("<+artifact.tag>")[0] ?? "", /not supported yet: this version does not run 'artifact'/);
  assert.match(messages("<+input>.default(3)")[0] ?? "", /runtime input that was given no value/);
  assert.match(messages("<+regex>")[0] ?? "", /'regex' is no value, but stands before the name of a function/);
  assert.match(messages("<+regex.extrac('a', 'b')>")[0] ?? "", /did you mean 'regex\.extract'\?/);
});

test("every root that this version has no value for is refused by its name", () => {
  assert.ok(REFUSED_ROOTS.length > 0);
  for (const { name } of REFUSED_ROOTS) {
    assert.match(messages(`<+${name}.x>`)[0] ?? "", new RegExp(`<\\+${name}\\.x> is not supported yet: .*'${name}'`));
  }
});

test("a name that no run gives a meaning is refused with the nearest known one", () => {
  const refusals: readonly (readonly [string, RegExp])[] = [
    ["pipeline.nmae", /pipeline has no 'nmae'; did you mean 'name'\?/],
    ["pipeline?.nmae ?? 'x'", /did you mean 'name'/],
    ["pipeline.get('nmae')", /did you mean 'name'/],
    ["pipeline.variable.x", /did you mean 'variables'/],
    ["stage.xyzzy", /stage has no 'xyzzy'; it has: name, identifier, /],
    ["step.xyzzy == null", /step has no 'xyzzy'/],
    [
      "pipeline.stages.build.spec.execution.stpes.x",
      /pipeline\.stages\.build\.spec\.execution has no 'stpes'; .*'steps'/,
    ],
    ["pipeline.stages[stage.identifier].stauts", /pipeline\.stages\.… has no 'stauts'; did you mean 'status'/],
    ["steps.a.steps.b.ouput.x", /steps\.a\.steps\.b has no 'ouput'/],
    ["execution.steps.a.output.outputVariable.V", /did you mean 'outputVariables'/],
    ["pipeline.name.first", /pipeline\.name is a text and has no members/],
    ["stage.startTs[0]", /stage\.startTs is a number and has no members/],
    ["trigger.payloads.x", /did you mean 'payload'/],
    ["trigger.branch", /trigger has no 'branch'/],
    ["account.names", /did you mean 'name'/],
    ["org.name", /not supported yet: this version has no value for 'org\.name'/],
    ["pipeline.executionUrl", /this version has no value for 'pipeline\.executionUrl'/],
    ["pipeline.constructor", /has no 'constructor'/],
    ["pipeline['__proto__']", /has no '__proto__'/],
    ["pipeline.variables[stage.nmae].trim()", /stage has no 'nmae'/],
    ["'x'.concat(stage.nmae)", /stage has no 'nmae'/],
  ];
  for (const [text, message] of refusals) {
    const found = messages(`<+${text}>`);
    assert.equal(found.length, 1, text);
    assert.match(found[0] ?? "", message);
  }
});

test("names of a document and of a payload are not known before the run", () => {
  const accepted =
    "pipeline.variables.x trigger.payload.a.b[0].c trigger.header['X-Event'] pipeline.tags.team " +
    "pipeline.stages.build.variables.v stage.spec.infrastructure.environmentRef steps.a.spec.shell " +
    "pipeline[stage.name] stage.failureStrategies[0].onFailure";
  for (const path of accepted.split(" ")) assert.deepEqual(messages(`<+${path}>`), [], path);
});

test("faults carry line and column", () => {
  assert.deepEqual(
    checkTemplate("a\nb <+what.x>").map(({ offset, line, column }) => [offset, line, column]),
    [[6, 2, 5]],
  );
  assert.deepEqual(
    checkTemplate("a\n<+pipeline..x>").map(({ offset, line, column }) => [offset, line, column]),
    [[13, 2, 12]],
  );
});

test("a text full of faults gives a bounded list, quickly", () => {
  assert.equal(checkTemplate("<+no.x>".repeat(20_000)).length, 50);
});

test("an exported variable is a path of its key", () => {
  assert.deepEqual(
    referencesOf('<+exportedVariables.getValue("stage.build.version")>').map(({ path }) => path),
    [["exportedVariables", "stage.build.version"]],
  );
});

test("a condition is checked without brackets around it", () => {
  const isCondition = true;
  assert.deepEqual(checkTemplate('<+stage.name> == "x" && step.name != null', { isCondition }), []);
  assert.deepEqual(
    checkTemplate('<+stage.name> ==\n  nope.x || "<+a>"', { isCondition }).map(({ line, column }) => [line, column]),
    [[2, 14]],
  );
  assert.match(checkTemplate("stage.name == main", { isCondition })[0]?.message ?? "", /there is no 'main'/);
  assert.deepEqual(
    referencesOf('<+stage.name> == "x" && step.a.b', { isCondition }).map(({ path, offset }) => [...path, offset]),
    [
      ["stage", "name", 2],
      ["step", "a", "b", 24],
    ],
  );
});

test("the time of the evaluation is a reference, so that places can refuse it", () => {
  const paths = (text: string) => referencesOf(text).map(({ path }) => path.join("."));
  assert.deepEqual(paths('<+datetime.currentDate.plusDays(1)> <+json.select("a", trigger.payload)>'), [
    "datetime",
    "trigger.payload",
  ]);
});
