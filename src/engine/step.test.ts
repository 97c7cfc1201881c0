import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, NodeId, Plan } from "./model.ts";
import {
  abort,
  cancelled,
  ended,
  engine,
  exited,
  fired,
  lost,
  outcomeOf,
  planOf,
  play,
  started,
  give,
  initial,
  type Execution,
  type Seen,
  words,
} from "./testing/plans.ts";

const TWO_STAGES = planOf([
  {
    id: "build",
    steps: [{ id: "compile" }, { id: "pack" }],
    rollback: [{ id: "clean" }, { id: "tell" }],
    rollsBack: true,
  },
  { id: "deploy", steps: [{ id: "roll" }] },
]);

const envOf = (work: unknown): readonly { readonly value: string }[] =>
  (work as { readonly env: readonly { readonly value: string }[] }).env;

const statuses = (state: Seen): Record<NodeId, string> =>
  Object.fromEntries(Object.entries(state.nodes).map(([id, { status }]) => [id, status]));

const only = (state: Seen, ...ids: NodeId[]) => ids.map((id) => statuses(state)[id]);

test("the outputs of one execution are bounded in sum: the step that goes beyond fails, and its outputs are not kept", () => {
  const ids = Array.from({ length: 9 }, (_, nth) => `s${nth}`);
  const plan = planOf([{ id: "a", steps: ids.map((id) => ({ id })) }]);
  const large = [{ name: "x", value: "é".repeat(256 * 1024) }];
  const outcome = { kind: "exited", exitCode: 0, outputs: large } as const;
  const { state } = outcomeOf(plan, [started(1), ...ids.map((node) => ended(2, node, outcome))]);
  assert.deepEqual(
    [state.nodes["s7"]?.status, state.nodes["s8"]?.status, state.status],
    ["succeeded", "failed", "failed"],
  );
  assert.deepEqual(state.nodes["s8"]?.outputs, []);
  assert.match(state.failure?.message ?? "", /outputs of one execution, .* have at most 4194304 bytes together/);
});

test("stages and steps run one after the other, and the execution succeeds", () => {
  const transitions = play(TWO_STAGES, [
    started(100),
    ended(200, "compile", exited(0)),
    ended(300, "pack", exited(0)),
    ended(400, "roll", exited(0)),
  ]);
  assert.deepEqual(
    transitions.map(({ effects }) => words(effects)),
    [
      ["enqueueTask compile", "startTimer compile"],
      ["stopTimer compile", "enqueueTask pack", "startTimer pack"],
      ["stopTimer pack", "enqueueTask roll", "startTimer roll"],
      ["stopTimer roll", "endExecution succeeded"],
    ],
  );
  const state = transitions.at(-1)?.state;
  assert.ok(state);
  assert.deepEqual([state.status, state.startedAt, state.endedAt, state.failure], ["succeeded", 100, 400, null]);
  assert.deepEqual(statuses(state), {
    pipeline: "succeeded",
    build: "succeeded",
    "build.steps": "succeeded",
    compile: "succeeded",
    pack: "succeeded",
    "build.rollback": "skipped",
    clean: "skipped",
    tell: "skipped",
    deploy: "succeeded",
    "deploy.steps": "succeeded",
    roll: "succeeded",
    "deploy.rollback": "skipped",
  });
  assert.deepEqual([state.nodes["pack"]?.startedAt, state.nodes["pack"]?.endedAt], [200, 300]);
});

test("a step's timer ends its time after its start", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a", timeoutMs: 5_000 }] }]);
  const [first] = play(plan, [started(1_000)]);
  assert.deepEqual(first?.effects.at(-1), { kind: "startTimer", node: "a", purpose: "timeout", at: 6_000 });
});

