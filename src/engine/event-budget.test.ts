/** What steps that begin at the same time may cost together: all of it is computed at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { newEventBudget, renewBudget, spend } from "./expression/budget.ts";
import { MAX_EVENT_BYTES } from "./expression/limits.ts";
import type { Json } from "./model.ts";
import { give, initial, planOf, started } from "./testing/plans.ts";

const STEPS = 400;

/** How many of the steps have begun, and what the others say. */
function begun(expression: string, context: { readonly [key: string]: Json }) {
  const steps = Array.from({ length: STEPS }, (_, nth) => ({ id: `a${nth}`, env: [["A", expression]] as const }));
  const plan = planOf([{ id: "s", steps: [{ parallel: "p", steps }] }], context);
  const { nodes, effects } = give(plan, initial(plan), started());
  const failed = nodes.values().find(({ definition, status }) => definition.startsWith("a") && status === "failed");
  return { count: effects.filter(({ kind }) => kind === "enqueueTask").length, message: failed?.failure?.message };
}

test("the values of steps that begin at the same time have a limit", () => {
  const { count, message } = begun("<+trigger.text>", { trigger: { text: "x".repeat(250_000) } });
  assert.equal(count, Math.floor((64 * 1024 * 1024) / 250_000));
  assert.match(message ?? "", /begins at the same time have more than 67108864 bytes/);
});

test("so does the work that they take", () => {
  const text = JSON.stringify(Array.from({ length: 20_000 }, () => 1.5));
  const { count, message } = begun('<+json.select("[7]", trigger.text)>', { trigger: { text } });
  assert.ok(count > 50 && count < STEPS, String(count));
  assert.match(message ?? "", /begins at the same time together take too many steps/);
});

test("what most steps cost is far below it", () => {
  assert.deepEqual(
    begun('<+pipeline.name> <+trigger.ref.replace("/", "-")>', { trigger: { ref: "refs/heads/main" } }),
    {
      count: STEPS,
      message: undefined,
    },
  );
});

test("what undoes a stage runs although the conditions of skipped iterations have used up the budget", () => {
  const text = JSON.stringify(Array.from({ length: 20_000 }, () => 1.5));
  const expression = Array.from({ length: 4 }, () => '<+json.select("[7]", trigger.text)> == 2').join(" || ");
  const when = { status: "Success", expression } as const;
  const loop = { strategy: { type: "times", times: 200 }, maxConcurrency: 1, onFailure: "SkipQueued" } as const;
  const env = [["A", "<+pipeline.name>"]] as const;
  const steps = [{ id: "a", when, loop }];
  const plan = planOf([{ id: "s", steps, rollback: [{ id: "undo", env }], rollsBack: true }], { trigger: { text } });
  const { nodes, effects } = give(plan, initial(plan), started());
  const failed = nodes.values().find(({ failure }) => failure !== null);
  assert.match(failed?.failure?.message ?? "", /together take too many steps/);
  assert.deepEqual(
    effects.flatMap((one) => (one.kind === "enqueueTask" ? [one.node] : [])),
    ["undo"],
  );
});

test("an event renews its budget once", () => {
  const budget = newEventBudget();
  assert.throws(() => spend(budget, MAX_EVENT_BYTES + 1, 0));
  renewBudget(budget);
  spend(budget, MAX_EVENT_BYTES, 0);
  renewBudget(budget);
  assert.throws(() => spend(budget, 1, 0));
});
