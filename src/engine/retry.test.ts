/** What a retry takes over, and where it may start. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, FailureAction, FailureStrategy, NodeState, Plan } from "./model.ts";
import { nodesToReuse, retryPlaces, type RetryStart, withDefinitionsOf } from "./retry.ts";
import { abort, ended, type Execution, exited, fired, give, initial, planOf, started, words } from "./testing/plans.ts";

const on = (action: FailureAction): readonly FailureStrategy[] => [{ errors: ["AllErrors"], action }];

function played(plan: Plan, ...events: readonly Event[]): Execution {
  let execution: Execution = initial(plan);
  for (const event of events) execution = give(plan, execution, event);
  return execution;
}

const START: RetryStart = { stages: [], failedOnly: false };

/** The paths of the nodes that a retry takes over at the top, or why there is none. */
function reusedOf(plan: Plan, { nodes }: Execution, start: Partial<RetryStart> = {}): readonly string[] | string {
  const found = nodesToReuse({ plan, nodes }, { ...START, ...start });
  if ("fault" in found) return found.fault;
  return found.filter(({ parent }) => !found.some(({ id }) => id === parent)).map(({ path }) => path);
}

/** The words of the effects of the first event of the retry, and the retry after it. */
function retried(plan: Plan, { nodes }: Execution, start: Partial<RetryStart> = {}) {
  const reused = nodesToReuse({ plan, nodes }, { ...START, ...start });
  assert.ok(!("fault" in reused), JSON.stringify(reused));
  const { effects, ...execution } = give(plan, initial(plan), { kind: "started", at: 100, reused });
  const byPath = new Map([...execution.nodes.values()].map((node): [string, NodeState] => [node.path, node]));
  return { effects: words(effects), execution, byPath };
}

const STAGES = [
  { id: "a", steps: [{ id: "a1" }] },
  {
    parallel: "both",
    stages: [
      { id: "b", steps: [{ id: "b1" }, { id: "b2" }] },
      { id: "c", steps: [{ id: "c1" }] },
    ],
  },
  { id: "d", steps: [{ id: "d1" }] },
] as const;

test("it starts at the first place that has not passed, or before it; of parallel stages at those that failed or were named", () => {
  const plan = planOf(STAGES);
  const events = [ended(1, "a1", exited(0)), ended(2, "b1", exited(0)), ended(3, "b2", exited(1))];
  const earlier = played(plan, started(), ...events, ended(4, "c1", exited(0)));
  assert.deepEqual(reusedOf(plan, earlier), ["p/a"]);
  assert.deepEqual(reusedOf(plan, earlier, { failedOnly: true }), ["p/a", "p/both/c"]);
  assert.deepEqual(reusedOf(plan, earlier, { stages: ["b"] }), ["p/a", "p/both/c"]);
  assert.deepEqual(reusedOf(plan, earlier, { stages: ["c", "b"] }), ["p/a"]);
  // A stage that failed runs again, named or not.
  assert.deepEqual(reusedOf(plan, earlier, { stages: ["c"] }), ["p/a"]);
  assert.deepEqual(reusedOf(plan, earlier, { stages: ["a"] }), []);
  const places = "it can start at a, or at b and c";
  assert.equal(reusedOf(plan, earlier, { stages: ["d"] }), `it cannot start at stage 'd'; ${places}`);
  assert.equal(reusedOf(plan, earlier, { stages: ["b", "a"] }), `it cannot start at stages [b, a] together; ${places}`);
  assert.equal(reusedOf(plan, earlier, { stages: ["a"], failedOnly: true }), "none of the stages [a] has failed");
  assert.deepEqual(
    retryPlaces({ plan, nodes: earlier.nodes }).map(({ members }) => members.map(({ hasPassed }) => hasPassed)),
    [[true], [false, true]],
  );
});

test("an execution that was aborted starts where it was; one whose stages all passed cannot be retried", () => {
  const plan = planOf(STAGES);
  assert.deepEqual(reusedOf(plan, played(plan, abort(0))), []);
  const all = ["a1", "b1", "b2", "c1", "d1"].map((id, at) => ended(at, id, exited(0)));
  assert.equal(reusedOf(plan, played(plan, started(), ...all)), "none of its stages has failed");
});

