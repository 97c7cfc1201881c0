/** Rollbacks that were cut off or begun late, and those of executions that are retried. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withChained } from "./chain.ts";
import type { NodeState, Plan } from "./model.ts";
import { nodesToReuse, withDefinitionsOf } from "./retry.ts";
import { on, retryThen, run } from "./testing/by-path.ts";
import { cancelled, ended, exited, fired, planOf, type StageSketch, started } from "./testing/plans.ts";

const rolls = [on("AllErrors", { type: "PipelineRollback" })];

/** A stage that runs a pipeline, and another after it. */
const chained = (
  inner: readonly StageSketch[],
  chain: Partial<StageSketch>,
  after: readonly StageSketch[] = [],
): Plan =>
  withChained(planOf([{ id: "chain", steps: [], ...chain }, ...after]), "chain", {
    child: planOf(inner, {}, { root: "inner" }),
  });

const tasksOf = (effects: readonly (readonly string[])[]): readonly string[] =>
  effects.flat().filter((one) => one.startsWith("enqueueTask") && one.includes("rollbackSteps"));

const DEPLOYS = [
  { id: "s1", steps: [{ id: "a1" }], rollback: [{ id: "u1" }] },
  { id: "s2", steps: [{ id: "a2" }], rollback: [{ id: "u2" }] },
] as const;

test("what a rollback had still to undo when the time of its pipeline was up is undone by the pipeline around it", () => {
  const plan = chained([...DEPLOYS, { id: "t", steps: [{ id: "b" }], strategies: rolls }], {
    timeoutMs: 100,
    strategies: rolls,
  });
  const { at, effects } = run(
    plan,
    ...[started(), ended(1, "a1", exited(0)), ended(2, "a2", exited(0)), ended(3, "b", exited(1)), fired(100, "chain")],
    (by) => ended(101, by("p/chain/p/rollbackSteps(p/chain/p/s2)/u2").id, cancelled()),
  );
  // The rollback of s2 has begun, and is not begun again.
  assert.deepEqual(at("p").progress?.undo, ["s1"]);
  assert.deepEqual(effects.at(-1)?.slice(-2), [
    "enqueueTask p/rollbackSteps(p/chain/p/s1)/u1",
    "startTimer p/rollbackSteps(p/chain/p/s1)/u1",
  ]);
});

test("a stage whose rollback was stopped while it waited for the lock is undone by the pipeline around it", () => {
  const strategies = [on("Timeout", { type: "StageRollback" })];
  const stage = { id: "s", lock: "prod", steps: [{ id: "a" }], rollback: [{ id: "undo" }], timeoutMs: 50, strategies };
  const plan = chained([stage, { id: "t", steps: [{ id: "b" }] }], {
    timeoutMs: 100,
    strategies: [on("AllErrors", retryThen({ type: "PipelineRollback" }))],
  });
  const { at, effects } = run(
    plan,
    ...[started(), { kind: "answered", at: 1, node: "s", answer: null } as const],
    ...[ended(2, "a", exited(0)), ended(3, "b", exited(1))],
    (by) => fired(60, by("p/chain@2/p/s").id),
    (by) => fired(110, by("p/chain").id),
  );
  assert.deepEqual(effects.at(-2)?.at(-1), "sendRequest p/chain@2/p/s/rollbackSteps");
  assert.ok(at("p").progress?.undo?.includes(at("p/chain/p/s").id));
  assert.deepEqual(effects.at(-1)?.at(-1), "sendRequest p/rollbackSteps(p/chain/p/s)");
});

