/** Attempts with several tasks in a row: `Poll` runs one at a time, for three seconds, with pauses of five. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, NodeState } from "./model.ts";
import {
  cancelled,
  ended,
  type Execution,
  exited,
  fired,
  give,
  initial,
  interrupted,
  lost,
  planOf,
  started,
  words,
} from "./testing/plans.ts";

const plan = planOf([{ id: "s", steps: [{ id: "p", type: "Poll" }] }]);

function run(...events: readonly Event[]) {
  let execution: Execution = initial(plan);
  const effects = events.map((event) => {
    const next = give(plan, execution, event);
    execution = next;
    return words(next.effects);
  });
  const node = execution.nodes.get("p") as NodeState;
  return { effects, node, state: execution.state, attempts: node.attempts.length };
}

const wait = (at: number): Event => fired(at, "p", "wait");

test("one attempt has a task after the other, and a pause between them", () => {
  const { effects, node, attempts, state } = run(
    ...[started(), ended(1, "p", exited(1), 1), wait(5_001), ended(5_002, "p", exited(0), 2)],
  );
  assert.deepEqual(effects, [
    ["enqueueTask p", "startTimer p wait", "startTimer p"],
    ["stopTimer p wait", "startTimer p wait"],
    ["enqueueTask p", "startTimer p wait"],
    ["stopTimer p wait", "stopTimer p", "endExecution succeeded"],
  ]);
  assert.deepEqual([attempts, node.tasks, node.attempts[0]?.task, state.status], [1, 2, 2, "succeeded"]);
  const paused = run(started(), ended(1, "p", exited(1), 1));
  assert.deepEqual([paused.node.status, paused.node.reason?.kind], ["waiting", "approval"]);
});

test("a task whose time is up is stopped, and the attempt goes on", () => {
  const overdue = [started(), wait(3_000)];
  const stopped = run(...overdue);
  assert.deepEqual(stopped.effects[1], ["cancelTask p"]);
  assert.deepEqual([stopped.node.status, stopped.node.stopping], ["running", null]);
  for (const outcome of [cancelled(), exited(143)]) {
    const { effects, node } = run(...overdue, ended(3_100, "p", outcome, 1));
    assert.deepEqual([effects[2], node.status], [["startTimer p wait"], "waiting"]);
  }
  // It ended well before it was asked to end.
  assert.equal(run(...overdue, ended(3_100, "p", exited(0), 1)).state.status, "succeeded");
  const { effects } = run(...overdue, ended(3_100, "p", cancelled(), 1), wait(8_100));
  assert.deepEqual(effects[3], ["enqueueTask p", "startTimer p wait"]);
});

test("a lost task is followed by another one", () => {
  const { effects, node } = run(started(), ended(1, "p", lost(), 1), wait(5_001));
  assert.deepEqual([effects[2], node.status], [["enqueueTask p", "startTimer p wait"], "running"]);
});

test("timeout and abort end the attempt in each of its phases", () => {
  const phases: readonly (readonly Event[])[] = [
    [started()],
    [started(), wait(3_000)],
    [started(), ended(1, "p", exited(1), 1)],
    [started(), ended(1, "p", exited(1), 1), wait(5_001)],
  ];
  for (const events of phases) {
    const { node: before } = run(...events);
    const isRunning = before.status === "running";
    for (const [stop, status] of [
      [fired(9_000, "p"), "expired"],
      [interrupted(9_000, "Abort", "p"), "aborted"],
    ] as const) {
      const end = isRunning ? [ended(9_001, "p", cancelled(), before.tasks)] : [];
      const { node, state } = run(...events, stop, ...end);
      assert.deepEqual([node.status, node.attempts[0]?.waitsFor], [status, []], `${status} after ${events.length}`);
      assert.ok(state.endedAt !== null);
    }
  }
});
