/** Whatever is stored of an execution, its last state can be read, and keeps what could be read before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isPlan, isState, quarantined } from "./quarantine.ts";
import { initialState, step } from "./step.ts";
import { ended, exited, outcomeOf, planOf, started } from "./testing/plans.ts";

const PLAN = planOf([{ id: "build", steps: [{ id: "one" }, { id: "two" }, { id: "three" }] }]);
const { state: RUNNING } = outcomeOf(PLAN, [started(100), ended(200, "one", exited(0))]);

test("what had ended stays, what ran has errored, the rest is skipped; no event changes it any more", () => {
  const last = quarantined(PLAN, RUNNING, 300, "why");
  assert.equal(last.status, "errored");
  assert.deepEqual([last.startedAt, last.endedAt], [100, 300]);
  assert.deepEqual(last.failure, { message: "why", types: ["Unknown"] });
  assert.deepEqual(Object.fromEntries(Object.entries(last.nodes).map(([id, { status }]) => [id, status])), {
    pipeline: "errored",
    build: "errored",
    "build.steps": "errored",
    "build.rollback": "skipped",
    one: "succeeded",
    two: "errored",
    three: "skipped",
  });
  assert.equal(last.nodes["two"]?.failure?.message, "why");
  assert.deepEqual(last.nodes["one"], RUNNING.nodes["one"]);
  assert.ok(isState(last));
  const late = step(PLAN, last, ended(400, "two", exited(0)));
  assert.equal(late.state, last);
  assert.deepEqual(late.effects, []);
});

const damaged: readonly unknown[] = [
  null,
  [],
  "running",
  7,
  {},
  { status: "running" },
  { status: "dancing", nodes: {} },
  { status: "running", nodes: [] },
  { status: "running", nodes: { one: null } },
  { status: "running", nodes: { one: { status: "dancing", attempt: 1, outputs: [] } } },
  { status: "running", nodes: { one: { status: "running", attempt: "1", outputs: [] } } },
  { status: "running", nodes: { one: { status: "running", attempt: 1 } } },
];
for (const stored of damaged) {
  test(`no state: ${JSON.stringify(stored)}`, () => {
    assert.equal(isState(stored), false);
    for (const plan of [PLAN, null]) {
      const last = quarantined(plan, stored, 300, "why");
      assert.equal(last.status, "errored");
      assert.ok(isState(last));
      assert.equal(last.nodes["pipeline"]?.status, plan ? "errored" : undefined);
      assert.equal(last.nodes["three"]?.status, plan ? "skipped" : undefined);
    }
  });
}

test("what can be read of a damaged state stays", () => {
  const last = quarantined(PLAN, { ...RUNNING, nodes: { ...RUNNING.nodes, two: 7 } }, 300, "why");
  assert.deepEqual(last.nodes["one"], RUNNING.nodes["one"]);
  assert.equal(last.nodes["two"]?.status, "skipped");
});

test("states of the engine are states, plans are trees of known nodes", () => {
  for (const state of [initialState(PLAN), RUNNING]) assert.ok(isState(state));
  assert.ok(isPlan(PLAN));
  const strange = { ...PLAN.nodes["build"], kind: "hologram" };
  for (const plan of [null, 7, [], {}, { root: "a", nodes: {} }, { ...PLAN, nodes: { ...PLAN.nodes, build: strange } }])
    assert.equal(isPlan(plan), false, JSON.stringify(plan));
});
