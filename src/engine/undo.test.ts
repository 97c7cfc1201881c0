/** What a rollback undoes: what has begun, in this try or in an earlier one, and nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withChained } from "./chain.ts";
import type { Event, FailureAction, Json, Plan } from "./model.ts";
import { type At, on, retryThen, run } from "./testing/by-path.ts";
import { cancelled, ended, exited, fired, interrupted, planOf, type StageSketch, started } from "./testing/plans.ts";

const granted =
  (time: number, path: string) =>
  (at: At): Event => ({ kind: "answered", at: time, node: at(path).id, answer: null });

const LOCKED = { id: "s", lock: "prod", steps: [{ id: "a" }], rollback: [{ id: "undo" }] } as const;

/** A pipeline of one stage that runs another pipeline, and is tried again. */
const chainOf = (
  stages: readonly StageSketch[],
  action: FailureAction,
  context: { readonly [key: string]: Json } = {},
): Plan =>
  withChained(planOf([{ id: "chain", steps: [], strategies: [on("AllErrors", action)] }]), "chain", {
    child: planOf(stages, context, { root: "inner" }),
  });

/** A pipeline whose stage `s` has deployed before `t` fails; it is tried again, and `s` waits for its lock. */
function chainedTwice(s: Partial<StageSketch>, fallback: FailureAction): Plan {
  const { lock: _, ...free } = LOCKED;
  const stages = [
    { ...(s.asks ? free : LOCKED), timeoutMs: 50, ...s },
    { id: "t", steps: [{ id: "b" }] },
  ];
  const outer = planOf([{ id: "chain", steps: [], strategies: [on("AllErrors", retryThen(fallback))] }]);
  return withChained(outer, "chain", { child: planOf(stages, {}, { root: "inner" }) });
}

const DEPLOYED = [started(), granted(1, "p/chain/p/s"), ended(2, "a", exited(0)), ended(3, "b", exited(1))] as const;
const again = "p/chain@2/p/s";

test("a stage that an earlier try of its pipeline has run is undone with its lock", () => {
  const plan = chainedTwice({}, { type: "PipelineRollback" });
  const expired = (at: At): Event => fired(60, at(again).id);
  const { effects, state } = run(plan, ...DEPLOYED, expired);
  const undo = "p/rollbackSteps(p/chain/p/s)";
  assert.deepEqual(effects.at(-1), [`withdrawRequest ${again}`, `releaseLocks ${again}`, `sendRequest ${undo}`]);
  assert.equal(state.status, "resourceWaiting");
  const after = run(plan, ...DEPLOYED, expired, granted(61, undo));
  assert.ok(after.effects.at(-1)?.includes(`enqueueTask ${undo}/undo`));
});

for (const decided of [false, true])
  test(`so is one that undoes itself${decided ? " after a decision" : ""}: it asks for the lock that it has not got`, () => {
    const rolls = { type: "StageRollback" } as const;
    const asks = { type: "ManualIntervention", timeoutMs: 10, fallback: rolls } as const;
    const s = { strategies: [on("Timeout", decided ? asks : rolls)] };
    const plan = chainedTwice(s, { type: "MarkAsFailure" });
    const undo = `${again}/rollbackSteps`;
    const events = [
      ...[...DEPLOYED, (at: At) => fired(60, at(again).id)],
      ...(decided ? [(at: At) => fired(70, at(again).id, "intervention")] : []),
    ];
    const { effects, at } = run(plan, ...events);
    assert.deepEqual(effects.at(-1)?.slice(-2), [`releaseLocks ${again}`, `sendRequest ${undo}`]);
    assert.deepEqual([at(again).status, at(again).reason, at(undo).status], ["running", null, "waiting"]);
    const after = run(plan, ...events, granted(71, undo));
    assert.deepEqual(after.effects.at(-1), [`enqueueTask ${undo}/undo`, `startTimer ${undo}/undo`]);
  });

const triesAgain = { ...LOCKED, strategies: [on("Timeout", retryThen({ type: "StageRollback" }))], timeoutMs: 50 };
const GRANTED: Event = { kind: "answered", at: 1, node: "s", answer: null };
const TRIED = [started(), GRANTED, fired(50, "s"), ended(51, "a", cancelled())] as const;

