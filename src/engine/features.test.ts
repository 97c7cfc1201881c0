import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, FailureAction, FailureStrategy, NodeState, Plan } from "./model.ts";
import {
  abort,
  cancelled,
  ended,
  type Execution,
  exited,
  fired,
  give,
  initial,
  interrupted,
  planOf,
  started,
  words,
  outcomeOf,
} from "./testing/plans.ts";

/** Plays the events and tells what each of them led to. */
function run(plan: Plan, ...events: readonly Event[]) {
  let execution: Execution = initial(plan);
  const effects = events.map((event) => {
    const next = give(plan, execution, event);
    execution = next;
    return words(
      next.effects.map((effect) => ("node" in effect ? { ...effect, node: nameOf(execution, effect.node) } : effect)),
    );
  });
  const { state, nodes } = execution;
  const byPath = new Map([...nodes.values()].map((node) => [node.path, node]));
  const at = (path: string): NodeState => {
    const node = byPath.get(path);
    assert.ok(node, `${path} is not among ${[...byPath.keys()].join(", ")}`);
    return node;
  };
  return { state, effects, at, has: (path: string) => byPath.has(path), status: (path: string) => at(path).status };
}

/** The last part of the path: identifiers of instances would be hashes. */
const nameOf = ({ nodes }: Execution, id: string): string => nodes.get(id)?.path.split("/").at(-1) ?? id;

/** The id of an instance by its path. */
function idOf(plan: Plan, events: readonly Event[], path: string): string {
  let execution: Execution = initial(plan);
  for (const event of events) execution = give(plan, execution, event);
  const found = [...execution.nodes.values()].find((node) => node.path === path);
  assert.ok(found, path);
  return found.id;
}

const on = (action: FailureAction): readonly FailureStrategy[] => [{ errors: ["AllErrors"], action }];
const retry = (
  count: number,
  intervals: readonly number[] = [],
  fallback: FailureAction = { type: "MarkAsFailure" },
): FailureAction => ({
  ...{ type: "Retry", count, intervals, fallback },
});

test("a failure that was ignored counts for what runs after a failure, and for nothing else", () => {
  const ignores = [{ errors: ["AllErrors"], action: { type: "Ignore" } }] as const;
  const plan = planOf([
    {
      id: "s",
      steps: [
        { id: "a", strategies: ignores },
        { id: "b", when: { status: "Success" } },
        { group: "g", steps: [{ id: "c", when: { status: "Failure" } }] },
        { id: "d", when: { status: "Failure" } },
      ],
    },
    { id: "t", steps: [{ id: "e" }], when: { status: "Failure" } },
  ]);
  const { effects } = outcomeOf(plan, [
    ...[started(), ended(1, "a", exited(1)), ended(2, "b", exited(0)), ended(3, "c", exited(0))],
    ...[ended(4, "d", exited(0)), ended(5, "e", exited(0))],
  ]);
  const begun = words(effects).filter((one) => one.startsWith("enqueueTask"));
  assert.deepEqual(
    begun,
    ["a", "b", "c", "d", "e"].map((id) => `enqueueTask ${id}`),
  );
  assert.equal(words(effects).at(-1), "endExecution ignored");
});

test("parallel steps start together; the step after them starts when all have ended", () => {
  const plan = planOf([{ id: "s", steps: [{ parallel: "p", steps: [{ id: "a" }, { id: "b" }] }, { id: "c" }] }]);
  const { effects, state } = run(
    plan,
    started(),
    ended(1, "b", exited(0)),
    ended(2, "a", exited(0)),
    ended(3, "c", exited(0)),
  );
  assert.deepEqual(effects, [
    ["enqueueTask a", "startTimer a", "enqueueTask b", "startTimer b"],
    ["stopTimer b"],
    ["stopTimer a", "enqueueTask c", "startTimer c"],
    ["stopTimer c", "endExecution succeeded"],
  ]);
  assert.equal(state.status, "succeeded");
});

test("a failed step lets those beside it end, and then fails the stage", () => {
  const steps = [
    { parallel: "p", steps: [{ id: "a" }, { group: "g", steps: [{ id: "b" }, { id: "c" }] }] },
    { id: "d" },
  ];
  const { effects, has, state } = run(
    planOf([{ id: "s", steps }]),
    ...[started(), ended(1, "a", exited(1)), ended(2, "b", exited(0)), ended(3, "c", exited(0))],
  );
  assert.deepEqual(effects[2], ["stopTimer b", "enqueueTask c", "startTimer c"]);
  assert.deepEqual([has("p/s/steps/d"), state.status], [false, "failed"]);
});

