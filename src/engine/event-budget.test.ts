/** What steps that begin at the same time may cost together: all of it is computed at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Effect, Json, Plan } from "./model.ts";
import {
  ended,
  type Execution,
  exited,
  give,
  initial,
  interrupted,
  planOf,
  type StageSketch,
  started,
} from "./testing/plans.ts";

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

const HEAVY = JSON.stringify(Array.from({ length: 20_000 }, () => 1.5));

/**
 * A stage whose second step is repeated and always skipped: its conditions use up what the expressions of one event may
 * cost.
 */
function heavyStage(id: string): StageSketch {
  const expression = Array.from({ length: 4 }, () => '<+json.select("[7]", trigger.text)> == 2').join(" || ");
  const when = { status: "Success", expression } as const;
  const loop = { strategy: { type: "times", times: 200 }, maxConcurrency: 1, onFailure: "SkipQueued" } as const;
  const env = [["A", "<+pipeline.name>"]] as const;
  const steps = [{ id: `${id}First` }, { id: `${id}Step`, when, loop }];
  return { id, steps, rollback: [{ id: `undo${id}`, env }], rollsBack: true };
}

/** The event in which the second steps of all stages begin. */
function resumed(plan: Plan, ...stages: readonly string[]): Execution & { readonly effects: readonly Effect[] } {
  let execution: Execution = initial(plan);
  const ends = stages.map((id) => ended(2, `${id}First`, exited(0)));
  for (const event of [started(), interrupted(1, "Pause"), ...ends]) execution = give(plan, execution, event);
  return give(plan, execution, interrupted(3, "Resume"));
}

const tasksOf = (effects: readonly Effect[]): readonly string[] =>
  effects.flatMap((one) => (one.kind === "enqueueTask" ? [one.node] : []));

test("what undoes a stage runs although the conditions of skipped iterations have used up the budget", () => {
  const plan = planOf([heavyStage("A")], { trigger: { text: HEAVY } });
  const { nodes, effects } = resumed(plan, "A");
  const failed = nodes.values().find(({ failure }) => failure !== null);
  assert.match(failed?.failure?.message ?? "", /together take too many steps/);
  assert.deepEqual(tasksOf(effects), ["undoA"]);
});

test("so do the rollbacks of several stages in one event: what begins between them spends another budget", () => {
  const stages = ["A", "B", "C"].map(heavyStage);
  const plan = planOf([{ parallel: "all", stages }], { trigger: { text: HEAVY } });
  const { effects } = resumed(plan, "A", "B", "C");
  assert.deepEqual(tasksOf(effects), ["undoA", "undoB", "undoC"]);
});

test("the rollbacks of one event have a limit together, too", () => {
  const rollback = Array.from({ length: 400 }, (_, nth) => ({
    id: `undo${nth}`,
    env: [["A", "<+trigger.text>"]] as const,
    when: { status: "All", expression: '<+json.select("[7]", trigger.text)> == 2' } as const,
  }));
  const plan = planOf([{ ...heavyStage("A"), rollback }], { trigger: { text: HEAVY } });
  const { nodes, effects } = resumed(plan, "A");
  assert.deepEqual(tasksOf(effects), []);
  const failed = nodes.values().find(({ definition, status }) => definition.startsWith("undo") && status === "failed");
  assert.match(failed?.failure?.message ?? "", /together take too many steps/);
});