for (const isCondition of [true, false])
  test(`a stage whose ${isCondition ? "condition" : "name"} cannot be evaluated in a later try is undone by StageRollback`, () => {
    const expression = "<+pipeline.stages.first.spec.execution.steps.f.output.outputVariables.go> == 'yes'";
    const strategies = [on("AllErrors", { type: "StageRollback" })];
    const nodeName = "<+pipeline.stages.first.spec.execution.steps.f.output.outputVariables.go>";
    const stage: StageSketch = {
      ...{ id: "s", steps: [{ id: "a" }], rollback: [{ id: "undo" }], strategies },
      ...(isCondition
        ? { when: { status: "Success", expression } }
        : { loop: { strategy: { type: "times", times: 1, nodeName }, onFailure: "RunAll" } }),
    };
    const inner = [{ id: "first", steps: [{ id: "f" }] }, stage, { id: "t", steps: [{ id: "b" }] }];
    const plan = chained(inner, { strategies: [on("AllErrors", retryThen({ type: "MarkAsFailure" }))] });
    const path = isCondition ? "p/chain@2/p/s" : "p/chain@2/p/s/s[0]";
    const { at, effects, state } = run(
      plan,
      ...[started(), ended(1, "f", exited(0, { go: "yes" }))],
      (by) => ended(2, by(isCondition ? "p/chain/p/s/steps/a" : "p/chain/p/s/s[0]/steps/a").id, exited(0)),
      ended(3, "b", exited(1)),
      (by) => ended(4, by("p/chain@2/p/first/steps/f").id, exited(0)),
      (by) => ended(5, by(`${path}/rollbackSteps/undo`).id, exited(0)),
    );
    assert.deepEqual(tasksOf(effects), [`enqueueTask ${path}/rollbackSteps/undo`]);
    assert.match(at(path).failure?.message ?? "", /go/);
    assert.deepEqual([at(path).status, state.status], ["failed", "failed"]);
  });

const reusedIn = (plan: Plan, nodes: ReadonlyMap<string, NodeState>): readonly NodeState[] => {
  const reused = nodesToReuse({ plan, nodes }, { stages: [], failedOnly: false });
  if ("fault" in reused) assert.fail(reused.fault);
  return reused;
};

test("a reused stage that an earlier version has run is undone", () => {
  const plan = planOf([
    { id: "s", steps: [{ id: "a" }], rollback: [{ id: "undo" }] },
    { id: "t", steps: [{ id: "b" }], strategies: [on("ApplicationError", { type: "PipelineRollback" })] },
  ]);
  const { nodes } = run(plan, started(), ended(1, "a", exited(0)), ended(2, "b", { kind: "cancelled", survivors: 0 }));
  const former = new Map([...nodes].map(([id, { hasActed: _, ...node }]) => [id, node]));
  const { at } = run(plan, { kind: "started", at: 5, reused: reusedIn(plan, former) }, ended(6, "b", exited(1)));
  assert.deepEqual(at("p").progress?.undo, ["t", "s"]);
});

test("what an earlier try of a reused pipeline has left is undone, and what it has undone is not", () => {
  const undoes = [on("AllErrors", { type: "StageRollback" })];
  // s1 and s2 deploy in the first try, and s2 undoes itself; the second try ends before it comes to them.
  const [s1, s2] = DEPLOYS;
  const inner = [{ id: "q", steps: [{ id: "first" }] }, s1, { ...s2, strategies: undoes }];
  const retries = retryThen({ type: "MarkAsSuccess" });
  const last = { id: "t", steps: [{ id: "b" }], strategies: [on("ApplicationError", { type: "PipelineRollback" })] };
  const plan = chained(inner, { strategies: [on("AllErrors", retries)] }, [last]);
  const { nodes } = run(
    plan,
    ...[started(), ended(1, "first", exited(0)), ended(2, "a1", exited(0)), ended(3, "a2", exited(1))],
    (by) => ended(4, by("p/chain/p/s2/rollbackSteps/u2").id, exited(0)),
    (by) => ended(5, by("p/chain@2/p/q/steps/first").id, exited(1)),
    ended(6, "b", cancelled()),
  );
  const { effects } = run(plan, { kind: "started", at: 7, reused: reusedIn(plan, nodes) }, ended(8, "b", exited(1)));
  assert.deepEqual(tasksOf(effects), ["enqueueTask p/rollbackSteps(p/chain/p/s1)/u1"]);
});