test("after a failure the nodes run that ask for one, or run in any case", () => {
  const plan = planOf([
    {
      id: "s",
      steps: [
        { id: "a" },
        { id: "b" },
        { id: "c", when: { status: "Failure" }, env: [["X", "<+steps.b.status> <+steps.a.currentStatus>"]] },
        { group: "g", when: { status: "All" }, steps: [{ id: "d" }, { id: "e", when: { status: "Failure" } }] },
      ],
    },
    { id: "t", steps: [{ id: "f" }] },
    { id: "u", when: { status: "Failure" }, steps: [{ id: "h" }] },
  ]);
  const events = [started(), ended(1, "a", exited(1)), ended(2, "c", exited(0)), ended(3, "d", exited(0))];
  const { effects, has, state, status } = run(plan, ...events, ended(4, "e", exited(0)), ended(5, "h", exited(0)));
  assert.deepEqual(effects.slice(1), [
    ["stopTimer a", "enqueueTask c", "startTimer c"],
    ["stopTimer c", "enqueueTask d", "startTimer d"],
    ["stopTimer d", "enqueueTask e", "startTimer e"],
    ["stopTimer e", "enqueueTask h", "startTimer h"],
    ["stopTimer h", "endExecution failed"],
  ]);
  assert.deepEqual(
    [has("p/t"), status("p/u"), state.failure?.message],
    [false, "succeeded", "Step 'Step a' exited with code 1"],
  );
});

test("a condition that is false skips its node with the reason; one that is no boolean fails it", () => {
  const plan = planOf([
    {
      id: "s",
      steps: [
        { id: "a", when: { status: "Success", expression: '<+pipeline.name> == "Q"' } },
        { id: "b", when: { status: "Failure" } },
        { id: "c", when: { status: "All", expression: "<+pipeline.name>" } },
      ],
    },
  ]);
  const { at, state } = run(plan, started());
  assert.deepEqual(at("p/s/steps/a").reason, {
    kind: "condition",
    message: 'The condition <+pipeline.name> == "Q" is false.',
  });
  assert.deepEqual(
    [at("p/s/steps/a").status, at("p/s/steps/b").reason?.message],
    ["skipped", "Nothing has failed before it."],
  );
  assert.deepEqual([at("p/s/steps/c").failure?.types, state.status], [["ExpressionEvaluation"], "failed"]);
});

const MATRIX = {
  strategy: {
    type: "matrix",
    axes: [
      { name: "os", values: ["a", "b"] },
      { name: "v", values: [1, 2] },
    ],
    exclude: [{ os: "b", v: 2 }],
    nodeName: "test-<+matrix.os>-<+matrix.v>",
  },
  maxConcurrency: 2,
  onFailure: "RunAll",
} as const;

test("a matrix runs each combination with its values, as many at once as it may", () => {
  const step = {
    id: "x",
    env: [["V", "<+matrix.os><+matrix.v> <+strategy.iteration>/<+strategy.iterations>"]] as const,
    loop: MATRIX,
  };
  const plan = planOf([{ id: "s", steps: [step, { id: "y", env: [["X", "<+steps.x_0_1.status>"]] }] }]);
  const [x0, x1] = [0, 1].map((at) => idOf(plan, [started()], `p/s/steps/x/x[${at}]`)) as [string, string];
  const first = [started(), ended(1, x0, exited(0)), ended(2, x1, exited(0))];
  const x2 = idOf(plan, first, "p/s/steps/x/x[2]");
  const { effects, at } = run(plan, ...first, ended(3, x2, exited(0)), ended(4, "y", exited(0)));
  assert.deepEqual(effects[0], ["enqueueTask x[0]", "startTimer x[0]", "enqueueTask x[1]", "startTimer x[1]"]);
  assert.deepEqual(effects[1], ["stopTimer x[0]", "enqueueTask x[2]", "startTimer x[2]"]);
  assert.deepEqual(effects.at(-1), ["stopTimer y", "endExecution succeeded"]);
  assert.deepEqual(
    [0, 1, 2].map((one) => at(`p/s/steps/x/x[${one}]`).iteration),
    [
      { index: 0, total: 3, postfix: "_0_0", name: "test-a-1", matrix: { os: "a", v: 1 } },
      { index: 1, total: 3, postfix: "_0_1", name: "test-a-2", matrix: { os: "a", v: 2 } },
      { index: 2, total: 3, postfix: "_1_0", name: "test-b-1", matrix: { os: "b", v: 1 } },
    ],
  );
  assert.notEqual(x0, x1);
  const values = valuesOf(plan, [started(), ...first.slice(1)]);
  assert.deepEqual(values, ["a1 0/3", "a2 1/3", "b1 2/3"]);
});

/** The variables of all tasks. */
function valuesOf(plan: Plan, events: readonly Event[]): readonly string[] {
  let execution: Execution = initial(plan);
  return events.flatMap((event) => {
    const next = give(plan, execution, event);
    execution = next;
    return next.effects.flatMap((effect) =>
      effect.kind === "enqueueTask" ? (effect.work["env"] as { value: string }[]).map(({ value }) => value) : [],
    );
  });
}

