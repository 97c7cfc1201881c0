/** Timeouts that are expressions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Effect, Plan } from "./model.ts";
import { ended, type Execution, exited, fired, give, initial, planOf, started } from "./testing/plans.ts";

const LIMIT = '<+pipeline.name == "P" ? "2m" : "1h">';

const begun = (plan: Plan) => give(plan, initial(plan), started(1_000));
const at = ({ nodes }: Execution, path: string) => [...nodes.values()].find((node) => node.path === path);
const timers = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.kind === "startTimer" ? [[effect.node, effect.at] as const] : []));

test("they are evaluated when the pipeline, a stage, a group or a step starts", () => {
  const steps = [{ group: "g", timeout: LIMIT, steps: [{ id: "a", timeout: LIMIT }] }];
  const plan = planOf([{ id: "s", timeout: LIMIT, steps }], {}, { timeout: LIMIT });
  const { effects } = begun(plan);
  assert.deepEqual(new Map(timers(effects)), new Map(["pipeline", "s", "g", "a"].map((id) => [id, 121_000])));
});

test("a step reads the output of one before it, and says how long it had", () => {
  const plan = planOf([
    { id: "s", steps: [{ id: "a" }, { id: "b", timeout: "<+steps.a.output.outputVariables.limit>" }] },
  ]);
  const second = give(plan, begun(plan), ended(2_000, "a", exited(0, { limit: "1m 30s" })));
  assert.deepEqual(timers(second.effects), [["b", 92_000]]);
  const expired = give(
    plan,
    give(plan, second, fired(92_000, "b")),
    ended(92_500, "b", { kind: "cancelled", survivors: 0 }),
  );
  assert.equal(at(expired, "p/s/steps/b")?.failure?.message, "Step 'Step b' did not end within its timeout of 90 s");
});

test("a stage says how long it had", () => {
  const plan = planOf([{ id: "s", timeout: LIMIT, steps: [{ id: "a" }] }]);
  const stopped = give(plan, begun(plan), fired(121_000, "s"));
  const expired = give(plan, stopped, ended(121_500, "a", { kind: "cancelled", survivors: 0 }));
  assert.equal(at(expired, "p/s")?.failure?.message, "Stage 's' did not end within its timeout of 120 s");
});

test("an empty text is the default, and each iteration has its own", () => {
  const loop = { strategy: { type: "items", items: ["1m", ""] }, onFailure: "RunAll" } as const;
  const plan = planOf([{ id: "s", steps: [{ id: "a", timeout: "<+repeat.item>", loop }] }]);
  const { effects } = begun(plan);
  assert.deepEqual(
    timers(effects).map(([, time]) => time),
    [61_000, 601_000],
  );
});

for (const [what, value] of [
  ["no time", "soon"],
  ["too short", "5s"],
  ["too long", "54w"],
] as const)
  for (const kind of ["step", "group", "stage", "pipeline"] as const)
    test(`${what}: the ${kind} fails before anything runs`, () => {
      const timeout = { timeout: `<+"${value}">` };
      const steps = [
        { group: "g", steps: [{ id: "a", ...(kind === "step" && timeout) }], ...(kind === "group" && timeout) },
      ];
      const plan = planOf(
        [{ id: "s", steps, ...(kind === "stage" && timeout) }],
        {},
        kind === "pipeline" ? timeout : {},
      );
      const { state, effects } = begun(plan);
      assert.equal(state.status, "failed");
      assert.match(state.failure?.message ?? "", new RegExp(`has come to '${value}'\\. A timeout is written like 10m`));
      assert.deepEqual(
        effects.filter((effect) => effect.kind === "enqueueTask"),
        [],
      );
    });

test("a failure strategy can retry a step whose timeout could not be evaluated", () => {
  const action = { type: "Retry", count: 1, intervals: [], fallback: { type: "Ignore" } } as const;
  const plan = planOf([
    {
      id: "s",
      steps: [
        { id: "a", timeout: "<+pipeline.nothing>", strategies: [{ errors: ["AllErrors"], action }] },
        { id: "b" },
      ],
    },
  ]);
  const after = begun(plan);
  assert.deepEqual([at(after, "p/s/steps/a")?.status, at(after, "p/s/steps/a")?.attempts.length], ["ignored", 2]);
  assert.equal(at(after, "p/s/steps/b")?.status, "running");
});
