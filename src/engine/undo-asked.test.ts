/** Rollbacks that a failure has asked for, of what is around other rollbacks, timeouts and failures. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withChained } from "./chain.ts";
import type { FailureAction } from "./model.ts";
import { on, run } from "./testing/by-path.ts";
import { cancelled, ended, exited, fired, interrupted, planOf, started } from "./testing/plans.ts";
import type { StageSketch } from "./testing/plans.ts";

const does = (type: "StageRollback" | "StepGroupRollback" | "PipelineRollback" | "Ignore") => [
  on("AllErrors", { type }),
];
const tasksOf = (effects: readonly string[] | undefined): readonly string[] =>
  (effects ?? []).filter((one) => one.startsWith("enqueueTask"));

test("a step that undoes a stage and fails may ask for the rollback of the pipeline", () => {
  const plan = planOf([
    { id: "s", steps: [{ id: "a" }], rollback: [{ id: "u" }] },
    { id: "t", steps: [{ id: "b" }], rollback: [{ id: "v", strategies: does("PipelineRollback") }], rollsBack: true },
  ]);
  const { at, effects } = run(
    plan,
    ...[started(), ended(1, "a", exited(0)), ended(2, "b", exited(1))],
    (by) => ended(3, by("p/t/rollbackSteps/v").id, exited(1)),
    (by) => ended(4, by("p/rollbackSteps(p/s)/u").id, exited(0)),
  );
  // Stage t has been undone.
  assert.deepEqual(at("p").progress?.undo, ["s"]);
  assert.deepEqual(tasksOf(effects[3]), ["enqueueTask p/rollbackSteps(p/s)/u"]);
  assert.deepEqual(effects[4]?.at(-1), "endExecution failed");
});

for (const isExpired of [true, false])
  test(`a step that undoes a group and ${isExpired ? "expires" : "fails"} may ask for the rollback of its stage`, () => {
    const undo = { id: "v", strategies: does("StageRollback") };
    const group = { group: "g", steps: [{ id: "b" }], rollback: [undo], strategies: does("StepGroupRollback") };
    const plan = planOf([{ id: "s", steps: [{ id: "a" }, group], rollback: [{ id: "u" }] }]);
    const path = "p/s/steps/g/rollbackSteps/v";
    const { effects } = run(
      plan,
      ...[started(), ended(1, "a", exited(0)), ended(2, "b", exited(1))],
      (by) => (isExpired ? fired(3, by(path).id) : started(3)),
      (by) => ended(4, by(path).id, isExpired ? cancelled() : exited(1)),
    );
    assert.deepEqual(tasksOf(effects[4]), ["enqueueTask p/s/rollbackSteps/u"]);
  });

test("what undoes a group may ask for the rollback of its stage before the time of what is around it is up", () => {
  const undo = { parallel: "undo", steps: [{ id: "v", strategies: does("StageRollback") }, { id: "w" }] };
  const group = { group: "g", steps: [{ id: "b" }], rollback: [undo], strategies: does("StepGroupRollback") };
  const around = { group: "h", steps: [{ id: "a" }, group], timeoutMs: 100 };
  const plan = planOf([{ id: "s", steps: [around], rollback: [{ id: "u" }] }]);
  const path = "p/s/steps/h/g/rollbackSteps/undo";
  const { effects } = run(
    plan,
    ...[started(), ended(1, "a", exited(0)), ended(2, "b", exited(1))],
    (by) => ended(3, by(`${path}/v`).id, exited(1)),
    fired(100, "h"),
    (by) => ended(101, by(`${path}/w`).id, cancelled()),
  );
  assert.deepEqual(tasksOf(effects[5]), ["enqueueTask p/s/rollbackSteps/u"]);
});

test("what undoes the stages of a chained pipeline asks nothing of the stage that runs it", () => {
  const inner: StageSketch = {
    ...{ id: "s", steps: [{ id: "a" }], strategies: does("PipelineRollback") },
    rollback: [{ id: "u", strategies: does("StageRollback") }],
  };
  const outer = planOf([{ id: "chain", steps: [], strategies: does("Ignore") }]);
  const plan = withChained(outer, "chain", { child: planOf([inner], {}, { root: "inner" }) });
  const { at } = run(plan, started(), ended(1, "a", exited(1)), (by) =>
    ended(2, by("p/chain/p/rollbackSteps(p/chain/p/s)/u").id, exited(1)),
  );
  assert.equal(at("p/chain").status, "ignored");
});

/** A step fails and asks for a rollback, and the time of what is around it passes while another still runs. */
const beside = (type: "StageRollback" | "PipelineRollback", rest: Partial<StageSketch>) => {
  const steps = [{ parallel: "par", steps: [{ id: "a", strategies: does(type) }, { id: "b" }] }];
  return { id: "s", steps, rollback: [{ id: "u" }], ...rest };
};

for (const [type, undo] of [
  ["StageRollback", "p/s/rollbackSteps/u"],
  ["PipelineRollback", "p/rollbackSteps(p/s)/u"],
] as const)
  test(`the time of a stage is up after a step has asked for its rollback: ${type}`, () => {
    const plan = planOf([beside(type, { timeoutMs: 100 })]);
    const { at, effects } = run(
      plan,
      ...[started(), ended(1, "a", exited(1)), fired(100, "s"), ended(101, "b", cancelled())],
    );
    assert.deepEqual(tasksOf(effects[3]), [`enqueueTask ${undo}`]);
    assert.match(at("p/s").failure?.message ?? "", /did not end within its timeout/);
  });

test("a strategy for the timeout of a stage comes before what a step has asked for", () => {
  const action: FailureAction = { type: "Ignore" };
  const plan = planOf([beside("StageRollback", { timeoutMs: 100, strategies: [on("Timeout", action)] })]);
  const { state } = run(plan, ...[started(), ended(1, "a", exited(1)), fired(100, "s"), ended(101, "b", cancelled())]);
  assert.equal(state.status, "ignored");
});

test("nothing is undone after all was stopped, whatever a step has asked for", () => {
  const stop = interrupted(2, "ExpireAll");
  const rolls = beside("PipelineRollback", {});
  const { effects, state } = run(
    planOf([rolls]),
    started(),
    ended(1, "a", exited(1)),
    stop,
    ended(3, "b", cancelled()),
  );
  assert.deepEqual(tasksOf(effects[3]), []);
  assert.equal(state.status, "expired");
});

test("a rollback that was asked of a group that has been stopped does not hide what is asked beside it", () => {
  const steps = [{ parallel: "par", steps: [{ id: "a", strategies: does("StepGroupRollback") }, { id: "b" }] }];
  const group = { group: "g", steps: [{ group: "h", steps, rollback: [{ id: "v" }] }], timeoutMs: 100 };
  const other = { id: "c", strategies: does("PipelineRollback") };
  const plan = planOf([{ id: "s", steps: [{ parallel: "all", steps: [group, other] }], rollback: [{ id: "u" }] }]);
  const { effects } = run(
    plan,
    ...[started(), ended(1, "a", exited(1)), fired(100, "g"), ended(101, "b", cancelled()), ended(102, "c", exited(1))],
  );
  assert.deepEqual(tasksOf(effects[4]), ["enqueueTask p/rollbackSteps(p/s)/u"]);
});
