import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, LoopNode, OutputAlias, Plan } from "./model.ts";
import { ended, exited, type Execution, give, initial, planOf, type StepSketch } from "./testing/plans.ts";

const alias = (scope: OutputAlias["scope"], key = "build"): OutputAlias => ({ key, scope });
const reads = (id: string, name: string): StepSketch => ({
  id,
  env: [["V", `<+exportedVariables.getValue("${name}")>`]],
});
const twice: Pick<LoopNode, "strategy" | "onFailure"> = {
  strategy: { type: "times", times: 2 },
  onFailure: "RunAll",
};

/** The execution after the events, which name nodes by their path. */
function played(plan: Plan, ...events: readonly (readonly [path: string, version?: string])[]): Execution {
  let execution: Execution = give(plan, initial(plan), { kind: "started", at: 0 });
  for (const [nth, [path, version]] of events.entries()) {
    const node = [...execution.nodes.values()].find((one) => one.path === path);
    assert.ok(node, path);
    const outcome = exited(0, version === undefined ? {} : { version });
    execution = give(plan, execution, ended(nth + 1, node.id, outcome));
  }
  return execution;
}

/** What the step that runs got, or why it failed. */
function got(execution: Execution, path: string): unknown {
  const node = [...execution.nodes.values()].find((one) => one.path === path);
  return node?.failure?.message ?? node?.status;
}

function valueOf(plan: Plan, ...events: readonly (readonly [path: string, version?: string])[]): unknown {
  const before = played(plan, ...events.slice(0, -1));
  const [path = "", version] = events.at(-1) ?? [];
  const node = [...before.nodes.values()].find((one) => one.path === path);
  assert.ok(node, path);
  const event: Event = ended(99, node.id, exited(0, version === undefined ? {} : { version }));
  const { effects } = give(plan, before, event);
  const task = effects.find((effect) => effect.kind === "enqueueTask");
  assert.ok(task?.kind === "enqueueTask");
  return (task.work["env"] as readonly { readonly value: string }[])[0]?.value;
}

test("another stage reads what a step exports to the pipeline", () => {
  const plan = planOf([
    { id: "s", steps: [{ id: "a", alias: alias("pipeline") }] },
    { id: "t", steps: [reads("b", "pipeline.build.version")] },
  ]);
  assert.equal(valueOf(plan, ["p/s/steps/a", "1.4"]), "1.4");
});

test("exports to a stage end with it, and each instance of the stage has its own", () => {
  const stage = { id: "s", steps: [{ id: "a", alias: alias("stage") }, reads("b", "stage.build.version")] };
  const plan = planOf([
    { ...stage, loop: twice },
    { id: "t", steps: [reads("c", "stage.build.version")] },
  ]);
  const first: readonly (readonly [string, string?])[] = [
    ["p/s/s[0]/steps/a", "zero"],
    ["p/s/s[1]/steps/a", "one"],
  ];
  assert.equal(valueOf(plan, ...first), "one");
  assert.equal(valueOf(plan, ...first.toReversed()), "zero");
  const after = played(plan, ...first, ["p/s/s[0]/steps/b"], ["p/s/s[1]/steps/b"]);
  assert.match(String(got(after, "p/t/steps/c")), /exportedVariables has no 'stage\.build\.version'/);
});

test("of a repeated step the instance that ended last counts", () => {
  const plan = planOf([
    {
      id: "s",
      steps: [{ id: "a", alias: alias("stage"), loop: twice }, reads("b", "stage.build.version")],
    },
  ]);
  assert.equal(valueOf(plan, ["p/s/steps/a/a[1]", "one"], ["p/s/steps/a/a[0]", "zero"]), "zero");
  assert.equal(valueOf(plan, ["p/s/steps/a/a[0]", "zero"], ["p/s/steps/a/a[1]", "one"]), "one");
});

test("a step group reads its own exports, then those of the groups around it", () => {
  const inner = {
    group: "h",
    steps: [{ id: "b", alias: alias("stepGroup", "other") }, reads("c", "stepGroup.build.version")],
  };
  const plan = planOf([{ id: "s", steps: [{ group: "g", steps: [{ id: "a", alias: alias("stepGroup") }, inner] }] }]);
  assert.equal(valueOf(plan, ["p/s/steps/g/a", "outer"], ["p/s/steps/g/h/b", "inner"]), "outer");
});

test("a step that failed exports nothing", () => {
  const plan = planOf([
    {
      id: "s",
      steps: [
        { id: "a", alias: alias("stage"), strategies: [{ errors: ["AllErrors"], action: { type: "Ignore" } }] },
        reads("b", "stage.build.version"),
      ],
    },
  ]);
  const begun = give(plan, initial(plan), { kind: "started", at: 0 });
  const failed = give(plan, begun, ended(1, "a", exited(1, { version: "1" })));
  assert.match(String(got(failed, "p/s/steps/b")), /exportedVariables has no 'stage\.build\.version'; it is null/);
});

test("nodes that are taken from an earlier execution export what they did there", () => {
  const sketch = [
    { id: "s", steps: [{ id: "a", alias: alias("pipeline") }] },
    { id: "t", steps: [reads("b", "pipeline.build.version")] },
  ];
  const earlier = played(planOf(sketch), ["p/s/steps/a", "1.4"]);
  const reused = [...earlier.nodes.values()].filter(({ path }) => path === "p/s" || path.startsWith("p/s/"));
  const plan = planOf(sketch);
  const { effects } = give(plan, initial(plan), { kind: "started", at: 0, reused });
  const task = effects.find((effect) => effect.kind === "enqueueTask");
  assert.deepEqual(task?.kind === "enqueueTask" && task.work["env"], [{ name: "V", value: "1.4" }]);
});

test("of reused iterations the one that ended last counts, too", () => {
  const sketch = [
    { id: "s", steps: [{ id: "a", alias: alias("pipeline"), loop: twice }] },
    { id: "t", steps: [reads("b", "pipeline.build.version")] },
  ];
  const earlier = played(planOf(sketch), ["p/s/steps/a/a[1]", "one"], ["p/s/steps/a/a[0]", "zero"]);
  const reused = [...earlier.nodes.values()].filter(({ path }) => path === "p/s" || path.startsWith("p/s/"));
  const plan = planOf(sketch);
  const { effects } = give(plan, initial(plan), { kind: "started", at: 0, reused });
  const task = effects.find((effect) => effect.kind === "enqueueTask");
  assert.deepEqual(task?.kind === "enqueueTask" && task.work["env"], [{ name: "V", value: "zero" }]);
});
