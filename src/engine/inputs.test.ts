/** Nodes that wait for inputs before they begin. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Effect, Event, FailureAction, NodeInput, Plan } from "./model.ts";
import { ended, exited, fired, interrupted, outcomeOf, planOf, started, words } from "./testing/plans.ts";

const KEY = "step.spec.environmentVariables[0].value";
const READS = [["A", `<+executionInput["${KEY}"]>`]] as const;
const asks: readonly NodeInput[] = [{ key: KEY, default: "plan" }];

const submitted = (at: number, node: string, values: Record<string, string>): Event => ({
  ...{ kind: "inputSubmitted", at, node, values },
});

const askedBy = (inputs: readonly NodeInput[], action?: FailureAction): Plan =>
  planOf([
    {
      id: "s",
      steps: [
        {
          ...{ id: "a", env: READS, asks: inputs, timeoutMs: 20_000 },
          ...(action && { strategies: [{ errors: ["InputTimeoutError"], action }] }),
        },
        { id: "b" },
      ],
    },
  ]);

const envOf = (effects: readonly Effect[], node: string): unknown =>
  effects.flatMap((one) => (one.kind === "enqueueTask" && one.node === node ? [one.work["env"]] : [])).at(-1);

test("a step waits for its inputs, and its script gets what was submitted as data", () => {
  const plan = askedBy(asks);
  const waiting = outcomeOf(plan, [started()]);
  assert.equal(waiting.state.status, "inputWaiting");
  assert.deepEqual([waiting.state.nodes["a"]?.status, waiting.state.nodes["a"]?.reason?.kind], ["waiting", "input"]);
  assert.deepEqual(words(waiting.effects), ["startTimer a"]);
  const value = '$(id) <+pipeline.name> "x"';
  const { state, effects } = outcomeOf(plan, [started(), submitted(1, "a", { [KEY]: value })]);
  assert.deepEqual(words(effects), ["startTimer a", "enqueueTask a"]);
  assert.deepEqual(envOf(effects, "a"), [{ name: "A", value }]);
  assert.deepEqual(state.nodes["a"]?.inputs, { [KEY]: value });
  const done = outcomeOf(plan, [
    ...[started(), submitted(1, "a", { [KEY]: value }), ended(2, "a", exited(0)), ended(3, "b", exited(0))],
  ]);
  assert.equal(done.state.status, "succeeded");
});

test("a second submission, other keys and an answer to something else change nothing", () => {
  const plan = askedBy(asks);
  const first = [started(), submitted(1, "a", { [KEY]: "one" })];
  const { state, effects } = outcomeOf(plan, [...first, submitted(2, "a", { [KEY]: "two" })]);
  assert.deepEqual([state.nodes["a"]?.inputs, effects.length], [{ [KEY]: "one" }, 2]);
  for (const event of [
    ...[
      submitted(1, "a", {}),
      submitted(1, "a", { other: "x" }),
      submitted(1, "a", { [KEY]: "x", more: "y" }),
      submitted(1, "b", { [KEY]: "x" }),
    ],
    { kind: "answered", at: 1, node: "a", answer: { [KEY]: "x" } } as const,
  ])
    assert.equal(outcomeOf(plan, [started(), event]).state.status, "inputWaiting");
});

test("without a submission in time the step fails with InputTimeoutError", () => {
  const { state } = outcomeOf(askedBy(asks), [started(), fired(20_000, "a")]);
  assert.deepEqual(state.nodes["a"]?.failure, {
    message: "The inputs of 'Step a' were not submitted within its timeout of 20 s",
    types: ["InputTimeoutError"],
  });
  assert.deepEqual([state.nodes["a"]?.status, state.status], ["expired", "expired"]);
});

test("ProceedWithDefaultValues goes on with the defaults, in a time of its own", () => {
  const plan = askedBy(asks, { type: "ProceedWithDefaultValues" });
  const { state, effects } = outcomeOf(plan, [started(), fired(20_000, "a")]);
  assert.deepEqual(words(effects), ["startTimer a", "startTimer a", "enqueueTask a"]);
  assert.deepEqual(envOf(effects, "a"), [{ name: "A", value: "plan" }]);
  assert.equal(state.nodes["a"]?.attempt, 1);
  assert.deepEqual(
    effects.flatMap((one) => (one.kind === "startTimer" ? [one.at] : [])),
    [20_000, 40_000],
  );
});

test("ProceedWithDefaultValues names the inputs without a default", () => {
  const plan = askedBy([...asks, { key: "other" }], { type: "ProceedWithDefaultValues" });
  const { state } = outcomeOf(plan, [started(), fired(20_000, "a")]);
  assert.match(state.nodes["a"]?.failure?.message ?? "", /, and ProceedWithDefaultValues finds no default for other$/);
});

test("a retry after the timeout asks again; one after a failure has what was submitted", () => {
  const retry = { type: "Retry", count: 2, intervals: [], fallback: { type: "MarkAsFailure" } } as const;
  const again = outcomeOf(askedBy(asks, retry), [started(), fired(20_000, "a")]);
  assert.deepEqual([again.state.status, again.state.nodes["a"]?.attempt], ["inputWaiting", 2]);
  const plan = planOf([
    { id: "s", steps: [{ id: "a", env: READS, asks, strategies: [{ errors: ["AllErrors"], action: retry }] }] },
  ]);
  const given = [started(), submitted(1, "a", { [KEY]: "one" }), ended(2, "a", exited(1))];
  const { state, effects } = outcomeOf(plan, given);
  assert.deepEqual([state.status, state.nodes["a"]?.attempt], ["running", 2]);
  assert.deepEqual(envOf(effects, "a"), [{ name: "A", value: "one" }]);
});

test("what comes in a pause is kept until the execution is resumed", () => {
  const plan = askedBy(asks);
  const paused = [started(), interrupted(1, "Pause"), submitted(2, "a", { [KEY]: "x" })];
  const { state, effects } = outcomeOf(plan, paused);
  assert.deepEqual([state.status, state.nodes["a"]?.status, words(effects)], ["paused", "paused", ["startTimer a"]]);
  const resumed = outcomeOf(plan, [...paused, interrupted(3, "Resume")]);
  assert.deepEqual(words(resumed.effects), ["startTimer a", "enqueueTask a"]);
});

test("a stage waits before it asks for its lock; its variables are there for its steps and for later stages", () => {
  const variable = { key: "stage.variables[0].value", variable: "size", type: "Number" } as const;
  const plan = planOf([
    {
      id: "s",
      asks: [variable],
      lock: "web <+stage.variables.size>",
      steps: [{ id: "a", env: [["A", "<+ stage.variables.size + 1 >"]] }],
    },
    { id: "t", steps: [{ id: "b", env: [["B", "<+pipeline.stages.s.variables.size>"]] }] },
  ]);
  const before = outcomeOf(plan, [started()]);
  assert.deepEqual([before.state.status, before.state.nodes["s"]?.status], ["inputWaiting", "waiting"]);
  const events = [
    ...[started(), submitted(1, "s", { [variable.key]: "3" })],
    { kind: "answered", at: 2, node: "s", answer: null } as const,
    ended(3, "a", exited(0)),
  ];
  const { effects } = outcomeOf(plan, events);
  assert.deepEqual(words(effects).slice(0, 2), ["sendRequest s", "enqueueTask a"]);
  assert.ok(effects.some((one) => one.kind === "sendRequest" && one.service === "lock" && one.key === "web 3"));
  assert.deepEqual(envOf(effects, "a"), [{ name: "A", value: "4" }]);
  assert.deepEqual(envOf(effects, "b"), [{ name: "B", value: "3" }]);
});

test("each repetition asks for itself, and an abort ends what waits", () => {
  const loop = { strategy: { type: "times", times: 2 }, onFailure: "RunAll" } as const;
  const plan = planOf([{ id: "s", steps: [{ id: "a", env: READS, asks, loop }] }]);
  const { state } = outcomeOf(plan, [started()]);
  const waiting = Object.values(state.nodes).filter(({ status }) => status === "waiting");
  assert.equal(waiting.length, 2);
  const [first] = waiting;
  const one = outcomeOf(plan, [started(), submitted(1, first?.id ?? "", { [KEY]: "x" })]);
  assert.equal(one.effects.filter(({ kind }) => kind === "enqueueTask").length, 1);
  const aborted = outcomeOf(plan, [started(), interrupted(1, "AbortAll")]);
  assert.equal(aborted.state.status, "aborted");
});

test("a rollback of the pipeline leaves a stage alone that never got its inputs", () => {
  const rolls = [{ errors: ["AllErrors" as const], action: { type: "PipelineRollback" as const } }];
  const plan = planOf([
    { id: "s", steps: [{ id: "a" }], rollback: [{ id: "undo" }] },
    {
      ...{ id: "t", asks, timeoutMs: 20_000, strategies: rolls },
      ...{ steps: [{ id: "b" }], rollback: [{ id: "never" }] },
    },
  ]);
  const { effects } = outcomeOf(plan, [started(), ended(1, "a", exited(0)), fired(20_000, "t")]);
  const tasks = effects.flatMap((one) => (one.kind === "enqueueTask" ? [one.work["script"]] : []));
  assert.deepEqual(tasks, ["echo a", "echo undo"]);
});