test("expressions lead to the nearest instance; one that is repeated elsewhere has to be named", () => {
  const plan = planOf([
    {
      id: "s",
      loop: { strategy: { type: "items", items: ["x", "y"] }, onFailure: "RunAll" },
      steps: [{ id: "a" }, { id: "b", env: [["A", "<+steps.a.output.outputVariables.v> <+repeat.item>"]] }],
    },
    { id: "t", steps: [{ id: "c", env: [["C", "<+pipeline.stages.s.spec.execution.steps.a.status>"]] }] },
  ]);
  const ids = (path: string, events: readonly Event[]): string => idOf(plan, events, path);
  const [a0, a1] = [0, 1].map((at) => ids(`p/s/s[${at}]/steps/a`, [started()])) as [string, string];
  const events = [started(), ended(1, a0, exited(0, { v: "0" })), ended(2, a1, exited(0, { v: "1" }))];
  assert.deepEqual(valuesOf(plan, events), ["0 x", "1 y"]);
  const [b0, b1] = [0, 1].map((at) => ids(`p/s/s[${at}]/steps/b`, events)) as [string, string];
  const { state } = run(plan, ...events, ended(3, b0, exited(0)), ended(4, b1, exited(0)));
  assert.match(state.failure?.message ?? "", /step 'a' is repeated: name one of its instances, as s_0/);
});

test("a failed instance skips those that have not begun, where the loop says so", () => {
  const loop = { strategy: { type: "times", times: 3 }, maxConcurrency: 1, onFailure: "SkipQueued" } as const;
  const plan = planOf([{ id: "s", steps: [{ id: "x", loop }] }]);
  const x0 = idOf(plan, [started()], "p/s/steps/x/x[0]");
  const { has, state } = run(plan, started(), ended(1, x0, exited(1)));
  assert.deepEqual([has("p/s/steps/x/x[1]"), state.status], [false, "failed"]);
});

test("loops beyond the limits fail with the limit", () => {
  const axis = (name: string, length: number) => ({ name, values: Array.from({ length }, (_, at) => at) });
  const failure = (strategy: NonNullable<Parameters<typeof planOf>[0][number] & { loop?: unknown }>["loop"]) =>
    run(planOf([{ id: "s", steps: [{ id: "x", loop: { strategy, onFailure: "RunAll" } as never }] }]), started()).state
      .failure?.message;
  assert.match(
    failure({ type: "matrix", axes: [axis("a", 256), axis("b", 256)], exclude: [] }) ?? "",
    /at most 4096 combinations.*65536/,
  );
  assert.match(
    failure({ type: "matrix", axes: [axis("a", 20), axis("b", 20)], exclude: [] }) ?? "",
    /at most 256 iterations.*400/,
  );
  assert.match(failure({ type: "times", times: 1_000_000 }) ?? "", /at most 256 iterations.*1000000/);
  // More than an array can hold.
  assert.match(failure({ type: "times", times: 5_000_000_000 }) ?? "", /at most 256 iterations.*5000000000/);
  const items = Array.from({ length: 65 }, () => "x".repeat(1_024));
  assert.match(failure({ type: "items", items }) ?? "", /The values of a loop have at most 65536 characters/);
  const steps = Array.from({ length: 30 }, (_, at) => ({ id: `x${at}` }));
  const loop = { strategy: { type: "times", times: 200 }, onFailure: "RunAll" } as const;
  assert.match(run(planOf([{ id: "s", steps, loop }]), started()).state.failure?.message ?? "", /at most 5000 nodes/);
});

test("a retry is a further attempt after its interval; earlier ones stay readable", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a", strategies: on(retry(2, [10, 30])) }] }]);
  const events = [started(), ended(100, "a", exited(1)), fired(110, "a", "retry"), ended(200, "a", exited(2), 2)];
  const waiting = run(plan, ...events);
  assert.deepEqual(waiting.effects.slice(1), [
    ["stopTimer a", "startTimer a retry"],
    ["enqueueTask a", "startTimer a"],
    ["stopTimer a", "startTimer a retry"],
  ]);
  assert.deepEqual(waiting.at("p/s/steps/a").reason?.kind, "retry");
  const { at, state } = run(plan, ...events, fired(230, "a", "retry"), ended(300, "a", exited(0), 3));
  assert.deepEqual(
    at("p/s/steps/a").attempts.map(({ startedAt, endedAt, exitCode, status, task }) => [
      startedAt,
      endedAt,
      exitCode,
      status,
      task,
    ]),
    [
      [0, 100, 1, "failed", 1],
      [110, 200, 2, "failed", 2],
      [230, 300, 0, "succeeded", 3],
    ],
  );
  assert.equal(state.status, "succeeded");
});