test("outputs of earlier steps, times, statuses and the trigger reach later steps", () => {
  const plan = planOf(
    [
      {
        id: "build",
        steps: [
          { id: "compile" },
          {
            id: "pack",
            env: [
              [
                "A",
                "<+execution.steps.compile.output.outputVariables.v>/<+steps.compile.status>/<+step.name>/<+stage.name>",
              ],
            ],
          },
        ],
      },
      {
        id: "deploy",
        steps: [
          {
            id: "roll",
            env: [
              [
                "B",
                "<+pipeline.stages.build.spec.execution.steps.compile.output.outputVariables.v> <+trigger.payload.t>",
              ],
              [
                "C",
                "<+pipeline.stages.build.status> <+pipeline.stages.build.endTs> <+pipeline.status> <+pipeline.startTs> <+steps.roll.retryCount>",
              ],
              ["D", "<+pipeline.stages.build.spec.execution.steps.compile.output>"],
            ],
          },
        ],
      },
    ],
    { trigger: { payload: { t: "$(id) <+pipeline.name>" } } },
  );
  const transitions = play(plan, [
    started(1),
    ended(2, "compile", exited(0, { v: "1.2", v2: "x" })),
    ended(3, "pack", exited(0)),
  ]);
  const env = transitions
    .flatMap(({ effects }) => effects)
    .flatMap((effect) => (effect.kind === "enqueueTask" ? envOf(effect.work) : []));
  assert.deepEqual(
    env.map(({ value }) => value),
    [
      "1.2/SUCCEEDED/Step pack/build",
      "1.2 $(id) <+pipeline.name>",
      "SUCCEEDED 3 RUNNING 1 0",
      '{"outputVariables":{"v":"1.2","v2":"x"}}',
    ],
  );
});

test("in rollback steps the main steps are in reach, and the stage counts as failed", () => {
  const plan = planOf([
    {
      id: "s",
      rollsBack: true,
      steps: [{ id: "a" }, { id: "b" }],
      rollback: [
        {
          id: "undo",
          env: [
            [
              "A",
              "<+execution.steps.a.output.outputVariables.v> <+steps.b.status> <+stage.status> <+stage.currentStatus>",
            ],
          ],
        },
        { id: "tell", env: [["B", "<+execution.rollbackSteps.undo.status> <+step.identifier>"]] },
      ],
    },
  ]);
  const transitions = play(plan, [
    started(),
    ended(1, "a", exited(0, { v: "x" })),
    ended(2, "b", exited(1)),
    ended(3, "undo", exited(0)),
  ]);
  const env = transitions
    .flatMap(({ effects }) => effects)
    .flatMap((effect) => (effect.kind === "enqueueTask" ? envOf(effect.work) : []));
  assert.deepEqual(
    env.map(({ value }) => value),
    ["x FAILED RUNNING FAILED", "SUCCEEDED tell"],
  );
});

test("without a failure strategy a failed step fails its stage and what follows is skipped", () => {
  const plan = planOf([
    { id: "s", steps: [{ id: "a" }, { id: "b" }], rollback: [{ id: "r" }] },
    { id: "t", steps: [{ id: "c" }] },
  ]);
  const { state, effects } = outcomeOf(plan, [started(), ended(1, "a", exited(3))]);
  assert.deepEqual(words(effects).slice(2), ["stopTimer a", "endExecution failed"]);
  assert.deepEqual(only(state, "s", "a", "b", "s.rollback", "r", "t", "t.steps", "c"), [
    "failed",
    "failed",
    "skipped",
    "skipped",
    "skipped",
    "skipped",
    "skipped",
    "skipped",
  ]);
  assert.deepEqual(state.failure, { message: "Step 'Step a' exited with code 3", types: ["ApplicationError"] });
  assert.deepEqual([state.nodes["a"]?.exitCode, state.nodes["c"]?.startedAt, state.nodes["c"]?.endedAt], [3, null, 1]);
});