test("it starts at a step of a stage, unless a rollback has undone the steps before it", () => {
  const steps = [
    { id: "x" },
    { parallel: "both", steps: [{ id: "y" }, { id: "z" }] },
    { group: "g", steps: [{ id: "g1" }] },
  ];
  const plan = planOf([{ id: "s", steps, rollback: [{ id: "undo" }] }]);
  const events = [
    ...[started(), ended(1, "x", exited(0, { v: "1" })), ended(2, "y", exited(0)), ended(3, "z", exited(1))],
  ];
  const earlier = played(plan, ...events);
  assert.deepEqual(reusedOf(plan, earlier, { step: "z" }), ["p/s/steps/x", "p/s/steps/both/y"]);
  assert.deepEqual(reusedOf(plan, earlier, { step: "y" }), ["p/s/steps/x"]);
  assert.deepEqual(reusedOf(plan, earlier, { step: "x" }), []);
  assert.equal(reusedOf(plan, earlier, { step: "g" }), "'z' stands before 'g' and has not succeeded");
  assert.equal(
    reusedOf(plan, earlier, { step: "g1" }),
    "stage 's' has no step or step group 'g1' in its list of steps",
  );
  const { effects, byPath } = retried(plan, earlier, { step: "z" });
  assert.deepEqual(effects, ["enqueueTask z", "startTimer z"]);
  assert.deepEqual(byPath.get("p/s/steps/x")?.attempts[0]?.outputs, [{ name: "v", value: "1" }]);
  const undone = planOf([{ id: "s", steps, rollback: [{ id: "undo" }], rollsBack: true }]);
  const message = "stage 's' was rolled back or repeated, and starts from its beginning";
  const rolledBack = played(undone, ...events, ended(4, "undo", exited(0)));
  assert.equal(reusedOf(undone, rolledBack, { step: "z" }), message);
  const twice = planOf(STAGES);
  const both = played(
    twice,
    started(),
    ended(1, "a1", exited(0)),
    ended(2, "b1", exited(1)),
    ended(3, "c1", exited(1)),
  );
  assert.equal(reusedOf(twice, both, { step: "c1" }), "name one stage, and step 'c1' of it");
  assert.deepEqual(reusedOf(twice, both, { stages: ["a"], step: "a1" }), []);
});

test("a stage that was tried again after its timeout starts from its beginning", () => {
  const again: FailureAction = { type: "Retry", count: 1, intervals: [], fallback: { type: "MarkAsFailure" } };
  const strategies = [{ errors: ["Timeout" as const], action: again }];
  const plan = planOf([{ id: "s", timeoutMs: 10, steps: [{ id: "v" }, { id: "w" }], strategies }]);
  let earlier = played(plan, started(), ended(1, "v", exited(0)), fired(10, "s"), ended(11, "w", exited(143)));
  for (const [path, code] of [
    ["p/s@2/steps/v", 0],
    ["p/s@2/steps/w", 1],
  ] as const) {
    const step = [...earlier.nodes.values()].find((node) => node.path === path);
    earlier = give(plan, earlier, ended(12, step?.id ?? path, exited(code)));
  }
  assert.equal(earlier.state.status, "failed");
  const message = "stage 's' was rolled back or repeated, and starts from its beginning";
  assert.equal(reusedOf(plan, earlier, { step: "w" }), message);
  assert.deepEqual(reusedOf(plan, earlier), []);
});

test("steps that are reused are not run again when their stage first waits for its lock", () => {
  const plan = planOf([{ id: "s", lock: "<+pipeline.name>", steps: [{ id: "x" }, { id: "y" }] }]);
  const granted: Event = { kind: "answered", at: 1, node: "s", answer: null };
  const earlier = played(plan, started(), granted, ended(2, "x", exited(0)), ended(3, "y", exited(1)));
  const { effects, execution } = retried(plan, earlier, { step: "y" });
  assert.deepEqual(effects, ["sendRequest s"]);
  const next = give(plan, execution, { ...granted, at: 101 });
  assert.deepEqual(words(next.effects), ["enqueueTask y", "startTimer y"]);
});

test("stages that a rollback of the pipeline has undone run again", () => {
  const plan = planOf([
    { id: "a", steps: [{ id: "a1" }], rollback: [{ id: "a2" }] },
    { id: "b", steps: [{ id: "b1" }], strategies: on({ type: "PipelineRollback" }) },
  ]);
  const failed = [started(), ended(1, "a1", exited(0)), ended(2, "b1", exited(1))];
  const earlier = played(plan, ...failed);
  const undo = [...earlier.nodes.values()].find(({ path }) => path.endsWith("/a2"));
  const after = give(plan, earlier, ended(3, undo?.id ?? "", exited(0)));
  assert.equal(after.state.status, "failed");
  assert.deepEqual(reusedOf(plan, after), []);
  assert.match(String(reusedOf(plan, after, { stages: ["b"] })), /it can start at a$/);
});