test("when all retries have failed, the next action follows", () => {
  const plan = planOf([
    { id: "s", steps: [{ id: "a", strategies: on(retry(1, [], { type: "Ignore" })) }, { id: "b" }] },
  ]);
  const events = [started(), ended(1, "a", exited(1)), ended(2, "a", exited(1), 2), ended(3, "b", exited(0))];
  const { status, state } = run(plan, ...events);
  assert.deepEqual(
    [status("p/s/steps/a"), status("p/s"), state.status, state.failure],
    ["ignored", "ignored", "ignored", null],
  );
});

test("an expression that fails is covered as a failure of the configuration", () => {
  const strategies = [{ errors: ["ConfigurationFailure" as const], action: { type: "Ignore" as const } }];
  const plan = planOf([{ id: "s", steps: [{ id: "a", env: [["A", "<+pipeline.variables.no>"]], strategies }] }]);
  const { at, status } = run(plan, started());
  assert.deepEqual(at("p/s/steps/a").attempts[0]?.failure?.types, ["ExpressionEvaluation"]);
  assert.equal(status("p/s/steps/a"), "ignored");
});

test("the strategy nearest to the failed step counts, and at one level the first that covers the error", () => {
  const timeout: FailureStrategy = { errors: ["Timeout"], action: { type: "MarkAsSuccess" } };
  const other: FailureStrategy = { errors: ["Unknown", "ApplicationError"], action: { type: "Ignore" } };
  const steps = [{ group: "g", strategies: [timeout, other], steps: [{ id: "a" }] }];
  const plan = planOf([{ id: "s", strategies: on({ type: "StageRollback" }), steps, rollback: [{ id: "r" }] }]);
  assert.equal(run(plan, started(), ended(1, "a", exited(1))).status("p/s/steps/g/a"), "ignored");
  const expired = run(plan, started(), fired(1, "a"), ended(2, "a", cancelled()));
  assert.deepEqual([expired.status("p/s/steps/g/a"), expired.state.status], ["succeeded", "succeeded"]);
  const lostTask = ended(1, "a", { kind: "lost", type: "DelegateRestart", message: "gone" });
  assert.deepEqual(run(plan, started(), lostTask).effects[1], ["stopTimer a", "enqueueTask r", "startTimer r"]);
});

test("a step group is undone by its own rollback, or repeated with new instances", () => {
  const group = (action: FailureAction) => ({
    ...{ group: "g", rollback: [{ id: "r" }], steps: [{ id: "a" }, { id: "b", strategies: on(action) }] },
  });
  const undone = run(
    planOf([{ id: "s", steps: [group({ type: "StepGroupRollback" })] }]),
    ...[started(), ended(1, "a", exited(0)), ended(2, "b", exited(1)), ended(3, "r", exited(0))],
  );
  assert.deepEqual([undone.status("p/s/steps/g/rollbackSteps/r"), undone.state.status], ["succeeded", "failed"]);
  const again = planOf([
    {
      id: "s",
      steps: [group({ type: "RetryStepGroup", count: 1, intervals: [5], fallback: { type: "MarkAsFailure" } })],
    },
  ]);
  const events = [started(), ended(1, "a", exited(0)), ended(2, "b", exited(1)), fired(7, "g", "retry")];
  const a2 = idOf(again, events, "p/s/steps/g@2/a");
  const b2 = idOf(again, [...events, ended(8, a2, exited(0))], "p/s/steps/g@2/b");
  const { at, state } = run(again, ...events, ended(8, a2, exited(0)), ended(9, b2, exited(0)));
  assert.deepEqual(
    at("p/s/steps/g").attempts.map(({ status }) => status),
    ["failed", "succeeded"],
  );
  assert.deepEqual([at("p/s/steps/g/b").status, state.status], ["failed", "succeeded"]);
});

test("a pipeline rollback undoes the stages that have run, the last one first", () => {
  const stage = (id: string, action?: FailureAction) => ({
    ...{ id, steps: [{ id: `${id}1`, ...(action && { strategies: on(action) }) }], rollback: [{ id: `${id}undo` }] },
  });
  const plan = planOf([stage("a"), stage("b"), stage("c", { type: "PipelineRollback" })]);
  const events = [started(), ended(1, "a1", exited(0)), ended(2, "b1", exited(0)), ended(3, "c1", exited(1))];
  const cundo = idOf(plan, events, "p/rollbackSteps(p/c)/cundo");
  const next = [...events, ended(4, cundo, exited(1))];
  const bundo = idOf(plan, next, "p/rollbackSteps(p/b)/bundo");
  const last = [...next, ended(5, bundo, exited(0))];
  const aundo = idOf(plan, last, "p/rollbackSteps(p/a)/aundo");
  const { state } = run(plan, ...last, ended(6, aundo, exited(0)));
  assert.equal(state.status, "failed");
  assert.match(state.failure?.message ?? "", /^Step 'Step c1' exited with code 1. The rollback failed, too/);
});