test("with StageRollback the rollback steps run, then the stage and the execution have failed", () => {
  const transitions = play(TWO_STAGES, [
    started(),
    ended(1, "compile", exited(0)),
    ended(2, "pack", exited(137)),
    ended(3, "clean", exited(0)),
    ended(4, "tell", exited(0)),
  ]);
  assert.deepEqual(
    transitions.slice(2).map(({ effects }) => words(effects)),
    [
      ["stopTimer pack", "enqueueTask clean", "startTimer clean"],
      ["stopTimer clean", "enqueueTask tell", "startTimer tell"],
      ["stopTimer tell", "endExecution failed"],
    ],
  );
  const state = transitions.at(-1)?.state;
  assert.ok(state);
  assert.deepEqual(only(state, "build", "build.steps", "build.rollback", "deploy", "roll"), [
    "failed",
    "failed",
    "succeeded",
    "skipped",
    "skipped",
  ]);
  assert.equal(state.failure?.message, "Step 'Step pack' exited with code 137 (128 + 9: ended by SIGKILL)");
});

test("a failure in the rollback ends it and is kept; the stage tells it beside the failure that led to it", () => {
  const { state } = outcomeOf(TWO_STAGES, [started(), ended(1, "compile", exited(1)), ended(2, "clean", exited(2))]);
  assert.deepEqual(only(state, "build", "build.rollback", "clean", "tell"), ["failed", "failed", "failed", "skipped"]);
  assert.equal(state.nodes["build.rollback"]?.failure?.message, "Step 'Step clean' exited with code 2");
  const message =
    "Step 'Step compile' exited with code 1. The rollback failed, too: Step 'Step clean' exited with code 2";
  assert.equal(state.failure?.message, message);
});

test("StageRollback without rollback steps fails the stage at once", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a" }], rollsBack: true }]);
  const { state, effects } = outcomeOf(plan, [started(), ended(1, "a", exited(1))]);
  assert.deepEqual(words(effects).slice(2), ["stopTimer a", "endExecution failed"]);
  assert.deepEqual(only(state, "s", "s.rollback"), ["failed", "succeeded"]);
});

test("a lost task fails with the type of the loss, a cancel nobody asked for is a failure", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a" }] }]);
  const gone = outcomeOf(plan, [started(), ended(1, "a", lost("no heartbeat"))]).state;
  assert.deepEqual(gone.failure, { message: "Step 'Step a' was lost: no heartbeat", types: ["DelegateRestart"] });
  const { state } = outcomeOf(plan, [started(), ended(1, "a", cancelled(2))]);
  assert.deepEqual([state.status, state.failure?.types, state.nodes["a"]?.survivors], ["failed", ["Unknown"], 2]);
});

test("an expression without a value fails the step before it becomes a task, and the strategy runs", () => {
  const plan = planOf([
    {
      id: "s",
      rollsBack: true,
      steps: [{ id: "a", env: [["X", "<+pipeline.variables.nope>"]] }],
      rollback: [{ id: "r" }],
    },
  ]);
  const { state, effects } = outcomeOf(plan, [started()]);
  assert.deepEqual(words(effects), ["enqueueTask r", "startTimer r"]);
  assert.deepEqual(state.nodes["a"]?.failure?.types, ["ExpressionEvaluation"]);
  assert.match(
    state.nodes["a"]?.failure?.message ?? "",
    /^Expression <\+pipeline\.variables\.nope> cannot be resolved: pipeline\.variables has no 'nope'/,
  );
});

test("results that are not there yet are named as such", () => {
  const failure = (expression: string) => {
    const plan = planOf([{ id: "s", steps: [{ id: "a", env: [["X", expression]] }, { id: "b" }], rollback: [] }]);
    return outcomeOf(plan, [started()]).state.failure?.message ?? "";
  };
  assert.match(failure("<+steps.b.output.outputVariables.v>"), /step 'b' has not ended yet, so it has no output/);
  assert.match(failure("<+step.output>"), /step 'a' has not ended yet, so it has no output/);
  assert.match(failure("<+steps.b.status>"), /step 'b' has not been reached yet/);
  assert.match(failure("<+stage.endTs>"), /stage 's' has not ended yet/);
  assert.match(failure("<+steps.c.status>"), /steps has no 'c'; it has: a, b/);
  assert.match(failure("<+org.name>"), /there is no 'org' here/);
});