test("of a repeated group all tries are reused, as what they have left may have to be undone", () => {
  const group = {
    group: "g",
    steps: [
      { id: "g1", strategies: on({ type: "RetryStepGroup", count: 1, intervals: [], fallback: { type: "Abort" } }) },
    ],
  };
  const plan = planOf([
    { id: "a", steps: [group] },
    { id: "b", steps: [{ id: "b1" }] },
  ]);
  let earlier = played(plan, started(), ended(1, "g1", exited(1)));
  const second = [...earlier.nodes.values()].find(({ path }) => path === "p/a/steps/g@2/g1");
  earlier = give(plan, earlier, ended(2, second?.id ?? "", exited(0, { v: "2" })));
  earlier = give(plan, earlier, ended(3, "b1", exited(1)));
  const { byPath } = retried(plan, earlier);
  assert.deepEqual(byPath.get("p/a/steps/g@2/g1")?.attempts[0]?.outputs, [{ name: "v", value: "2" }]);
  assert.deepEqual([byPath.get("p/a/steps/g/g1")?.status, byPath.get("p/a/steps/g/g1")?.isReused], ["failed", true]);
});

test("a step that waits at a barrier does not wait for one that was reused, and waits for the others", () => {
  const stage = (id: string) => ({
    id,
    steps: [{ id: `${id}0` }, { id: `${id}1`, type: "Barrier" as const }, { id: `${id}2` }],
  });
  const plan = planOf([{ parallel: "both", stages: [stage("a"), stage("b"), stage("c")] }]);
  const events = ["a0", "b0", "c0", "a2"].map((id, at) => ended(at, id, exited(0)));
  const earlier = played(plan, started(), ...events, ended(5, "b2", exited(1)), ended(6, "c2", exited(1)));
  const { effects, execution } = retried(plan, earlier, { failedOnly: true });
  assert.deepEqual(effects, ["enqueueTask b0", "startTimer b0", "enqueueTask c0", "startTimer c0"]);
  const first = give(plan, execution, ended(101, "b0", exited(0)));
  assert.equal(first.nodes.get("b1")?.status, "waiting");
  const second = give(plan, first, ended(102, "c0", exited(0)));
  assert.deepEqual(
    words(second.effects).filter((word) => word.startsWith("enqueue")),
    ["enqueueTask b2", "enqueueTask c2"],
  );
});

test("a lock that would still be held is asked for again, and the rest of what stands around it is reused", () => {
  const plan = planOf([
    { id: "a", steps: [{ id: "x" }, { id: "q", type: "Queue" }, { id: "y" }] },
    { id: "b", steps: [{ id: "b1" }] },
  ]);
  const granted: Event = { kind: "answered", at: 2, node: "q", answer: null };
  const events = [ended(1, "x", exited(0)), granted, ended(3, "y", exited(0)), ended(4, "b1", exited(1))];
  const earlier = played(plan, started(), ...events);
  assert.deepEqual(reusedOf(plan, earlier), ["p/a"]);
  const q = plan.nodes["q"];
  assert.ok(q?.kind === "step");
  const keeps = { ...plan, nodes: { ...plan.nodes, q: { ...q, work: { kind: "queue", until: "pipeline" } } } };
  assert.deepEqual(reusedOf(keeps, earlier), ["p/a/steps/x", "p/a/steps/y"]);
  const { effects, execution } = retried(keeps, earlier);
  assert.deepEqual(effects, ["sendRequest q", "startTimer q"]);
  const next = give(keeps, execution, { ...granted, at: 101 });
  assert.deepEqual(
    words(next.effects).filter((word) => word.startsWith("enqueue")),
    ["enqueueTask b1"],
  );
});

test("no time of a retry is before those of what it reuses", () => {
  const plan = planOf([
    { id: "a", steps: [{ id: "a1" }] },
    { id: "b", steps: [{ id: "b1" }] },
  ]);
  const earlier = played(plan, started(), ended(1, "a1", exited(0)), fired(600_000, "b1"));
  const late = give(plan, earlier, ended(600_001, "b1", exited(1)));
  const reused = nodesToReuse({ plan, nodes: late.nodes }, START);
  assert.ok(!("fault" in reused));
  const ahead = reused.map((node) => ({ ...node, endedAt: 900_000 }));
  assert.equal(give(plan, initial(plan), { kind: "started", at: 5, reused: ahead }).state.latestAt, 900_000);
});

test("nodes get the definitions of another plan of the same pipeline, as far as it has them", () => {
  const [plan, other] = [planOf(STAGES), planOf(STAGES)];
  const renamed = JSON.parse(JSON.stringify(other).replaceAll('"a1"', '"new"')) as Plan;
  const named = { ...renamed, nodes: { ...renamed.nodes, new: { ...renamed.nodes["new"], identifier: "a1" } } } as Plan;
  const { nodes } = played(plan, started(), ended(1, "a1", exited(0)));
  const step = nodes.get("a1");
  assert.ok(step);
  assert.deepEqual(
    withDefinitionsOf([step], plan, named)?.map(({ definition }) => definition),
    ["new"],
  );
  assert.equal(withDefinitionsOf([step], plan, planOf([{ id: "a", steps: [{ id: "z" }] }])), undefined);
});