test("a manual intervention waits for a decision, and takes the configured action when none comes", () => {
  const action: FailureAction = { type: "ManualIntervention", timeoutMs: 1_000, fallback: { type: "StageRollback" } };
  const plan = planOf([
    { id: "s", steps: [{ id: "a", strategies: on(action) }, { id: "b" }], rollback: [{ id: "r" }] },
  ]);
  const failing = [started(), ended(1, "a", exited(1))];
  const waiting = run(plan, ...failing);
  assert.deepEqual(
    [waiting.status("p/s/steps/a"), waiting.at("p/s/steps/a").reason?.kind],
    ["waiting", "intervention"],
  );
  assert.deepEqual(waiting.effects[1], ["stopTimer a", "startTimer a intervention"]);
  const decided = (interrupt: Parameters<typeof interrupted>[1]) =>
    run(plan, ...failing, interrupted(5, interrupt, "a")).effects[2];
  assert.deepEqual(decided("Ignore"), ["stopTimer a intervention", "enqueueTask b", "startTimer b"]);
  assert.deepEqual(decided("MarkAsSuccess"), ["stopTimer a intervention", "enqueueTask b", "startTimer b"]);
  assert.deepEqual(decided("Retry"), ["stopTimer a intervention", "enqueueTask a", "startTimer a"]);
  assert.deepEqual(decided("StageRollback"), ["stopTimer a intervention", "enqueueTask r", "startTimer r"]);
  assert.deepEqual(decided("MarkAsFailure"), ["stopTimer a intervention", "endExecution failed"]);
  assert.deepEqual(decided("AbortAll"), ["stopTimer a intervention", "endExecution aborted"]);
  const refused = run(plan, ...failing, interrupted(5, "StepGroupRollback", "a"));
  assert.deepEqual(refused.effects[2], []);
  assert.equal(refused.status("p/s/steps/a"), "waiting");
  const expired = run(plan, ...failing, fired(1_001, "a", "intervention"));
  assert.deepEqual(expired.effects[2], ["enqueueTask r", "startTimer r"]);
});

for (const type of ["Retry", "RetryStepGroup"] as const)
  test(`a manual intervention that follows ${type} takes its own action when no decision comes`, () => {
    const fallback: FailureAction = { type: "StageRollback" };
    const intervene: FailureAction = { type: "ManualIntervention", timeoutMs: 1_000, fallback };
    const action: FailureAction = { type, count: 1, intervals: [], fallback: intervene };
    const plan = planOf([
      { id: "s", steps: [{ group: "g", steps: [{ id: "a", strategies: on(action) }] }], rollback: [{ id: "r" }] },
    ]);
    let execution = give(plan, initial(plan), started());
    const taskOf = () =>
      [...execution.nodes.values()].findLast(({ status, tasks }) => status === "running" && tasks > 0);
    for (const time of [1, 2]) {
      const task = taskOf();
      assert.ok(task);
      execution = give(plan, execution, ended(time, task.id, exited(1), task.tasks));
    }
    const waiting = [...execution.nodes.values()].find(({ status }) => status === "waiting");
    assert.equal(waiting?.reason?.kind, "intervention");
    execution = give(plan, execution, fired(1_002, waiting.id, "intervention"));
    assert.equal(taskOf()?.definition, "r");
  });

test("an intervention that an earlier version began to wait for takes the action of the strategy", () => {
  const action: FailureAction = { type: "ManualIntervention", timeoutMs: 1_000, fallback: { type: "Ignore" } };
  const plan = planOf([{ id: "s", steps: [{ id: "a", strategies: on(action) }] }]);
  const waiting = give(plan, give(plan, initial(plan), started()), ended(1, "a", exited(1)));
  const node = waiting.nodes.get("a");
  assert.ok(node?.reason);
  const { onTimeout: _, ...reason } = node.reason;
  const earlier = { ...waiting, nodes: new Map([...waiting.nodes, ["a", { ...node, reason }]]) };
  assert.equal(give(plan, earlier, fired(1_001, "a", "intervention")).nodes.get("a")?.status, "ignored");
});

test("Abort ends everything without a rollback", () => {
  const steps = [{ parallel: "p", steps: [{ id: "a", strategies: on({ type: "Abort" }) }, { id: "b" }] }];
  const plan = planOf([{ id: "s", rollback: [{ id: "r" }], steps }]);
  const { effects, state, status } = run(plan, started(), ended(1, "a", exited(1)), ended(2, "b", cancelled()));
  assert.deepEqual(effects.slice(1), [["stopTimer a", "cancelTask b", "stopTimer b"], ["endExecution aborted"]]);
  assert.deepEqual([status("p/s/steps/p/a"), state.status], ["failed", "aborted"]);
});