test("a stage whose earlier try has run a step is undone, with the lock of that try", () => {
  const { effects } = run(planOf([triesAgain]), ...TRIED, fired(101, "s"));
  const undo = "p/s@2/rollbackSteps/undo";
  assert.deepEqual(effects.slice(-2), [
    ["startTimer p/s", "sendRequest p/s"],
    ["withdrawRequest p/s", `enqueueTask ${undo}`, `startTimer ${undo}`],
  ]);
});

test("a stage whose tries have all waited for the lock has nothing to undo", () => {
  const { effects, state } = run(planOf([triesAgain]), started(), fired(50, "s"), fired(100, "s"));
  assert.deepEqual(effects.at(-1), ["withdrawRequest p/s", "releaseLocks p/s", "endExecution failed"]);
  assert.equal(state.status, "failed");
});

test("a rollback of the pipeline undoes it, too, after it was aborted there", () => {
  const other = { id: "t", steps: [{ id: "b" }], rollback: [{ id: "undoT" }] } as const;
  const rolls = [on("AllErrors", { type: "PipelineRollback" })];
  const plan = planOf([{ parallel: "par", stages: [triesAgain, { ...other, strategies: rolls }] }]);
  const { at } = run(plan, ...TRIED, interrupted(60, "Abort", "s"), ended(61, "b", exited(1)));
  assert.deepEqual(at("p").progress?.undo, ["t", "s"]);
});

test("a stage whose time is up in a pause, before anything of it has begun, has nothing to undo", () => {
  const strategies = [on("Timeout", { type: "StageRollback" })];
  const stage = { id: "s", asks: [{ key: "k" }], timeoutMs: 50, strategies, steps: [{ id: "a" }] };
  const { effects, state } = run(
    planOf([{ ...stage, rollback: [{ id: "undo" }] }]),
    ...[started(), interrupted(1, "Pause")],
    { kind: "inputSubmitted", at: 2, node: "s", values: { k: "x" } },
    ...[fired(50, "s"), interrupted(51, "Resume")],
  );
  assert.deepEqual(effects.slice(1), [[], [], ["endExecution failed"], []]);
  assert.equal(state.status, "failed");
});

test("a stage that rolls back in a pause runs again, and what undoes it waits", () => {
  const { at, effects } = run(planOf([triesAgain]), ...TRIED, interrupted(60, "Pause"), fired(101, "s"));
  const [stage, undo] = [at("p/s"), at("p/s@2/rollbackSteps")];
  assert.deepEqual([stage.status, stage.reason, undo.status], ["running", null, "paused"]);
  assert.deepEqual(effects.at(-1), ["withdrawRequest p/s"]);
});

test("a stage that no try of its pipeline has brought past its lock has nothing to undo", () => {
  const plan = chainedTwice({}, { type: "PipelineRollback" });
  const waits = (time: number, path: string) => (at: At) => fired(time, at(path).id);
  const { effects, state } = run(plan, started(), waits(50, "p/chain/p/s"), waits(100, again));
  assert.deepEqual(effects.at(-1), [`withdrawRequest ${again}`, `releaseLocks ${again}`, "endExecution failed"]);
  assert.equal(state.status, "failed");
});

test("what an earlier try has undone is not undone again", () => {
  const strategies = [on("AllErrors", { type: "StageRollback" })];
  for (const fallback of ["PipelineRollback", "MarkAsFailure"] as const) {
    const plan = chainedTwice({ strategies }, { type: fallback });
    const { effects } = run(
      plan,
      ...[started(), granted(1, "p/chain/p/s"), ended(2, "a", exited(1))],
      (at) => ended(3, at("p/chain/p/s/rollbackSteps/undo").id, exited(0)),
      (at) => fired(60, at(again).id),
    );
    assert.deepEqual(effects.at(-1), [`withdrawRequest ${again}`, `releaseLocks ${again}`, "endExecution failed"]);
  }
});

