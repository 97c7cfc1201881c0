/** The status of an execution that has begun and has not ended. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, FailureAction, FailureStrategy, Plan } from "./model.ts";
import { abort, ended, exited, initial, interrupted, outcomeOf, planOf, started } from "./testing/plans.ts";

const on = (action: FailureAction): readonly FailureStrategy[] => [{ errors: ["AllErrors"], action }];
const INTERVENE: FailureAction = { type: "ManualIntervention", timeoutMs: 1_000, fallback: { type: "MarkAsFailure" } };

const answered = (at: number, node: string): Event => ({ kind: "answered", at, node, answer: null });

/** The status after each of the events. */
const statusesOf = (plan: Plan, ...events: readonly Event[]): readonly string[] =>
  events.map((_, at) => outcomeOf(plan, events.slice(0, at + 1)).state.status);

test("a decision on a failure comes before an approval, both before what runs beside them", () => {
  const steps = [{ id: "a", type: "Pause" }, { id: "b", strategies: on(INTERVENE) }, { id: "c" }] as const;
  const plan = planOf([{ id: "s", steps: [{ parallel: "p", steps }] }]);
  assert.equal(initial(plan).state.status, "queued");
  assert.deepEqual(
    statusesOf(
      plan,
      ...[started(), ended(1, "b", exited(1)), interrupted(2, "Ignore", "b"), answered(3, "a")],
      ended(4, "c", exited(0)),
    ),
    ["approvalWaiting", "interventionWaiting", "approvalWaiting", "running", "ignored"],
  );
});

test("who waits for a lock has that status once nothing else goes on", () => {
  const steps = [{ id: "a", type: "Queue" }, { id: "b" }] as const;
  const plan = planOf([{ id: "s", steps: [{ parallel: "p", steps }] }]);
  const events = [started(), ended(1, "b", exited(0)), answered(2, "a")];
  assert.deepEqual(statusesOf(plan, ...events), ["running", "resourceWaiting", "succeeded"]);
});

test("an abort ends a pause, too: what is being stopped is not about to pause", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a" }] }]);
  const events = [started(), interrupted(1, "Pause"), abort(2)];
  assert.deepEqual(statusesOf(plan, ...events), ["running", "pausing", "running"]);
});
