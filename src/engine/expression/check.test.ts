import assert from "node:assert/strict";
import { test } from "node:test";
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

test("what can be said before a text runs", () => {
  const messages = (text: string) => checkTemplate(text).map(({ message }) => message);
  assert.deepEqual(messages("plain"), []);
  assert.deepEqual(messages("<+pipeline.anything.at.all> <+steps.a.output.outputVariables.X.trim()>"), []);
  assert.deepEqual(messages("<+pipeline.a.foo() + b.c>").length, 2);
  assert.match(
    messages("<+json.select('a', steps.x)>")[0] ?? "",
    /not supported yet: this version does not run 'json'/,
  );
  assert.match(messages("<+input>.default(3)")[0] ?? "", /runtime input that was given no value/);
  assert.match(messages("<+datetime('x')>")[0] ?? "", /does not run 'datetime'/);
});

test("every family that the engine does not run is refused by its name", () => {
  for (const root of "variable service env infra artifact matrix repeat strategy exportedVariables approval json xml datetime".split(
    " ",
  )) {
    assert.match(
      checkTemplate(`<+${root}.x>`)[0]?.message ?? "",
      new RegExp(`<\\+${root}\\.x> is not supported yet: .*'${root}'`),
    );
  }
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
