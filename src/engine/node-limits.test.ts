/** Retries and loops whose work would have no end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withChained } from "./chain.ts";
import type { FailureAction, FailureStrategy } from "./model.ts";
import { on, run } from "./testing/by-path.ts";
import { ended, type Execution, exited, fired, give, initial, interrupted, planOf, started } from "./testing/plans.ts";
import type { StageSketch, StepSketch } from "./testing/plans.ts";

const BROKEN = { id: "x", env: [["A", "<+pipeline.no>"]] } as const;

/** A stage that runs a pipeline. */
const chained = (inner: readonly StageSketch[], strategies: readonly FailureStrategy[]) =>
  withChained(planOf([{ id: "chain", steps: [], strategies }]), "chain", {
    child: planOf(inner, {}, { root: "inner" }),
  });

/** A parallel list of steps. */
const together = (count: number, step: Omit<StepSketch, "id">) => ({
  parallel: "par",
  steps: Array.from({ length: count }, (_, nth) => ({ ...step, id: `n${nth}` })),
});

test("retries of what fails as it begins are spread over events", () => {
  const action = { count: 100, intervals: [], fallback: { type: "MarkAsFailure" } } as const;
  const strategies = [on("AllErrors", { type: "RetryStepGroup", ...action })];
  const inner = [{ id: "s", steps: [{ group: "g", steps: [BROKEN], strategies }] }];
  const plan = chained(inner, [on("AllErrors", { type: "Retry", ...action })]);
  const { at, effects, nodes } = run(plan, started(), fired(1_000, "chain", "retry"));
  // The group has had its 100 retries, and the chained pipeline waits for its first.
  assert.deepEqual(effects[0], ["startTimer p/chain retry"]);
  assert.match(at("p/chain").reason?.message ?? "", /^Retries at 1970-01-01T00:00:02.000Z \(retry 2 of 100\)/);
  assert.ok(nodes.size < 250, String(nodes.size));
});

test("what is tried again has room for its nodes, or the fallback follows", () => {
  const fallback: FailureAction = { type: "MarkAsFailure" };
  const retries = { type: "RetryStepGroup", count: 100, intervals: [], fallback } as const;
  const strategies = [on("AllErrors", retries)];
  const plan = planOf([{ id: "s", steps: [{ group: "g", steps: [together(1_500, BROKEN)], strategies }] }]);
  const { at, nodes } = run(plan, started());
  assert.ok(nodes.size <= 5_000, String(nodes.size));
  assert.match(at("p/s/steps/g").failure?.message ?? "", /It is not tried again: an execution has at most 5000 nodes/);
});

test("a decision for a retry is refused without room for its nodes", () => {
  const fallback: FailureAction = { type: "MarkAsFailure" };
  const strategies = [on("AllErrors", { type: "ManualIntervention", timeoutMs: 1_000, fallback })];
  const plan = chained([{ id: "s", steps: [together(1_500, BROKEN)] }], strategies);
  const decisions = [1, 2, 3, 4].map((at) => interrupted(at, "Retry", "chain"));
  const { at, effects, nodes, state } = run(plan, started(), ...decisions, fired(1_000, "chain", "intervention"));
  assert.ok(nodes.size <= 5_000, String(nodes.size));
  assert.equal(at("p/chain").attempts.length, 3);
  // The third decision changes nothing: the node waits on.
  assert.deepEqual(effects.slice(3), [[], [], ["endExecution failed"]]);
  assert.equal(state.status, "failed");
});

/** Plays an execution whose tasks all end alike. */
function playTasks(plan: ReturnType<typeof planOf>, exitCode = 0): Execution {
  let [execution, at] = [initial(plan), 0];
  const open: { readonly node: string; readonly attempt: number }[] = [];
  const send = (event: Parameters<typeof give>[2]): void => {
    const { effects, ...next } = give(plan, execution, event);
    execution = next;
    for (const effect of effects) if (effect.kind === "enqueueTask") open.push(effect);
  };
  send(started());
  for (let task = open.pop(); task; task = open.pop())
    send(ended((at += 1), task.node, exited(exitCode), task.attempt));
  return execution;
}