test("the timer asks the step to stop; without a strategy its end makes the execution expired", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a", timeoutMs: 90_000 }, { id: "b" }] }]);
  const [, second, third] = play(plan, [started(0), fired(90_000, "a"), ended(91_000, "a", cancelled(1))]);
  assert.deepEqual(words(second?.effects ?? []), ["cancelTask a"]);
  assert.deepEqual(
    [second?.state.status, second?.state.nodes["a"]?.status, second?.state.nodes["a"]?.stopping],
    ["running", "running", "expired"],
  );
  assert.deepEqual(words(third?.effects ?? []), ["endExecution expired"]);
  assert.ok(third);
  assert.deepEqual(only(third.state, "a", "b", "s", "pipeline"), ["expired", "skipped", "expired", "expired"]);
  assert.deepEqual(third.state.failure, {
    message: "Step 'Step a' did not end within its timeout of 90 s",
    types: ["Timeout"],
  });
  assert.equal(third.state.nodes["a"]?.survivors, 1);
});

test("an expired step rolls its stage back, and the execution has failed", () => {
  const events = [
    started(),
    fired(1, "compile"),
    ended(2, "compile", cancelled()),
    ended(3, "clean", exited(0)),
    ended(4, "tell", exited(0)),
  ];
  const { state } = outcomeOf(TWO_STAGES, events);
  assert.deepEqual(only(state, "compile", "build.steps", "build.rollback", "build", "pipeline"), [
    "expired",
    "expired",
    "succeeded",
    "failed",
    "failed",
  ]);
  assert.deepEqual(state.failure?.types, ["Timeout"]);
});

test("after the timer has fired, only a success that was already there stands", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a" }] }]);
  const after = (outcome: Parameters<typeof ended>[2]) =>
    outcomeOf(plan, [started(), fired(1, "a"), ended(2, "a", outcome)]);
  assert.deepEqual(words(after(exited(0)).effects).slice(2), ["cancelTask a", "endExecution succeeded"]);
  assert.deepEqual([after(exited(143)).state.status, after(exited(143)).state.nodes["a"]?.exitCode], ["expired", 143]);
  assert.equal(after(lost()).state.status, "expired");
});

test("abort: running tasks are cancelled, nothing starts, no rollback, and the execution is aborted", () => {
  const [, second, third] = play(TWO_STAGES, [started(), abort(1), ended(2, "compile", cancelled())]);
  assert.deepEqual(words(second?.effects ?? []), ["cancelTask compile", "stopTimer compile"]);
  assert.deepEqual([second?.state.status, second?.state.aborting], ["running", true]);
  assert.deepEqual(words(third?.effects ?? []), ["endExecution aborted"]);
  assert.ok(third);
  assert.deepEqual(only(third.state, "compile", "pack", "build", "build.rollback", "deploy", "pipeline"), [
    "aborted",
    "skipped",
    "aborted",
    "skipped",
    "skipped",
    "aborted",
  ]);
});

test("abort during a rollback ends it too", () => {
  const { state, effects } = outcomeOf(TWO_STAGES, [
    started(),
    ended(1, "compile", exited(1)),
    abort(2),
    ended(3, "clean", exited(9)),
  ]);
  assert.deepEqual(words(effects).slice(-3), ["cancelTask clean", "stopTimer clean", "endExecution aborted"]);
  assert.deepEqual(only(state, "compile", "clean", "tell", "build.rollback", "build"), [
    "failed",
    "aborted",
    "skipped",
    "aborted",
    "aborted",
  ]);
});