test("the timeout of a stage stops what runs in it, and its own strategies follow", () => {
  const steps = [{ parallel: "p", steps: [{ id: "a" }, { id: "w", type: "Pause" as const }] }];
  const plan = planOf([{ id: "s", timeoutMs: 100, rollsBack: true, steps, rollback: [{ id: "r" }] }]);
  const { effects, at } = run(
    plan,
    started(),
    fired(100, "s"),
    ended(120, "a", cancelled()),
    ended(130, "r", exited(0)),
  );
  assert.deepEqual(effects[1], [
    ...["cancelTask a", "stopTimer a", "withdrawRequest w", "stopTimer w wait", "stopTimer w"],
  ]);
  assert.deepEqual(effects[2], ["enqueueTask r", "startTimer r"]);
  assert.equal(at("p/s").failure?.message, "Stage 's' did not end within its timeout of 0.1 s");
  assert.equal(
    at("p/s/steps/p/a").failure?.message,
    "Step 'Step a' was stopped: the timeout of what it is part of has passed",
  );
});

test("a step that aborts as it begins lets no step beside it begin", () => {
  const env = [["A", "<+pipeline.variables.no>"]] as const;
  const steps = [{ parallel: "p", steps: [{ id: "a", env, strategies: on({ type: "Abort" }) }, { id: "b" }] }];
  const { effects, state, status } = run(planOf([{ id: "s", steps }]), started());
  assert.deepEqual(
    [effects[0], state.status, status("p/s/steps/p/b")],
    [["endExecution aborted"], "aborted", "aborted"],
  );
});

test("a pause starts nothing new until it is resumed", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a" }, { id: "b" }] }]);
  const events = [started(), interrupted(1, "Pause"), ended(2, "a", exited(0))];
  const paused = run(plan, ...events);
  assert.deepEqual(
    [paused.effects[2], paused.state.status, paused.status("p/s/steps/b")],
    [["stopTimer a"], "paused", "paused"],
  );
  assert.deepEqual(run(plan, ...events, interrupted(3, "Resume")).effects[3], ["enqueueTask b", "startTimer b"]);
  assert.deepEqual(run(plan, ...events, abort(3)).effects[3], ["endExecution aborted"]);
});

test("of the steps that a resume begins, the first one may end the others before they begin", () => {
  const failing = { id: "c", env: [["X", "<+pipeline.no>"]], strategies: on({ type: "Abort" }) } as const;
  const steps = [
    { group: "g", steps: [{ id: "a" }, failing] },
    { group: "h", steps: [{ id: "b" }, { id: "d" }] },
  ];
  const plan = planOf([{ id: "s", steps: [{ parallel: "p", steps }] }]);
  const events = [started(), interrupted(1, "Pause"), ended(2, "a", exited(0)), ended(3, "b", exited(0))];
  const paused = run(plan, ...events);
  assert.deepEqual([paused.status("p/s/steps/p/g/c"), paused.status("p/s/steps/p/h/d")], ["paused", "paused"]);
  const { effects, state, status } = run(plan, ...events, interrupted(4, "Resume"));
  assert.deepEqual(effects[4], ["endExecution aborted"]);
  assert.deepEqual([status("p/s/steps/p/h/d"), state.status], ["aborted", "aborted"]);
});

test("the end of a task counts once, also while its step waits for another try", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a", strategies: on(retry(1, [10])) }] }]);
  const events = [started(), ended(1, "a", exited(1))];
  const { effects, at } = run(
    plan,
    ...events,
    ended(2, "a", exited(0)),
    fired(11, "a", "retry"),
    ended(12, "a", exited(0)),
  );
  assert.deepEqual(effects.slice(2), [[], ["enqueueTask a", "startTimer a"], []]);
  assert.deepEqual(
    at("p/s/steps/a").attempts.map(({ status }) => status),
    ["failed", null],
  );
});

test("the time of a stage ends with its own work: what undoes it is not limited by it", () => {
  const on = [{ errors: ["AllErrors" as const], action: { type: "StageRollback" as const } }];
  const plan = planOf([{ id: "s", timeoutMs: 50, steps: [{ id: "a" }], rollback: [{ id: "undo" }], strategies: on }]);
  const events = [started(), ended(1, "a", exited(1)), fired(50, "s"), ended(60, "undo", exited(0))];
  const { effects, state } = run(plan, ...events);
  assert.deepEqual(effects.slice(1), [
    ["stopTimer a", "stopTimer s", "enqueueTask undo", "startTimer undo"],
    [],
    ["stopTimer undo", "endExecution failed"],
  ]);
  assert.deepEqual(state.failure?.types, ["ApplicationError"]);
});