test("loops that are open at once do not create nodes without end, and are undone", () => {
  // Each of them has room as it begins, and runs its first iteration. The others are skipped as soon as that has ended.
  const loop = { strategy: { type: "times", times: 256 }, maxConcurrency: 1, onFailure: "RunAll" } as const;
  const when = { status: "Success", expression: "<+strategy.iteration> == 0" } as const;
  const undone = { ...BROKEN, strategies: [on("AllErrors", { type: "StageRollback" })] };
  const { parallel, steps } = together(70, { loop, when });
  const stage = { id: "s", steps: [{ parallel, steps: [undone, ...steps] }], rollback: [{ id: "undo" }] };
  const { nodes, state } = playTasks(planOf([stage]));
  const failures = [...nodes.values()].filter(({ definition }) => definition === "n0.loop").map((one) => one.failure);
  assert.match(
    failures[0]?.message ?? "",
    /^An execution has at most 5000 nodes, and this one has come to 15000 with its loops and retries/,
  );
  assert.equal(state.status, "failed");
  const undo = [...nodes.values()].filter(({ path }) => path.includes("rollbackSteps"));
  assert.deepEqual(
    undo.map(({ status }) => status),
    ["succeeded", "succeeded"],
  );
  assert.ok(nodes.size <= 15_002, String(nodes.size));
});

/** Loops that all have room as they begin. Each waits for a task of its first iteration; the others are skipped. */
const overbooking = (count: number) => {
  const loop = { strategy: { type: "times", times: 256 }, maxConcurrency: 1, onFailure: "RunAll" } as const;
  return together(count, { loop, when: { status: "All", expression: "<+strategy.iteration> == 0" } });
};

for (const exitCode of [0, 1])
  test(`what may not start its next child is undone, and its tasks have exited with ${exitCode}`, () => {
    const { parallel, steps } = overbooking(70);
    const marked = steps.map((step) => ({ ...step, strategies: [on("ApplicationError", { type: "MarkAsFailure" })] }));
    const stage: StageSketch = {
      ...{ id: "s", steps: [{ parallel, steps: marked }], rollback: [{ id: "undo" }] },
      strategies: [on("AllErrors", { type: "StageRollback" })],
    };
    const { nodes, state } = playTasks(planOf([stage]), exitCode);
    assert.equal(state.status, "failed");
    assert.equal(nodes.get("undo")?.tasks, 1);
  });

test("what undoes work has room for its loops and retries when the work has left none", () => {
  const retries = { count: 100, intervals: [], fallback: { type: "StageRollback" } } as const;
  const group = {
    ...{ group: "g", steps: [together(1_664, BROKEN)] },
    strategies: [on("AllErrors", { type: "RetryStepGroup", ...retries })],
  };
  const again = { type: "RetryStepGroup", count: 1, intervals: [], fallback: { type: "MarkAsFailure" } } as const;
  const loop = { strategy: { type: "times", times: 200 }, maxConcurrency: 1, onFailure: "SkipQueued" } as const;
  const undo = { group: "undo", steps: [{ id: "u", loop }], strategies: [on("AllErrors", again)] };
  const plan = planOf([{ id: "s", steps: [group], rollback: [undo] }]);
  const { at, nodes } = run(plan, started(), (by) => ended(1, by("p/s/rollbackSteps/undo/u/u[0]").id, exited(1)));
  assert.ok(nodes.size > 5_000, String(nodes.size));
  assert.equal(at("p/s/rollbackSteps/undo@2/u/u[0]").status, "running");
});

test("loops that undo work do not create nodes without end either", () => {
  const failing = { ...BROKEN, strategies: [on("AllErrors", { type: "StageRollback" })] };
  const plan = planOf([{ id: "s", steps: [{ id: "a" }, failing], rollback: [overbooking(200)] }]);
  const { nodes, state } = playTasks(plan);
  assert.equal(state.status, "failed");
  assert.ok(nodes.size > 15_000 && nodes.size <= 30_000, String(nodes.size));
});
