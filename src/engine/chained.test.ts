import assert from "node:assert/strict";
import { test } from "node:test";
import { type Border, withChained } from "./chain.ts";
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
  planOf,
  type StageSketch,
  started,
  words,
} from "./testing/plans.ts";

const on = (action: FailureAction): readonly FailureStrategy[] => [{ errors: ["AllErrors"], action }];

/** A stage `chain` that runs a pipeline, after and before others. */
type Sketch = Border & {
  readonly child: readonly StageSketch[];
  readonly childVariables?: Readonly<Record<string, string>>;
  readonly childTimeoutMs?: number;
  readonly chain?: Partial<StageSketch>;
  readonly before?: readonly StageSketch[];
  readonly after?: readonly StageSketch[];
};

function chained(sketch: Sketch): Plan {
  const { child, chain, before = [], after = [], childVariables = {}, childTimeoutMs, ...border } = sketch;
  const parent = planOf([...before, { id: "chain", steps: [], ...chain }, ...after], {
    project: { identifier: "parent" },
  });
  const inner = planOf(
    child,
    { project: { identifier: "child" } },
    {
      root: "inner",
      ...(childTimeoutMs !== undefined && { timeoutMs: childTimeoutMs }),
    },
  );
  const pipeline = { ...Object(inner.context["pipeline"]), variables: childVariables };
  return withChained(parent, "chain", { child: { ...inner, context: { ...inner.context, pipeline } }, ...border });
}

function run(plan: Plan, ...events: readonly (Event | ((at: (path: string) => NodeState) => Event))[]) {
  let execution: Execution = initial(plan);
  const at = (path: string): NodeState => {
    const node = [...execution.nodes.values()].find((one) => one.path === path);
    assert.ok(node, `${path} is not among ${[...execution.nodes.values()].map((one) => one.path).join(", ")}`);
    return node;
  };
  const told: (readonly string[])[] = [];
  const envs: unknown[] = [];
  for (const event of events) {
    const next = give(plan, execution, typeof event === "function" ? event(at) : event);
    execution = next;
    told.push(words(next.effects).map((one) => one.replace(/ (\S{36})/, (_, id) => ` ${pathOf(execution, id)}`)));
    for (const effect of next.effects) if (effect.kind === "enqueueTask") envs.push(effect.work["env"]);
  }
  return {
    state: execution.state,
    effects: told,
    envs,
    at,
    has: (path: string) => [...execution.nodes.values()].some((one) => one.path === path),
  };
}

const pathOf = ({ nodes }: Execution, id: string): string => nodes.get(id)?.path ?? id;
const ok = (node: string, at = 1, outputs: Readonly<Record<string, string>> = {}): Event =>
  ended(at, node, exited(0, outputs));

test("the nodes of a chained pipeline stand below its stage, and the next stage follows them", () => {
  const plan = chained({ child: [{ id: "s", steps: [{ id: "x" }] }], after: [{ id: "t", steps: [{ id: "y" }] }] });
  const { effects, at, state } = run(plan, started(), ok("x"), ok("y", 2));
  assert.deepEqual(effects, [
    ["enqueueTask x", "startTimer x"],
    ["stopTimer x", "enqueueTask y", "startTimer y"],
    ["stopTimer y", "endExecution succeeded"],
  ]);
  assert.deepEqual([at("p/chain/p/s/steps/x").status, state.status], ["succeeded", "succeeded"]);
});

test("expressions see their own pipeline: its variables, project, steps and repetition", () => {
  const env = [
    ["A", "<+pipeline.variables.v>"],
    ["B", "<+project.identifier>"],
    ["C", "<+stage.identifier>"],
    ["D", "<+pipeline.stages.s.identifier>"],
  ] as const;
  const { envs } = run(
    chained({
      childVariables: { v: "of the child" },
      child: [{ id: "s", steps: [{ id: "x", env }] }],
      after: [{ id: "t", steps: [{ id: "y", env: [["P", "<+project.identifier> <+pipeline.stages.chain.status>"]] }] }],
    }),
    started(),
    ok("x"),
  );
  assert.deepEqual(envs, [
    [
      { name: "A", value: "of the child" },
      { name: "B", value: "child" },
      { name: "C", value: "s" },
      { name: "D", value: "s" },
    ],
    [{ name: "P", value: "parent SUCCEEDED" }],
  ]);
});