test("one step or stage can be ended by hand", () => {
  const plan = planOf([
    { id: "s", steps: [{ id: "w", type: "Pause" }, { id: "b" }] },
    { id: "t", steps: [{ id: "c" }] },
  ]);
  const marked = run(plan, started(), interrupted(1, "MarkAsSuccess", "w"));
  assert.deepEqual(marked.effects[1]?.slice(-2), ["enqueueTask b", "startTimer b"]);
  const failed = run(plan, started(), { ...interrupted(1, "MarkAsFailure", "w"), by: "Ada" } as Event);
  assert.deepEqual(failed.state.failure, { message: "Marked as failed by Ada", types: ["UserMarkedFailure"] });
  const stopped = run(plan, started(), interrupted(1, "Abort", "s"));
  assert.deepEqual(
    [stopped.status("p/s"), stopped.state.status, stopped.state.aborting],
    ["aborted", "aborted", false],
  );
});

test("a rejected approval fails like any other step, with a status of its own", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "w", type: "Pause" }] }]);
  const { state, status } = run(plan, started(), { kind: "answered", at: 1, node: "w", answer: "reject" });
  assert.deepEqual([status("p/s/steps/w"), status("p/s"), state.status], ["rejected", "rejected", "rejected"]);
  const approved = run(plan, started(), { kind: "answered", at: 1, node: "w", answer: "approve" });
  assert.deepEqual(
    [approved.state.status, approved.effects[1]],
    ["succeeded", ["stopTimer w wait", "stopTimer w", "endExecution succeeded"]],
  );
});

test("a stage waits for its lock, and what holds a lock gives it back at its end", () => {
  const plan = planOf([
    {
      id: "s",
      lock: "prod/<+pipeline.name>",
      timeoutMs: 50,
      steps: [{ id: "a" }, { id: "q", type: "Queue" }, { id: "b" }],
    },
  ]);
  const granted = (at: number, node: string): Event => ({ kind: "answered", at, node, answer: null });
  const waiting = run(plan, started());
  assert.deepEqual(
    [waiting.status("p/s"), waiting.at("p/s").reason?.kind, waiting.has("p/s/steps")],
    ["waiting", "lock", false],
  );
  assert.deepEqual(waiting.effects[0], ["startTimer s", "sendRequest s"]);
  const { effects } = run(
    plan,
    ...[started(), granted(1, "s"), ended(2, "a", exited(0)), granted(3, "q"), ended(4, "b", exited(0))],
  );
  assert.deepEqual(effects.slice(1), [
    ["enqueueTask a", "startTimer a"],
    ["stopTimer a", "sendRequest q", "startTimer q"],
    ["stopTimer q", "enqueueTask b", "startTimer b"],
    ["stopTimer b", "stopTimer s", "releaseLocks s", "endExecution succeeded"],
  ]);
  const expired = run(plan, started(), fired(50, "s"));
  assert.deepEqual(expired.effects[1], ["withdrawRequest s", "releaseLocks s", "endExecution expired"]);
  assert.equal(expired.state.failure?.message, "Stage 's' did not end within its timeout of 0.05 s");
});

test("the strategies of a stage apply when its time is up before it has its lock", () => {
  const withStrategy = (action: FailureAction) =>
    planOf([
      {
        ...{ id: "s", lock: "prod", timeoutMs: 50, steps: [{ id: "a" }], rollback: [{ id: "r" }] },
        strategies: [{ errors: ["Timeout"], action }],
      },
    ]);
  const after = (action: FailureAction) => run(withStrategy(action), started(), fired(50, "s"));
  assert.equal(after({ type: "Ignore" }).state.status, "ignored");
  assert.deepEqual(after(retry(1)).effects[1], ["withdrawRequest s", "startTimer s", "sendRequest s"]);
  // Nothing has run that could be undone.
  for (const type of ["StageRollback", "PipelineRollback"] as const) {
    const { effects, status } = after({ type });
    assert.deepEqual(effects[1], ["withdrawRequest s", "releaseLocks s", "endExecution failed"]);
    assert.equal(status("p/s"), type === "StageRollback" ? "failed" : "expired");
  }
});

test("an execution takes nodes of an earlier one in place of running them", () => {
  const stages = [
    {
      parallel: "both",
      stages: [
        { id: "a", steps: [{ id: "a1" }] },
        { id: "b", steps: [{ id: "b1" }, { id: "b2" }] },
      ],
    },
    {
      id: "c",
      steps: [{ id: "c1", env: [["X", "<+pipeline.stages.a.spec.execution.steps.a1.output.outputVariables.v>"]] }],
    },
  ] as const;
  const plan = planOf(stages);
  let earlier: Execution = initial(plan);
  const events = [
    started(),
    ended(1, "a1", exited(0, { v: "1" })),
    ended(2, "b1", exited(0)),
    ended(3, "b2", exited(1)),
  ];
  for (const event of events) earlier = give(plan, earlier, event);
  const reused = [...earlier.nodes.values()].filter(
    ({ path }) => path.startsWith("p/both/a") || path === "p/both/b/steps/b1",
  );
  const again = [{ ...started(100), reused } as Event, ended(101, "b2", exited(0)), ended(102, "c1", exited(0))];
  const { effects, at, state } = run(plan, ...again);
  assert.deepEqual(effects[0], ["enqueueTask b2", "startTimer b2"]);
  assert.deepEqual(valuesOf(plan, again), ["1"]);
  assert.deepEqual(
    ["a", "a/steps", "a/steps/a1", "b/steps/b1", "b/steps/b2"].map((path) => at(`p/both/${path}`).isReused),
    [true, true, true, true, false],
  );
  assert.deepEqual([at("p/both/a").startedAt, at("p/both/a").endedAt, state.status], [0, 1, "succeeded"]);
});

