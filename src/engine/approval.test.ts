/** `<+approval.…>`: the last approval before the node that reads it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ExpressionError } from "./expression/error.ts";
import { evaluateTemplate } from "./expression/template.ts";
import type { Event, Plan } from "./model.ts";
import { scopeFor } from "./scope.ts";
import { ended, type Execution, exited, give, initial, type ItemSketch, planOf, started } from "./testing/plans.ts";

const NAME = "<+approval.approvalActivities[0].user.name>";
const asks = (id: string): ItemSketch => ({ id, type: "Pause" });
const approved = (at: number, node: string): Event => ({ kind: "answered", at, node, answer: `by ${node}` });

function after(plan: Plan, ...events: readonly Event[]): Execution {
  let execution: Execution = initial(plan);
  for (const event of events) execution = give(plan, execution, event);
  return execution;
}

const read = (plan: Plan, { nodes }: Execution, id: string): string =>
  evaluateTemplate(
    NAME,
    scopeFor(plan, (node) => nodes.get(node), id),
  );

test("a step reads the last approval before it, also of a group or an earlier stage", () => {
  const plan = planOf([
    { id: "s", steps: [asks("a"), { group: "g", steps: [asks("b"), { id: "x" }] }, { id: "y" }] },
    { id: "t", steps: [{ id: "z" }] },
  ]);
  const first = [started(), approved(1, "a"), approved(2, "b")];
  const all = [...first, ended(3, "x", exited(0)), ended(4, "y", exited(0))];
  const execution = after(plan, ...all);
  assert.deepEqual(
    ["b", "x", "y", "z"].map((id) => read(plan, execution, id)),
    ["by a", "by b", "by b", "by b"],
  );
});

test("what stands beside a step in a parallel list does not come before it", () => {
  const plan = planOf([{ id: "s", steps: [asks("a"), { parallel: "p", steps: [asks("b"), { id: "x" }] }] }]);
  const execution = after(plan, started(), approved(1, "a"), approved(2, "b"));
  assert.equal(read(plan, execution, "x"), "by a");
});

test("without an approval there are no activities", () => {
  const plan = planOf([{ id: "s", steps: [asks("a"), { id: "x" }] }]);
  const message = /approval\.approvalActivities is a list of 0 and has no \[0\]/;
  assert.throws(
    () => read(plan, after(plan, started()), "x"),
    (error) => error instanceof ExpressionError && message.test(error.message),
  );
});