test("a stage that waits for its inputs in a later try is undone as the earlier one has left it", () => {
  const plan = chainedTwice({ asks: [{ key: "k" }] }, { type: "PipelineRollback" });
  const submit = (at: At): Event => {
    return { kind: "inputSubmitted", at: 1, node: at("p/chain/p/s").id, values: { k: "x" } };
  };
  const events = [started(), submit, ended(2, "a", exited(0)), ended(3, "b", exited(1))];
  const { effects } = run(plan, ...events, (at) => fired(60, at(again).id));
  assert.ok(
    effects.at(-1)?.some((one) => /^enqueueTask .*\/undo$/.test(one)),
    String(effects.at(-1)),
  );
});

test("a stage that the last try has not reached is undone, too", () => {
  const stages = [
    { id: "q", steps: [{ id: "first" }] },
    { id: "s", steps: [{ id: "a" }], rollback: [{ id: "undo" }] },
    { id: "t", steps: [{ id: "b" }] },
  ];
  const outer = planOf([
    { id: "chain", steps: [], strategies: [on("AllErrors", retryThen({ type: "PipelineRollback" }))] },
  ]);
  const plan = withChained(outer, "chain", { child: planOf(stages, {}, { root: "inner" }) });
  const { effects } = run(
    plan,
    ...[started(), ended(1, "first", exited(0)), ended(2, "a", exited(0)), ended(3, "b", exited(1))],
    (at) => ended(4, at("p/chain@2/p/q/steps/first").id, exited(1)),
  );
  assert.deepEqual(effects.at(-1)?.slice(-2), [
    "enqueueTask p/rollbackSteps(p/chain/p/s)/undo",
    "startTimer p/rollbackSteps(p/chain/p/s)/undo",
  ]);
});

test("a stage that gets its lock in a pause and whose time is up before its steps has nothing to undo", () => {
  const stage = { ...LOCKED, strategies: [on("Timeout", { type: "StageRollback" })], timeoutMs: 50 };
  const { effects, state } = run(
    planOf([stage]),
    ...[started(), interrupted(1, "Pause"), { ...GRANTED, at: 2 }, fired(50, "s"), interrupted(51, "Resume")],
  );
  assert.equal(state.status, "failed");
  assert.ok(!effects.flat().some((one) => one.includes("undo")), String(effects));
});

test("a stage that its chained pipeline has undone is not undone again by the pipeline around it", () => {
  const rolls = [on("AllErrors", { type: "PipelineRollback" })];
  const stages = [
    { ...LOCKED, timeoutMs: 50 },
    { id: "t", steps: [{ id: "b" }], strategies: rolls },
  ];
  const strategies = [on("AllErrors", retryThen({ type: "PipelineRollback" }))];
  const outer = planOf([{ id: "chain", steps: [], strategies }]);
  const plan = withChained(outer, "chain", { child: planOf(stages, {}, { root: "inner" }) });
  const undo = "p/chain/p/rollbackSteps(p/chain/p/s)";
  const { effects } = run(
    plan,
    ...[...DEPLOYED, granted(4, undo)],
    (at) => ended(5, at(`${undo}/undo`).id, exited(0)),
    (at) => fired(60, at(again).id),
  );
  assert.ok(effects.at(-2)?.includes(`sendRequest ${again}`), String(effects.at(-2)));
  assert.deepEqual(effects.at(-1), [`withdrawRequest ${again}`, `releaseLocks ${again}`, "endExecution failed"]);
});

test("a group in a stage that was undone has nothing to undo before it acts again", () => {
  const rollsGroup = [on("AllErrors", { type: "StepGroupRollback" })];
  const group = {
    group: "g",
    steps: [{ id: "a" }],
    rollback: [{ id: "undoG" }],
    timeoutMs: 50,
    strategies: rollsGroup,
  };
  const asking = { ...group, asks: [{ key: "k" }] };
  const rolls = [on("ApplicationError", { type: "StageRollback" })];
  const steps = [{ id: "pre" }, asking, { id: "b" }];
  const stage = { id: "s", steps, rollback: [{ id: "undo" }], strategies: rolls };
  const plan = chainOf([stage], retryThen({ type: "MarkAsFailure" }));
  const { effects } = run(
    plan,
    ...[started(), ended(1, "pre", exited(0))],
    (at) => ({ kind: "inputSubmitted", at: 1, node: at("p/chain/p/s/steps/g").id, values: { k: "x" } }),
    ...[ended(2, "a", exited(0)), ended(3, "b", exited(1))],
    (at) => ended(4, at("p/chain/p/s/rollbackSteps/undo").id, exited(0)),
    (at) => ended(5, at("p/chain@2/p/s/steps/pre").id, exited(0)),
    (at) => fired(60, at("p/chain@2/p/s/steps/g").id),
  );
  const asked = effects.slice(-1).flat();
  // The stage has acted again, the group has not.
  assert.ok(!asked.some((one) => one.includes("undoG")), String(asked));
});