/** The same pipeline with ids of its own, as the plan of each execution has them. */
function plannedAgain(plan: Plan): Plan {
  const to = (id: string): string => `again-${id}`;
  const nodes = Object.values(plan.nodes).map((node) => ({
    ...node,
    id: to(node.id),
    ...("children" in node && { children: node.children.map(to) }),
    ...("steps" in node && { steps: to(node.steps) }),
    ...("rollback" in node && node.rollback !== undefined && { rollback: to(node.rollback) }),
  }));
  const chains = Object.entries(plan.chained ?? {}).map(([id, context]) => [to(id), context]);
  const byId = Object.fromEntries(nodes.map((node) => [node.id, node]));
  return { ...plan, root: to(plan.root), nodes: byId, chained: Object.fromEntries(chains) };
}

test("what a reused pipeline has undone is not undone again", () => {
  const inner = [...DEPLOYS, { id: "q", steps: [{ id: "first" }], strategies: rolls }];
  const last = { id: "t", steps: [{ id: "b" }], strategies: [on("ApplicationError", { type: "PipelineRollback" })] };
  const plan = chained(inner, { strategies: [on("AllErrors", { type: "Ignore" })] }, [last]);
  const { nodes } = run(
    plan,
    ...[started(), ended(1, "a1", exited(0)), ended(2, "a2", exited(0)), ended(3, "first", exited(1))],
    (by) => ended(4, by("p/chain/p/rollbackSteps(p/chain/p/s2)/u2").id, exited(0)),
    (by) => ended(5, by("p/chain/p/rollbackSteps(p/chain/p/s1)/u1").id, exited(0)),
    ended(6, "b", cancelled()),
  );
  const other = plannedAgain(plan);
  const reused = withDefinitionsOf(reusedIn(plan, nodes), plan, other);
  const { effects, state } = run(
    other,
    { kind: "started", at: 7, reused: reused ?? [] },
    ended(8, "again-b", exited(1)),
  );
  assert.equal(state.status, "failed");
  assert.deepEqual(tasksOf(effects), []);
});

test("a retry of an earlier version has kept the ids of the execution before it: its pipeline is not undone again", () => {
  const inner = [...DEPLOYS, { id: "q", steps: [{ id: "first" }], strategies: rolls }];
  const last = { id: "t", steps: [{ id: "b" }], strategies: [on("ApplicationError", { type: "PipelineRollback" })] };
  const plan = chained(inner, { strategies: [on("AllErrors", { type: "Ignore" })] }, [last]);
  const { nodes } = run(
    plan,
    ...[started(), ended(1, "a1", exited(0)), ended(2, "a2", exited(0)), ended(3, "first", exited(1))],
    (by) => ended(4, by("p/chain/p/rollbackSteps(p/chain/p/s2)/u2").id, exited(0)),
    (by) => ended(5, by("p/chain/p/rollbackSteps(p/chain/p/s1)/u1").id, exited(0)),
    ended(6, "b", cancelled()),
  );
  // It did not take over what had undone the stages either.
  const kept = reusedIn(plan, nodes).filter(({ path }) => !path.includes("rollbackSteps("));
  const former = kept.map((node) =>
    node.progress?.undo ? { ...node, progress: { ...node.progress, undo: ["earlier-s2", "earlier-s1"] } } : node,
  );
  const { effects, state } = run(plan, { kind: "started", at: 7, reused: former }, ended(8, "b", exited(1)));
  assert.equal(state.status, "failed");
  assert.deepEqual(tasksOf(effects), []);
});

test("a stage of which only a skipped step was reused is not undone", () => {
  const strategies = [on("AllErrors", { type: "StageRollback" })];
  const skipped = { id: "a", when: { status: "Failure" } } as const;
  const asking = { id: "b", asks: [{ key: "k" }] };
  const plan = planOf([{ id: "s", steps: [skipped, asking], rollback: [{ id: "undo" }], strategies }]);
  const { nodes } = run(plan, started(), fired(1, "b"));
  const reused = nodesToReuse({ plan, nodes }, { stages: [], failedOnly: false, step: "b" });
  if ("fault" in reused) assert.fail(reused.fault);
  assert.deepEqual(
    reused.map(({ path }) => path),
    ["p/s/steps/a"],
  );
  const { effects, state } = run(plan, { kind: "started", at: 2, reused }, fired(3, "b"));
  assert.equal(state.status, "failed");
  assert.deepEqual(tasksOf(effects), []);
});