for (const expression of ["<+pipeline.stages.chain.status>", "<+matrix.region>", "<+strategy.iteration>"])
  test(`a chained pipeline does not see ${expression} of the one around it`, () => {
    const plan = chained({
      chain: {
        loop: {
          strategy: { type: "matrix", axes: [{ name: "region", values: ["eu"] }], exclude: [] },
          onFailure: "RunAll",
        },
      },
      child: [{ id: "s", steps: [{ id: "x", env: [["A", expression]] }] }],
    });
    const { state } = run(plan, started());
    assert.equal(state.status, "failed");
  });

test("the pipeline around it sees the outputs alone", () => {
  const reads = (text: string) => [{ id: "t", steps: [{ id: "y", env: [["A", text] as const] }] }];
  const sketch = (text: string): Plan =>
    chained({
      child: [{ id: "s", steps: [{ id: "x" }] }],
      outputs: [
        { name: "version", value: "v<+pipeline.stages.s.spec.execution.steps.x.output.outputVariables.n>" },
        { name: "fixed", value: "1" },
      ],
      after: reads(text),
    });
  const given = run(
    sketch("<+pipeline.stages.chain.output.version> <+pipeline.stages.chain.output.fixed>"),
    started(),
    ok("x", 1, { n: "7" }),
  );
  assert.deepEqual(given.envs[1], [{ name: "A", value: "v7 1" }]);
  for (const hidden of ["pipeline.stages.chain.output.n", "pipeline.stages.s.status", "pipeline.stages.chain.pipeline"])
    assert.equal(run(sketch(`<+${hidden}>`), started(), ok("x", 1, { n: "7" })).state.status, "failed", hidden);
});

test("an output without a value fails the pipeline, and the strategies of the stage say what follows", () => {
  const sketch = (chain: Partial<StageSketch>): Plan =>
    chained({ chain, child: [{ id: "s", steps: [{ id: "x" }] }], outputs: [{ name: "o", value: "<+pipeline.no>" }] });
  const failed = run(sketch({}), started(), ok("x"));
  assert.equal(failed.state.status, "failed");
  assert.match(failed.state.failure?.message ?? "", /^The output 'o' of pipeline 'P': .*no/);
  assert.equal(run(sketch({ strategies: on({ type: "Ignore" }) }), started(), ok("x")).state.status, "ignored");
});

test("inputs are evaluated by the stage when it begins, each instance of it for itself", () => {
  const plan = chained({
    chain: {
      loop: {
        strategy: { type: "matrix", axes: [{ name: "region", values: ["eu", "us"] }], exclude: [] },
        onFailure: "RunAll",
      },
    },
    before: [{ id: "b", steps: [{ id: "build" }] }],
    inputs: [
      { name: "region", value: "<+matrix.region>", allowed: ["eu", "us"] },
      { name: "tag", value: "<+pipeline.stages.b.spec.execution.steps.build.output.outputVariables.tag>" },
    ],
    childVariables: { fixed: "f" },
    child: [
      {
        id: "s",
        steps: [
          {
            id: "x",
            env: [["A", "<+pipeline.variables.region> <+pipeline.variables.tag> <+pipeline.variables.fixed>"]],
          },
        ],
      },
    ],
    outputs: [{ name: "where", value: "<+pipeline.variables.region>" }],
    after: [{ id: "t", steps: [{ id: "y", env: [["A", "<+pipeline.stages.chain_1.output.where>"]] }] }],
  });
  const { envs } = run(
    plan,
    started(),
    ok("build", 1, { tag: "1.2" }),
    (at) => ok(at("p/chain/chain[0]/p/s/steps/x").id, 2),
    (at) => ok(at("p/chain/chain[1]/p/s/steps/x").id, 3),
  );
  assert.deepEqual(envs.slice(1), [
    [{ name: "A", value: "eu 1.2 f" }],
    [{ name: "A", value: "us 1.2 f" }],
    [{ name: "A", value: "us" }],
  ]);
});

const REFUSED_INPUTS = [
  [{ value: "<+pipeline.no>" }, /^The input 'i' of pipeline 'P': .*no/],
  [{ value: "a", allowed: ["b"] }, /is not one of the allowed values: b/],
  [{ value: "a,c", allowed: ["a", "b"], isMany: true }, /is not one of the allowed values/],
  [{ value: "a", pattern: "b+" }, /does not match b\+/],
  [{ value: "a", type: "Number" }, /its value is not a decimal number/],
  [{ value: "<+pipeline.name.substring(0, 0)>", isRequired: true }, /a value is required/],
] as const;
for (const [input, message] of REFUSED_INPUTS)
  test(`an input ${JSON.stringify(input)} fails its stage before anything runs`, () => {
    const plan = chained({ inputs: [{ name: "i", ...input }], child: [{ id: "s", steps: [{ id: "x" }] }] });
    const { state, effects } = run(plan, started());
    assert.equal(state.status, "failed");
    assert.match(state.failure?.message ?? "", message);
    assert.deepEqual(effects, [["endExecution failed"]]);
  });