test("what one try has undone of an earlier one is not undone by a third", () => {
  const stages = [
    { id: "q", steps: [{ id: "first" }], strategies: [on("AllErrors", { type: "PipelineRollback" })] },
    { id: "s", steps: [{ id: "a" }], rollback: [{ id: "undo" }] },
    { id: "t", steps: [{ id: "b" }] },
  ];
  const plan = chainOf(stages, { type: "Retry", count: 2, intervals: [], fallback: { type: "PipelineRollback" } });
  const undo = "p/chain@2/p/rollbackSteps(p/chain/p/s)/undo";
  const { effects, state } = run(
    plan,
    ...[started(), ended(1, "first", exited(0)), ended(2, "a", exited(0)), ended(3, "b", exited(1))],
    (at) => ended(4, at("p/chain@2/p/q/steps/first").id, exited(1)),
    (at) => ended(5, at(undo).id, exited(0)),
    (at) => ended(6, at("p/chain@3/p/q/steps/first").id, exited(1)),
  );
  assert.ok(effects.at(-3)?.includes(`enqueueTask ${undo}`), String(effects.at(-3)));
  assert.ok(!effects.at(-1)?.some((one) => one.includes("undo")), String(effects.at(-1)));
  assert.equal(state.status, "failed");
});

test("iterations that the last try has not come to are undone, too", () => {
  const loop = { strategy: { type: "items", items: "<+pipeline.variables.all>" }, maxConcurrency: 1 } as const;
  const stages = [
    { id: "s", steps: [{ id: "a" }], rollback: [{ id: "undo" }], loop: { ...loop, onFailure: "SkipQueued" } as const },
    { id: "t", steps: [{ id: "b" }] },
  ];
  const plan = chainOf(stages, retryThen({ type: "PipelineRollback" }), {
    pipeline: { name: "P", variables: { all: "x,y" } },
  });
  const { effects } = run(
    plan,
    ...[started()],
    (at) => ended(1, at("p/chain/p/s/s[0]/steps/a").id, exited(0)),
    (at) => ended(2, at("p/chain/p/s/s[1]/steps/a").id, exited(0)),
    ...[ended(3, "b", exited(1))],
    (at) => ended(4, at("p/chain@2/p/s/s[0]/steps/a").id, exited(1)),
    (at) => ended(5, at("p/rollbackSteps(p/chain@2/p/s/s[0])[0]/undo").id, exited(0)),
  );
  assert.deepEqual(
    effects.slice(-2).map((all) => all.filter((one) => one.startsWith("enqueueTask"))),
    [
      ["enqueueTask p/rollbackSteps(p/chain@2/p/s/s[0])[0]/undo"],
      ["enqueueTask p/rollbackSteps(p/chain/p/s/s[1])[1]/undo"],
    ],
  );
});

for (const type of ["StageRollback", "PipelineRollback", "StepGroupRollback"] as const)
  test(`steps of a rollback run on the condition of a failure: ${type}`, () => {
    const rollback = [{ id: "undo", when: { status: "Failure" } }] as const;
    const undone = { rollback, strategies: [on("AllErrors", { type })] };
    const inner = { group: "g", steps: [{ id: "a" }], ...(type === "StepGroupRollback" && undone) };
    const plan = planOf([{ id: "s", steps: [inner], ...(type !== "StepGroupRollback" && undone) }]);
    const { effects } = run(plan, started(), ended(1, "a", exited(1)));
    assert.match(effects.at(-1)?.join() ?? "", /enqueueTask p\/.*rollbackSteps.*\/undo/);
  });
