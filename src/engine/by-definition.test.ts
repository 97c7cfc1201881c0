import assert from "node:assert/strict";
import { test } from "node:test";
import { instancesOf } from "./by-definition.ts";
import { beginRun, change, createNode } from "./run.ts";
import { give, initial, planOf, started } from "./testing/plans.ts";
import { testStepTypes } from "./testing/step-types.ts";

test("the instances of a definition are those before the event and those it creates, as they are by now", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a" }, { id: "b" }] }]);
  const before = give(plan, initial(plan), started());
  const run = beginRun(testStepTypes, plan, before, started());
  const paths = (): readonly string[] =>
    instancesOf(run, ["a", "b", "s"]).map(({ path, status }) => `${path} ${status}`);
  assert.deepEqual(paths(), ["p/s/steps/a running", "p/s running"]);
  createNode(run, { definition: "b", parent: "s.steps" });
  change(run, "a", { status: "succeeded" });
  assert.deepEqual(paths(), ["p/s/steps/a succeeded", "p/s/steps/b queued", "p/s running"]);
});