test("a pipeline rollback stays in the chained pipeline, and its failure is one of the stage", () => {
  const plan = chained({
    before: [{ id: "b", steps: [{ id: "build" }], rollback: [{ id: "unbuild" }] }],
    child: [
      { id: "s", steps: [{ id: "x" }], rollback: [{ id: "unx" }] },
      { id: "t", steps: [{ id: "y" }], rollback: [{ id: "uny" }], strategies: on({ type: "PipelineRollback" }) },
    ],
    after: [{ id: "u", steps: [{ id: "z" }], when: { status: "Failure" } }],
  });
  const { effects, at } = run(
    plan,
    ...[started(), ok("build"), ok("x", 2), ended(3, "y", exited(1))],
    (node) => ok(node("p/chain/p/rollbackSteps(p/chain/p/t)/uny").id, 4),
    (node) => ok(node("p/chain/p/rollbackSteps(p/chain/p/s)/unx").id, 5),
    ok("z", 6),
  );
  assert.deepEqual(
    effects.map((all) => all.filter((one) => one.startsWith("enqueueTask") || one.startsWith("end"))),
    [
      ["enqueueTask build"],
      ["enqueueTask x"],
      ["enqueueTask y"],
      ["enqueueTask p/chain/p/rollbackSteps(p/chain/p/t)/uny"],
      ["enqueueTask p/chain/p/rollbackSteps(p/chain/p/s)/unx"],
      ["enqueueTask z"],
      ["endExecution failed"],
    ],
  );
  assert.equal(at("p/chain").failure?.message, "Step 'Step y' exited with code 1");
});

test("a pipeline rollback undoes the stages of a chained pipeline that has succeeded, with what they have seen", () => {
  const plan = chained({
    chain: {
      loop: {
        strategy: { type: "matrix", axes: [{ name: "region", values: ["eu", "us"] }], exclude: [] },
        onFailure: "RunAll",
      },
    },
    inputs: [{ name: "region", value: "<+matrix.region>" }],
    child: [
      {
        id: "s",
        steps: [{ id: "x" }],
        rollback: [
          { id: "unx", env: [["A", "<+pipeline.variables.region> <+execution.steps.x.output.outputVariables.v>"]] },
        ],
      },
    ],
    after: [{ id: "t", steps: [{ id: "y" }], strategies: on({ type: "PipelineRollback" }) }],
  });
  const { envs, state } = run(
    plan,
    started(),
    (at) => ok(at("p/chain/chain[0]/p/s/steps/x").id, 1, { v: "1" }),
    (at) => ok(at("p/chain/chain[1]/p/s/steps/x").id, 2, { v: "2" }),
    ended(3, "y", exited(1)),
    (at) => ok(at("p/rollbackSteps(p/chain/chain[1]/p/s)/unx").id, 4),
    (at) => ok(at("p/rollbackSteps(p/chain/chain[0]/p/s)/unx").id, 5),
  );
  assert.deepEqual(envs.slice(3), [[{ name: "A", value: "us 2" }], [{ name: "A", value: "eu 1" }]]);
  assert.equal(state.status, "failed");
});

test("stages that a chained pipeline has undone are not undone again", () => {
  const plan = chained({
    chain: { strategies: on({ type: "PipelineRollback" }) },
    before: [{ id: "b", steps: [{ id: "build" }], rollback: [{ id: "unbuild" }] }],
    child: [{ id: "s", steps: [{ id: "x" }], rollback: [{ id: "unx" }], strategies: on({ type: "PipelineRollback" }) }],
  });
  const { effects } = run(
    plan,
    ...[started(), ok("build"), ended(2, "x", exited(1))],
    (node) => ok(node("p/chain/p/rollbackSteps(p/chain/p/s)/unx").id, 3),
    (node) => ok(node("p/rollbackSteps(p/b)/unbuild").id, 4),
  );
  assert.deepEqual(
    effects.flat().filter((one) => one.startsWith("enqueueTask")),
    [
      "enqueueTask build",
      "enqueueTask x",
      "enqueueTask p/chain/p/rollbackSteps(p/chain/p/s)/unx",
      "enqueueTask p/rollbackSteps(p/b)/unbuild",
    ],
  );
});

