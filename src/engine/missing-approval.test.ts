/** No interrupt closes a node around an approval that has not passed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withChained } from "./chain.ts";
import type { Event, FailureAction, FailureStrategy, Plan } from "./model.ts";
import { ended, exited, fired, interrupted, outcomeOf, planOf, type StageSketch, started } from "./testing/plans.ts";

const INTERVENE: FailureAction = { type: "ManualIntervention", timeoutMs: 9_000, fallback: { type: "MarkAsFailure" } };
const strategies: readonly FailureStrategy[] = [{ errors: ["AllErrors"], action: INTERVENE }];
const approval = { id: "a", type: "Approval" } as const;
const deploy: StageSketch = { id: "t", steps: [{ id: "deploy" }] };

const answered = (at: number, node: string, answer: string | null = null): Event => ({
  ...{ kind: "answered", at, node, answer },
});

function decides(plan: Plan, node: string, ...events: readonly Event[]): readonly boolean[] {
  const before = outcomeOf(plan, events).state;
  assert.equal(before.nodes[node]?.reason?.kind, "intervention");
  return (["Ignore", "MarkAsSuccess", "MarkAsFailure"] as const).map((asked) => {
    const { state } = outcomeOf(plan, [...events, interrupted(500, asked, node)]);
    return state.nodes[node]?.status !== before.nodes[node]?.status;
  });
}

const REFUSED = [false, false, true];
const TAKEN = [true, true, true];

function chainedPlan(child: readonly StageSketch[]): Plan {
  const plan = planOf([{ id: "chain", steps: [], strategies }, deploy]);
  return withChained(plan, "chain", { child: planOf(child, {}, { root: "inner" }) });
}

test("a stage is not ignored whose pipeline waits for an approval that was rejected", () => {
  const plan = chainedPlan([{ id: "s", steps: [approval, { id: "x" }] }]);
  assert.deepEqual(decides(plan, "chain", started(), answered(1, "a", "reject")), REFUSED);
  assert.deepEqual(decides(plan, "chain", started(), answered(1, "a"), ended(2, "x", exited(1))), TAKEN);
});

test("a stage or group is not ignored whose time is up before an approval, but after it", () => {
  const steps = [{ id: "w" }, approval, { id: "x", type: "Queue" }] as const;
  const stage = planOf([{ id: "s", timeoutMs: 100, strategies, steps }, deploy]);
  const group = planOf([{ id: "s", steps: [{ group: "g", timeoutMs: 100, strategies, steps }] }, deploy]);
  for (const [plan, node] of [
    [stage, "s"],
    [group, "g"],
  ] as const) {
    const begun = [started(), ended(1, "w", exited(0))];
    assert.deepEqual(decides(plan, node, ...begun, fired(100, node)), REFUSED);
    assert.deepEqual(decides(plan, node, ...begun, answered(2, "a"), fired(100, node)), TAKEN);
  }
});

test("an approval that was skipped, or stands in a rollback, does not keep a stage from being ignored", () => {
  const skipped = { ...approval, when: { status: "All", expression: "false" } } as const;
  const stage = { id: "s", timeoutMs: 100, strategies, steps: [skipped, { id: "x", type: "Queue" }] } as const;
  const plan = planOf([{ ...stage, rollback: [{ id: "undo", type: "Approval" }] }, deploy]);
  assert.deepEqual(decides(plan, "s", started(), fired(100, "s")), TAKEN);
});

test("a loop over an approval is not ignored whose values cannot be evaluated", () => {
  const strategy = { type: "times", times: "<+pipeline.variables.none>" } as const;
  const loop = { strategy, onFailure: "RunAll" } as const;
  const plan = planOf([{ id: "s", strategies, steps: [{ ...approval, loop }] }, deploy]);
  assert.deepEqual(decides(plan, "a.loop", started()), REFUSED);
});