test("steps at a barrier go on together, and fail when one of them cannot arrive any more", () => {
  const branch = (id: string) => ({
    group: `g${id}`,
    steps: [{ id }, { id: `b${id}`, type: "Barrier" as const }, { id: `z${id}` }],
  });
  const plan = planOf([{ id: "s", steps: [{ parallel: "p", steps: [branch("x"), branch("y")] }] }]);
  const one = run(plan, started(), ended(1, "x", exited(0)));
  assert.deepEqual([one.effects[1], one.status("p/s/steps/p/gx/bx")], [["stopTimer x", "startTimer bx"], "waiting"]);
  assert.equal(one.at("p/s/steps/p/gx/bx").reason?.message, "Waits at barrier 'b' for step 'Step by'.");
  const { effects } = run(plan, started(), ended(1, "x", exited(0)), ended(2, "y", exited(0)));
  assert.deepEqual(
    effects[2]?.filter((word) => word.startsWith("enqueueTask")),
    ["enqueueTask zx", "enqueueTask zy"],
  );
  const failed = run(plan, started(), ended(1, "x", exited(0)), ended(2, "y", exited(1)));
  assert.equal(failed.state.status, "failed");
  const message = "Barrier 'b' cannot be passed: step 'Step by' does not arrive at it any more";
  assert.equal(failed.at("p/s/steps/p/gx/bx").failure?.message, message);
});

test("a step that leaves its barrier before it is open fails those that wait there", () => {
  const branch = (id: string) => ({ group: `g${id}`, steps: [{ id }, { id: `b${id}`, type: "Barrier" as const }] });
  const plan = planOf([{ id: "s", steps: [{ parallel: "p", steps: ["x", "y", "z"].map(branch) }] }]);
  const events = [started(), ended(1, "x", exited(0)), ended(2, "y", exited(0)), fired(3, "bx")];
  const { at, status } = run(plan, ...events);
  assert.deepEqual([status("p/s/steps/p/gx/bx"), status("p/s/steps/p/gy/by")], ["expired", "failed"]);
  const message = "Barrier 'b' cannot be passed: step 'Step bx' does not arrive at it any more";
  assert.equal(at("p/s/steps/p/gy/by").failure?.message, message);
});

test("a step that an earlier execution has run counts as arrived at its barrier", () => {
  const stage = (id: string) => ({ id, steps: [{ id: `b${id}`, type: "Barrier" as const }, { id: `z${id}` }] });
  const plan = planOf([{ parallel: "both", stages: [stage("x"), stage("y")] }]);
  let earlier: Execution = initial(plan);
  for (const event of [started(), ended(1, "zx", exited(0)), ended(2, "zy", exited(1))])
    earlier = give(plan, earlier, event);
  const reused = [...earlier.nodes.values()].filter(({ path }) => path.startsWith("p/both/x"));
  const { effects, status } = run(plan, { ...started(100), reused } as Event);
  assert.equal(status("p/both/y/steps/by"), "succeeded");
  assert.deepEqual(effects[0]?.slice(-2), ["enqueueTask zy", "startTimer zy"]);
});

test("the reason of a step at a barrier names some of the others, and changes as they arrive", () => {
  const ids = ["1", "2", "3", "4", "5", "6", "7"];
  const branch = (id: string) => ({
    group: `g${id}`,
    steps: [{ id }, { id: `b${id}`, type: "Barrier" as const }],
  });
  const plan = planOf([{ id: "s", steps: [{ parallel: "p", steps: ids.map(branch) }] }]);
  const reason = (...done: readonly string[]) =>
    run(plan, started(), ...done.map((id, nth) => ended(nth + 1, id, exited(0)))).at("p/s/steps/p/g1/b1").reason
      ?.message;
  const five = "'Step b2', 'Step b3', 'Step b4', 'Step b5', 'Step b6'";
  assert.equal(reason("1"), `Waits at barrier 'b' for 6 steps ${five} and 1 more.`);
  assert.equal(reason("1", "4", "3", "2", "7"), "Waits at barrier 'b' for 2 steps 'Step b5', 'Step b6'.");
});