test("a retry of the stage runs the pipeline again", () => {
  const retry = { type: "Retry", count: 1, intervals: [], fallback: { type: "MarkAsFailure" } } as const;
  const plan = chained({ chain: { strategies: on(retry) }, child: [{ id: "s", steps: [{ id: "x" }] }] });
  const { state, at } = run(plan, started(), ended(1, "x", exited(1)), (node) =>
    ok(node("p/chain@2/p/s/steps/x").id, 2),
  );
  assert.deepEqual([state.status, at("p/chain").attempts.length], ["succeeded", 2]);
});

test("the time of a chained pipeline is up: its stage asks its strategies once", () => {
  const intervene = { type: "ManualIntervention", timeoutMs: 1_000, fallback: { type: "Ignore" } } as const;
  const plan = chained({
    childTimeoutMs: 100,
    chain: { strategies: on(intervene) },
    child: [{ id: "s", steps: [{ id: "x" }] }],
  });
  const { state, at, effects } = run(
    plan,
    ...[started(), fired(100, "inner"), ended(101, "x", cancelled()), fired(1_101, "chain", "intervention")],
  );
  assert.equal(effects.flat().filter((one) => one === "startTimer chain intervention").length, 1);
  assert.deepEqual([at("p/chain/p").status, at("p/chain").status, state.status], ["expired", "ignored", "ignored"]);
});

test("an abort and a timeout of the stage reach the steps of the chained pipeline", () => {
  const child = [{ id: "s", steps: [{ id: "x" }] }];
  const aborted = run(chained({ child }), started(), abort(1), ended(2, "x", cancelled()));
  assert.equal(aborted.state.status, "aborted");
  const expired = run(
    chained({ child, chain: { timeoutMs: 50 } }),
    ...[started(), fired(50, "chain"), ended(51, "x", cancelled())],
  );
  assert.deepEqual([expired.state.status, expired.at("p/chain/p/s").status], ["expired", "expired"]);
  assert.deepEqual(expired.effects[1], ["cancelTask x", "stopTimer x"]);
});

test("barriers of a chained pipeline are its own", () => {
  const barrier = (id: string) => ({ id, type: "Barrier" as const });
  const plan = chained({
    child: [{ id: "s", steps: [{ parallel: "par", steps: [barrier("x"), barrier("y")] }] }],
    after: [{ id: "t", steps: [barrier("z")] }],
  });
  assert.equal(run(plan, started()).state.status, "succeeded");
});

test("each run of a chained pipeline has barriers of its own", () => {
  const branch = (id: string) => ({ group: `g${id}`, steps: [{ id }, { id: `b${id}`, type: "Barrier" as const }] });
  const loop = { strategy: { type: "times", times: 2 }, onFailure: "RunAll" } as const;
  const plan = chained({
    chain: { loop },
    child: [{ id: "s", steps: [{ parallel: "p", steps: [branch("x"), branch("y")] }] }],
    after: [{ id: "t", steps: [{ id: "bz", type: "Barrier" }] }],
  });
  const path = (run: number, end: string): string => `p/chain/chain[${run}]/p/s/steps/p/${end}`;
  const done = (run: number, end: string) => (at: (path: string) => NodeState) => ok(at(path(run, end)).id);
  const one = run(plan, started(), done(0, "gx/x"), done(1, "gy/y"));
  const status = (of: typeof one, nth: number, end: string) => of.at(path(nth, end)).status;
  assert.deepEqual([status(one, 0, "gx/bx"), status(one, 1, "gy/by")], ["waiting", "waiting"]);
  assert.match(one.at(path(0, "gx/bx")).reason?.message ?? "", /for step 'Step by'\.$/);
  const both = run(plan, started(), done(0, "gx/x"), done(1, "gy/y"), done(0, "gy/y"));
  assert.deepEqual(
    [status(both, 0, "gx/bx"), status(both, 0, "gy/by"), status(both, 1, "gy/by")],
    ["succeeded", "succeeded", "waiting"],
  );
  // The barrier of the pipeline around them has one step, which passes.
  const all = run(plan, started(), done(0, "gx/x"), done(1, "gy/y"), done(0, "gy/y"), done(1, "gx/x"));
  assert.equal(all.state.status, "succeeded");
});
