/** What steps that begin at the same time may cost together: all of it is computed at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
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

test("the values of steps that begin at the same time have a limit, which names maxConcurrency", () => {
  const { count, message } = begun("<+trigger.text>", { trigger: { text: "x".repeat(250_000) } });
  assert.equal(count, Math.floor((64 * 1024 * 1024) / 250_000));
  assert.match(message ?? "", /begins at the same time \(maxConcurrency limits it\) have more than 67108864 bytes/);
});

test("so does the work that they take", () => {
  const text = JSON.stringify(Array.from({ length: 20_000 }, () => 1.5));
  const { count, message } = begun('<+json.select("[7]", trigger.text)>', { trigger: { text } });
  assert.ok(count > 50 && count < STEPS, String(count));
  assert.match(message ?? "", /begins at the same time \(maxConcurrency limits it\) together take too many steps/);
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