test("a task that had ended well before the abort reached it keeps its result; the execution is aborted all the same", () => {
  const { state } = outcomeOf(planOf([{ id: "s", steps: [{ id: "a" }] }]), [
    started(),
    abort(1),
    ended(2, "a", exited(0, { v: "1" })),
  ]);
  assert.deepEqual(only(state, "a", "s", "pipeline"), ["succeeded", "aborted", "aborted"]);
});

test("an abort while a timeout is under way asks for nothing twice", () => {
  const { state, effects } = outcomeOf(TWO_STAGES, [
    started(),
    fired(1, "compile"),
    abort(2),
    ended(3, "compile", cancelled()),
  ]);
  assert.deepEqual(words(effects).slice(2), ["cancelTask compile", "endExecution aborted"]);
  assert.deepEqual(only(state, "compile", "build", "pipeline"), ["expired", "aborted", "aborted"]);
});

test("an abort before the start ends the execution at once", () => {
  const { state, effects } = outcomeOf(TWO_STAGES, [abort(5), started(6)]);
  assert.deepEqual(words(effects), ["endExecution aborted"]);
  assert.deepEqual(
    [state.status, state.startedAt, state.endedAt, statuses(state)["roll"]],
    ["aborted", null, 5, "skipped"],
  );
});

test("events that come too late, twice, or for something else change nothing", () => {
  const after = (...events: readonly Event[]): Execution => {
    let execution: Execution = initial(TWO_STAGES);
    for (const event of events) execution = give(TWO_STAGES, execution, event);
    return execution;
  };
  const fresh = initial(TWO_STAGES);
  const running = after(started());
  const aborting = after(started(), abort(1));
  const expiring = after(started(), fired(1, "compile"));
  const over = after(started(), abort(1), ended(2, "compile", cancelled()));
  const stale: readonly (readonly [Execution, Event])[] = [
    [running, started(9)],
    [running, ended(9, "compile", exited(0), 2)],
    [running, ended(9, "pack", exited(0))],
    [running, ended(9, "build", exited(0))],
    [running, ended(9, "__proto__", exited(0))],
    [running, ended(9, "unknown", exited(0))],
    [running, fired(9, "compile", "retry")],
    [running, fired(9, "compile", "wait")],
    [running, fired(9, "pack")],
    [fresh, ended(9, "compile", exited(0))],
    [expiring, fired(9, "compile")],
    [aborting, fired(9, "compile")],
    [aborting, abort(9)],
    [over, started(9)],
    [over, abort(9)],
    [over, ended(9, "compile", exited(0))],
    [over, fired(9, "compile")],
  ];
  for (const [before, event] of stale) {
    const next = engine.step(TWO_STAGES, before, event);
    assert.equal(next.state, before.state, JSON.stringify(event));
    assert.deepEqual([next.effects, next.changed.size], [[], 0]);
  }
});

test("an empty pipeline and empty stages succeed at once", () => {
  assert.deepEqual(words(outcomeOf(planOf([]), [started()]).effects), ["endExecution succeeded"]);
  assert.equal(
    outcomeOf(
      planOf([
        { id: "s", steps: [] },
        { id: "t", steps: [] },
      ]),
      [started()],
    ).state.status,
    "succeeded",
  );
});

test("a plan that is no tree is refused", () => {
  const plan = planOf([{ id: "s", steps: [{ id: "a" }] }]);
  const twice: Plan = {
    ...plan,
    nodes: { ...plan.nodes, "s.rollback": { ...plan.nodes["s.rollback"], children: ["a"] } as never },
  };
  assert.throws(() => engine.initialState(twice), /twice/);
  const { a: _, ...rest } = plan.nodes;
  assert.throws(() => engine.initialState({ ...plan, nodes: rest }), /no node a/);
});

test("thousands of nodes that end in one transition do not exhaust the stack", () => {
  const stages = Array.from({ length: 3_000 }, (_, index) => ({ id: `s${index}`, steps: [] }));
  assert.equal(outcomeOf(planOf(stages), [started()]).state.status, "succeeded");
});
