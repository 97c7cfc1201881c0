import assert from "node:assert/strict";
import { test } from "node:test";
import process from "node:process";
import fc from "fast-check";
import { withChained } from "./chain.ts";
import type {
  ChainedInput,
  ChainedOutput,
  Effect,
  Event,
  FailureAction,
  NodeState,
  Plan,
  TaskOutcome,
} from "./model.ts";
import { INTERRUPTS } from "./model.ts";
import { ancestorsOf } from "./plan-index.ts";
import { nodesToReuse, retryPlaces } from "./retry.ts";
import { isFinal } from "./status.ts";
import {
  abort,
  cancelled,
  deepFreeze,
  engine,
  ended,
  type Execution,
  exited,
  give,
  initial,
  type ItemSketch,
  lost,
  planOf,
  started,
  type StageSketch,
  type StepSketch,
} from "./testing/plans.ts";
import { UndoWatch } from "./testing/undo-laws.ts";

/** RAILHEAD_FUZZ_RUNS=10000 for a long look: every run of the tests looks elsewhere. */
const runs = (usual: number): number => Number(process.env["RAILHEAD_FUZZ_RUNS"] ?? usual);

/** A step whose expression resolves, one whose expression never does. */
const env = fc.constantFrom<readonly (readonly [string, string])[]>(
  [],
  [],
  [["A", "<+pipeline.name>"]],
  [["B", "<+pipeline.variables.no>"]],
  [["C", '<+executionInput["k"]>']],
);
const simple = fc.constantFrom<FailureAction>(
  { type: "Ignore" },
  { type: "MarkAsSuccess" },
  { type: "MarkAsFailure" },
  { type: "Abort" },
  { type: "StageRollback" },
  { type: "StepGroupRollback" },
  { type: "PipelineRollback" },
);
const retrying = (fallback: fc.Arbitrary<FailureAction>): fc.Arbitrary<FailureAction> =>
  fc.record({
    type: fc.constantFrom("Retry" as const, "RetryStepGroup" as const),
    count: fc.integer({ min: 1, max: 3 }),
    intervals: fc.constantFrom([], [10], [10, 20]),
    fallback,
  });
const intervening = (fallback: fc.Arbitrary<FailureAction>): fc.Arbitrary<FailureAction> =>
  fc.record({ type: fc.constant("ManualIntervention" as const), timeoutMs: fc.constant(1_000), fallback });
/** As in a document, an action that follows another is not of the kind that it follows. */
const action: fc.Arbitrary<FailureAction> = fc.oneof(
  simple,
  retrying(fc.oneof(simple, intervening(simple))),
  fc.constant({ type: "ProceedWithDefaultValues" as const }),
  intervening(fc.oneof(simple, retrying(simple))),
);
const strategies = fc.option(
  action.map((one) => [{ errors: ["AllErrors" as const], action: one }]),
  { nil: undefined, freq: 2 },
);
const when = fc.option(fc.record({ status: fc.constantFrom("Success" as const, "Failure" as const, "All" as const) }), {
  nil: undefined,
  freq: 4,
});
const asks = fc.option(fc.constantFrom([{ key: "k", default: "d" }], [{ key: "k" }, { key: "v", variable: "v" }]), {
  nil: undefined,
  freq: 4,
});
const loop = fc.option(
  fc.record({
    strategy: fc.record({ type: fc.constant("times" as const), times: fc.integer({ min: 0, max: 3 }) }),
    maxConcurrency: fc.constantFrom(1, 2, 5),
    onFailure: fc.constantFrom("RunAll" as const, "SkipQueued" as const),
  }),
  { nil: undefined, freq: 5 },
);

const reread = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

type Draft = { readonly [key: string]: unknown };
const step: fc.Arbitrary<Draft> = fc.record({
  type: fc.constantFrom(
    "ShellScript",
    "ShellScript",
    "ShellScript",
    "ShellScript",
    "Pause",
    "Queue",
    "Barrier",
    "Poll",
  ),
  env,
  strategies,
  when,
  loop,
  asks,
});
const { item } = fc.letrec<{ item: Draft }>((tie) => ({
  item: fc.oneof(
    { maxDepth: 2 },
    { arbitrary: step, weight: 4 },
    fc.record({ steps: fc.array(tie("item"), { minLength: 1, maxLength: 3 }), parallel: fc.constant("x") }),
    fc.record({
      ...{
        steps: fc.array(tie("item"), { minLength: 1, maxLength: 3 }),
        group: fc.constant("x"),
        strategies,
        when,
        loop,
        asks,
      },
      rollback: fc.option(fc.array(step, { maxLength: 2 }), { nil: undefined }),
      timeoutMs: fc.constantFrom(undefined, 5_000),
    }),
  ),
}));

/** Gives the drafts identifiers, and takes away what is undefined. */
function sketched(draft: Draft, next: () => string): ItemSketch {
  const clean = Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined));
  const lists = Object.fromEntries(
    ["steps", "rollback"].flatMap((key) => {
      const list = clean[key] as readonly Draft[] | undefined;
      return list ? [[key, list.map((one) => sketched(one, next))]] : [];
    }),
  );
  const name = next();
  const id = "parallel" in clean ? { parallel: name } : "group" in clean ? { group: name } : { id: name };
  return { ...clean, ...lists, ...id } as ItemSketch;
}

const stage = fc.record({
  steps: fc.array(item, { minLength: 1, maxLength: 4 }),
  rollback: fc.array(step, { maxLength: 2 }),
  rollsBack: fc.boolean(),
  strategies,
  when,
  loop,
  asks,
  timeoutMs: fc.constantFrom(undefined, undefined, 7_000),
  lock: fc.constantFrom(undefined, undefined, "<+pipeline.name>", "<+pipeline.no>"),
});
type StageDraft = typeof stage extends fc.Arbitrary<infer T> ? T : never;
type PipelineDraft = { readonly stages: readonly StageDraft[]; readonly parallel: boolean };

const pipeline: fc.Arbitrary<PipelineDraft> = fc.record({
  stages: fc.array(stage, { minLength: 1, maxLength: 3 }),
  parallel: fc.boolean(),
});

/** A stage that runs a pipeline in place of its steps; `at` chooses it. */
const chain = fc.record({
  pipeline,
  at: fc.nat(),
  timeoutMs: fc.constantFrom(undefined, undefined, 6_000),
  inputs: fc.constantFrom<readonly ChainedInput[]>(
    [],
    [{ name: "v", value: "<+pipeline.name>" }],
    [{ name: "v", value: "<+pipeline.no>" }],
  ),
  outputs: fc.constantFrom<readonly ChainedOutput[]>(
    [],
    [{ name: "o", value: "<+pipeline.status>" }],
    [{ name: "o", value: "<+pipeline.no>" }],
  ),
});

function drawn({ stages, parallel }: PipelineDraft, next: () => string, rest: Parameters<typeof planOf>[2] = {}): Plan {
  const sketches = stages.map(({ rollback, steps, ...others }): StageSketch => {
    const clean = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
    return {
      ...clean,
      id: next(),
      steps: steps.map((one) => sketched(one, next)),
      rollback: rollback.map((one) => sketched(one, next) as StepSketch),
    };
  });
  return planOf(parallel ? [{ parallel: `together-${next()}`, stages: sketches }] : sketches, {}, rest);
}

const plans: fc.Arbitrary<Plan> = fc.tuple(pipeline, fc.array(chain, { maxLength: 2 })).map(([root, chains]) => {
  let count = 0;
  const next = (): string => `n${(count += 1)}`;
  const plan = chains.reduce(
    (around, { pipeline: draft, at, timeoutMs, ...border }) => {
      const isStage = ({ kind }: Plan["nodes"][string]): boolean => kind === "stage";
      const free = Object.values(around.nodes).filter((node) => isStage(node) && around.nodes[stepsOf(node)]);
      const target = free[at % free.length];
      if (!target || around.nodes[stepsOf(target)]?.kind !== "group") return around;
      const child = drawn(draft, next, { root: next(), ...(timeoutMs !== undefined && { timeoutMs }) });
      return withChained(around, target.id, { child, ...border });
    },
    drawn(root, next),
  );
  return deepFreeze(reread(plan));
});

const stepsOf = (node: Plan["nodes"][string]): string => (node.kind === "stage" ? node.steps : "");

const outcome: fc.Arbitrary<TaskOutcome> = fc.oneof(
  { arbitrary: fc.constant(exited(0, { v: "1" })), weight: 6 },
  { arbitrary: fc.constant(exited(1)), weight: 2 },
  fc.constant(cancelled()),
  fc.constant(lost()),
);

/** What the world does next: answer a task or a request, fire a timer, interrupt, or say something stale or senseless. */
type Move = {
  readonly kind: "answer" | "reply" | "submit" | "fire" | "interrupt" | "start" | "stale";
  readonly pick: number;
  readonly outcome: TaskOutcome;
};
const moves = fc.array(
  fc.record({
    kind: fc.oneof(
      { arbitrary: fc.constant("answer" as const), weight: 14 },
      { arbitrary: fc.constant("reply" as const), weight: 3 },
      { arbitrary: fc.constant("submit" as const), weight: 3 },
      { arbitrary: fc.constant("fire" as const), weight: 4 },
      { arbitrary: fc.constant("interrupt" as const), weight: 2 },
      fc.constant("start" as const),
      { arbitrary: fc.constant("stale" as const), weight: 2 },
    ),
    pick: fc.nat(),
    outcome,
  }),
  { maxLength: 60 },
);

/** A failure strategy, or none. */
const strategyOf = (actions: fc.Arbitrary<FailureAction | undefined>) =>
  actions.map((one) => (one ? { strategies: [{ errors: ["AllErrors" as const], action: one }] } : {}));
const undoingStep = (id: string): fc.Arbitrary<StepSketch> =>
  strategyOf(
    fc.constantFrom<(FailureAction | undefined)[]>(undefined, { type: "StageRollback" }, { type: "PipelineRollback" }),
  ).map((strategy) => ({ id, ...strategy }));
const undoneStage = (id: string): fc.Arbitrary<StageSketch> =>
  fc
    .record({
      own: undoingStep(`${id}a`),
      inGroup: undoingStep(`${id}b`),
      group: strategyOf(
        fc.constantFrom<(FailureAction | undefined)[]>(
          undefined,
          { type: "StepGroupRollback" },
          {
            type: "RetryStepGroup",
            ...{ count: 1, intervals: [], fallback: { type: "StageRollback" } },
          },
        ),
      ),
      undo: undoingStep(`${id}u`),
      waiting: fc.constantFrom<Partial<StageSketch>>(
        {},
        { timeoutMs: 7_000 },
        { timeoutMs: 7_000, asks: [{ key: "k" }] },
      ),
      onTimeout: strategyOf(fc.constantFrom<(FailureAction | undefined)[]>(undefined, { type: "StageRollback" })),
      isGrouped: fc.boolean(),
    })
    .map(({ own, inGroup, group, undo, waiting, onTimeout, isGrouped }) => {
      const grouped = { group: `${id}g`, steps: [inGroup], rollback: [{ id: `${id}v` }], ...group };
      const steps = isGrouped ? [own, grouped] : [own];
      return { id, steps, rollback: [undo], ...waiting, ...onTimeout };
    });
/** A chained pipeline that is tried again, and a stage after it: rollbacks meet what earlier ones have undone. */
const undonePlans: fc.Arbitrary<Plan> = fc
  .record({
    inner: fc.tuple(undoneStage("s"), undoneStage("t")),
    last: undoneStage("z"),
    timeout: fc.constantFrom<Partial<StageSketch>>({}, { timeoutMs: 6_000 }),
    chain: strategyOf(
      fc.oneof(
        fc.constantFrom<FailureAction[]>({ type: "PipelineRollback" }, { type: "Ignore" }),
        fc.record({
          type: fc.constant("Retry" as const),
          count: fc.constantFrom(1, 2),
          intervals: fc.constant([]),
          fallback: fc.constantFrom<FailureAction[]>({ type: "PipelineRollback" }, { type: "Ignore" }),
        }),
      ),
    ),
  })
  .map(({ inner, last, timeout, chain: strategy }) => {
    const outer = planOf([{ id: "chain", steps: [], ...timeout, ...strategy }, last]);
    return deepFreeze(reread(withChained(outer, "chain", { child: planOf(inner, {}, { root: "inner" }) })));
  });
const endings = fc.array(
  fc.record({
    kind: fc.oneof(
      { arbitrary: fc.constant("answer" as const), weight: 9 },
      { arbitrary: fc.constant("submit" as const), weight: 3 },
      fc.constant("fire" as const),
    ),
    pick: fc.nat(),
    outcome: fc.constantFrom(exited(0), exited(1)),
  }),
  { maxLength: 20 },
);

/** The platform as the engine sees it: tasks, timers and requests that were asked for and have not ended. */
class World {
  readonly plan: Plan;
  execution: Execution;
  readonly events: Event[] = [];
  readonly tasks = new Map<string, { readonly node: string; readonly attempt: number }>();
  readonly everTasks = new Set<string>();
  readonly timers = new Map<
    string,
    { readonly node: string; readonly purpose: "timeout" | "retry" | "intervention" | "wait" }
  >();
  readonly requests = new Set<string>();
  readonly holders = new Set<string>();
  /** Nodes that wait for a lock of their own, and those that have it. */
  readonly asksForItself = new Set<string>();
  readonly granted = new Set<string>();
  readonly undo: UndoWatch;
  ends = 0;
  private at = 0;

  constructor(plan: Plan) {
    this.plan = plan;
    this.undo = new UndoWatch(plan);
    this.execution = deepFreeze(initial(plan));
  }

  send(event: Event): void {
    this.events.push(event);
    const before = this.execution;
    const { effects, isChanged: _, ...after } = give(this.plan, before, event);
    this.execution = deepFreeze(after);
    checkStep(this.plan, before, { ...this.execution, effects });
    if (event.kind === "started" && event.reused) this.undo.reuse(this.execution.nodes);
    this.undo.see(before, this.execution, effects);
    for (const effect of effects) this.act(effect);
  }

  private act(effect: Effect): void {
    switch (effect.kind) {
      case "enqueueTask": {
        const key = `${effect.node} ${effect.attempt}`;
        assert.ok(!this.everTasks.has(key), "a task is enqueued twice");
        assert.ok(![...this.tasks.values()].some(({ node }) => node === effect.node), "a node has two tasks at once");
        this.everTasks.add(key);
        assert.ok(this.isProtected(effect.node), "a step of a stage with a lock runs without it");
        assert.ok(this.hasInputs(effect.node), "a step runs before its inputs are submitted");
        this.tasks.set(key, effect);
        return;
      }
      case "cancelTask":
        assert.ok(this.tasks.has(`${effect.node} ${effect.attempt}`), "a task that does not run is cancelled");
        return;
      case "startTimer":
        assert.ok(!this.timers.has(`${effect.node} ${effect.purpose}`), "a timer is started twice");
        this.timers.set(`${effect.node} ${effect.purpose}`, effect);
        return;
      case "stopTimer":
        assert.ok(this.timers.delete(`${effect.node} ${effect.purpose}`), "a timer that does not run is stopped");
        return;
      case "sendRequest":
        assert.ok(!this.requests.has(effect.node), "a node asks twice");
        this.requests.add(effect.node);
        if (effect.service === "lock") {
          this.holders.add(effect.holder);
          if (effect.holder === effect.node) this.asksForItself.add(effect.node);
        }
        return;
      case "releaseLocks":
        assert.ok(this.holders.delete(effect.node), "locks are released that nothing holds");
        this.granted.delete(effect.node);
        return;
      case "withdrawRequest":
        assert.ok(this.requests.delete(effect.node), "a request that is not open is withdrawn");
        return;
      case "endExecution":
        this.ends += 1;
        assert.equal(
          this.tasks.size + this.timers.size + this.requests.size + this.holders.size,
          0,
          "something is left",
        );
    }
  }

  /** The stage of the step has no lock, or a node around the instance holds it. Stages that run a pipeline have none. */
  private isProtected(id: string): boolean {
    const { nodes } = this.execution;
    const around: NodeState[] = [];
    for (let at = nodes.get(id); at; at = at.parent === null ? undefined : nodes.get(at.parent)) around.push(at);
    const definitions = [...ancestorsOf(this.plan, around[0]?.definition ?? "")];
    const stage = definitions.find(({ kind }) => kind === "stage");
    return stage?.kind !== "stage" || stage.lock === undefined || around.some((one) => this.granted.has(one.id));
  }

  /**
   * Those of the node and of what stands around it, from a submission or its defaults. What undoes a stage does not wait
   * for those of a later try.
   */
  private hasInputs(id: string): boolean {
    const { nodes } = this.execution;
    for (let at = nodes.get(id); at; at = at.parent === null ? undefined : nodes.get(at.parent)) {
      const definition = this.plan.nodes[at.definition];
      if (definition && "asks" in definition && definition.asks && !at.inputs) return false;
      if (definition?.kind === "group" && definition.role === "rollbackSteps") return true;
    }
    return true;
  }

  move({ kind, pick, outcome: given }: Move): void {
    const at = (this.at += 1);
    const picked = <T>(all: Iterable<T>): T | undefined => [...all][pick % Math.max(1, [...all].length)];
    const task = picked(this.tasks.values());
    const timer = picked(this.timers.values());
    const request = picked(this.requests);
    if (kind === "answer" && task) this.end(task, given);
    else if (kind === "fire" && timer) this.fire(timer);
    else if (kind === "reply" && request !== undefined) this.reply(request, pick % 3 === 0 ? "reject" : "approve");
    else if (kind === "submit") this.submit(picked(this.asking()), pick);
    else if (kind === "interrupt") this.interrupt(pick);
    else if (kind === "start") this.send(started(at));
    else this.stale(at, pick, given);
  }

  end({ node, attempt }: { readonly node: string; readonly attempt: number }, given: TaskOutcome): void {
    this.tasks.delete(`${node} ${attempt}`);
    this.send(ended((this.at += 1), node, given, attempt));
  }

  private fire({
    node,
    purpose,
  }: {
    readonly node: string;
    readonly purpose: "timeout" | "retry" | "intervention" | "wait";
  }): void {
    this.timers.delete(`${node} ${purpose}`);
    this.send({ kind: "timerFired", at: (this.at += 1), node, purpose });
  }

  private reply(node: string, answer: string): void {
    this.requests.delete(node);
    if (this.asksForItself.delete(node)) this.granted.add(node);
    this.send({ kind: "answered", at: (this.at += 1), node, answer });
  }

  /** The nodes that wait for inputs. */
  private asking(): readonly NodeState[] {
    return [...this.execution.nodes.values()].filter(
      ({ status, reason }) => status === "waiting" && reason?.kind === "input",
    );
  }

  /** Values come once: others that come after them change nothing. */
  private submit(node: NodeState | undefined, pick: number): void {
    if (!node) return;
    const definition = this.plan.nodes[node.definition];
    const keys = definition && "asks" in definition ? (definition.asks?.inputs ?? []).map(({ key }) => key) : [];
    const values = Object.fromEntries(keys.map((key) => [key, String(pick)]));
    const event = { kind: "inputSubmitted", node: node.id, values } as const;
    const wrong = engine.step(this.plan, this.execution, { ...event, at: this.at, values: { ...values, no: "" } });
    assert.equal(wrong.state, this.execution.state, "values of other inputs are taken");
    const isPaused = this.execution.state.paused;
    this.send({ ...event, at: (this.at += 1) });
    const after = this.execution.nodes.get(node.id);
    assert.deepEqual(after?.inputs, values);
    if (isPaused) assert.equal(after.status, "paused", "a node begins in a pause");
    const again = engine.step(this.plan, this.execution, { ...event, at: this.at, values: { k: "other" } });
    assert.equal(again.state, this.execution.state, "a second submission is taken");
  }

  private interrupt(pick: number): void {
    const kinds = INTERRUPTS.filter((one) => one !== "AbortAll" || pick % 5 === 0);
    const nodes = [...this.execution.nodes.keys(), "unknown"];
    const interrupt = kinds[pick % kinds.length] ?? "AbortAll";
    this.send({ kind: "interrupted", at: (this.at += 1), interrupt, node: nodes[(pick >> 4) % nodes.length] ?? "" });
  }

  private stale(at: number, pick: number, given: TaskOutcome): void {
    const busy = new Set([...this.tasks.values()].map(({ node }) => node));
    const idle = Object.keys(this.plan.nodes).filter((id) => !busy.has(id));
    const node = idle[pick % idle.length] ?? "";
    const before = this.execution;
    const events = [ended(at, node, given), ended(at, node, given, 99), ended(at, "unknown", given)];
    const told = [...this.everTasks].filter((key) => !this.tasks.has(key));
    const [again, attempt] = told[pick % told.length]?.split(" ") ?? [];
    if (again !== undefined) events.push(ended(at, again, given, Number(attempt)));
    for (const event of events) {
      const next = engine.step(this.plan, before, event);
      assert.equal(next.state, before.state, "a stale event changed the state");
      assert.deepEqual([next.effects, next.changed.size], [[], 0]);
    }
  }

  /** Answers everything that is out, until nothing is. */
  finish(): void {
    if (this.execution.state.status === "queued") this.send(started((this.at += 1)));
    while (!isFinal(this.execution.state.status)) {
      const [task] = this.tasks.values();
      const [request] = this.requests;
      const [asking] = this.asking();
      const waits = [...this.timers.values()].find(({ purpose }) => purpose !== "timeout");
      if (task) this.end(task, exited(0));
      else if (request !== undefined) this.reply(request, "approve");
      else if (asking) this.submit(asking, 1);
      else if (waits) this.fire(waits);
      else if (this.timers.size > 0) this.fire([...this.timers.values()][0] ?? assert.fail());
      else if (this.execution.state.paused) this.send({ kind: "interrupted", at: (this.at += 1), interrupt: "Resume" });
      else assert.fail("the execution is open and waits for nothing");
    }
  }
}

type Transition = Execution & { readonly effects: readonly Effect[] };

/** What must hold of every single transition. */
function checkStep(plan: Plan, before: Execution, { effects, ...after }: Transition): void {
  if (before.state === after.state) assert.deepEqual(effects, []);
  if (isFinal(before.state.status)) assert.equal(after.state, before.state, "a terminal state is a sink");
  assert.equal(
    effects.some(({ kind }) => kind === "endExecution"),
    isFinal(after.state.status) && !isFinal(before.state.status),
  );
  if (effects.some(({ kind }) => kind === "endExecution")) assert.equal(effects.at(-1)?.kind, "endExecution");
  if (before.state.aborting) {
    assert.ok(after.state.aborting);
    assert.ok(!effects.some(({ kind }) => kind === "enqueueTask"), "something starts after an abort");
  }
  checkStopped(after, effects);
  if (before.state.paused && after.state.paused)
    for (const effect of effects.filter(({ kind }) => kind === "enqueueTask")) {
      // What has begun goes on.
      const attempt = before.nodes.get("node" in effect ? effect.node : "")?.attempts.at(-1);
      assert.equal(attempt?.endedAt, null, "something starts in a pause");
    }
  for (const [id, node] of before.nodes) checkNode(node, after.nodes.get(id));
  const paths = [...after.nodes.values()].map(({ path }) => path);
  assert.equal(new Set(paths).size, paths.length, "two instances share a path");
  assert.equal(after.state.nodes, after.nodes.size);
  checkWaits(plan, after);
  const barriers = Object.values(after.state.barriers);
  for (const { id, attempts, reason } of after.nodes.values()) {
    if (!attempts.at(-1)?.waitsFor.includes("barrier")) continue;
    const barrier = barriers.find(({ arrived }) => arrived.some(({ node }) => node === id));
    assert.equal(barrier?.isOpen, false, "a step waits at an open barrier");
    assert.match(reason?.message ?? "", /^Waits at barrier 'b' for /);
  }
}

/** What has begun in a transition that aborts, or stops a part, is asked to end in it. */
function checkStopped(after: Execution, effects: readonly Effect[]): void {
  for (const effect of effects) {
    if (effect.kind !== "enqueueTask") continue;
    const isStopped = after.state.aborting || isBelowStopping(after, effect.node);
    const isCancelled = effects.some(
      (one) => one.kind === "cancelTask" && one.node === effect.node && one.attempt === effect.attempt,
    );
    assert.ok(!isStopped || isCancelled, "something starts in what was stopped");
  }
}

function isBelowStopping({ nodes }: Execution, id: string): boolean {
  for (let node = nodes.get(id); node; node = node.parent === null ? undefined : nodes.get(node.parent))
    if (node.stopping !== null) return true;
  return false;
}

function checkWaits(plan: Plan, { state, nodes }: Execution): void {
  const all = [...nodes.values()];
  for (const kind of ["approval", "input", "intervention", "lock"] as const) {
    const waiting = all.filter(({ status, reason }) => status === "waiting" && reason?.kind === kind);
    assert.equal(state.waits?.[kind] ?? 0, waiting.length, `nodes that wait for ${kind}`);
  }
  const isActive = ({ definition, status, reason }: NodeState): boolean =>
    status === "running" ? plan.nodes[definition]?.kind === "step" : status === "waiting" && reason?.kind === "retry";
  assert.equal(state.waits?.active ?? 0, all.filter(isActive).length, "steps that go on by themselves");
}

function checkNode(before: NodeState, after: NodeState | undefined): void {
  assert.ok(after, "an instance vanishes");
  if (isFinal(before.status)) assert.equal(after, before, "a node that has ended changes no more");
  else assert.notEqual(after.status, "queued", "a status goes back");
  assert.ok(after.attempts.length >= before.attempts.length, "an attempt vanishes");
  for (const [index, attempt] of before.attempts.entries())
    if (attempt.endedAt !== null) assert.equal(after.attempts[index], attempt, "an attempt that has ended changes");
}

function checkEnd({ execution: { state, nodes }, plan, ends }: World): void {
  assert.ok(isFinal(state.status));
  assert.equal(ends, 1);
  for (const node of nodes.values()) {
    const where = `${node.path} is ${node.status}`;
    assert.ok(isFinal(node.status) && node.endedAt !== null && node.stopping === null, where);
    assert.ok(
      node.attempts.every((one) => one.endedAt !== null && one.status !== null && one.waitsFor.length === 0),
      where,
    );
    if (node.status === "failed" || node.status === "rejected" || node.status === "expired")
      assert.ok(node.failure, where);
    if (node.progress) assert.equal(node.progress.open, 0, where);
  }
  assert.equal(state.status, nodes.get(plan.root)?.status);
  if (state.aborting) assert.equal(state.status, "aborted");
}

const play = (plan: Plan, given: readonly Move[]): World => {
  const world = new World(plan);
  if (given.length % 5 !== 0) world.send(started(0));
  for (const one of given) world.move(one);
  world.finish();
  return world;
};

test("property: whatever the world does, the laws of the machine hold", () => {
  fc.assert(
    fc.property(plans, moves, (plan, given) => checkEnd(play(plan, given))),
    { numRuns: runs(500) },
  );
});

test("property: a retry takes over what has passed before it, runs the rest, and keeps the laws", () => {
  fc.assert(
    fc.property(plans, moves, moves, fc.nat(), fc.boolean(), (plan, given, more, pick, failedOnly) => {
      const earlier = play(plan, given).execution;
      const ended = { plan, nodes: earlier.nodes };
      const places = retryPlaces(ended);
      const [member] = places[pick % Math.max(1, places.length)]?.members ?? [];
      const stages = member ? [member.definition.identifier] : [];
      const step = pick % 3 === 0 ? Object.values(plan.nodes)[pick % 7]?.identifier : undefined;
      const reused = nodesToReuse(ended, { stages, failedOnly, step });
      if ("fault" in reused) return;
      const world = new World(plan);
      world.send({ kind: "started", at: 0, reused });
      const taken = [...world.execution.nodes.values()].filter(({ isReused }) => isReused);
      for (const one of more) world.move(one);
      world.finish();
      checkEnd(world);
      for (const node of taken) {
        assert.equal(world.execution.nodes.get(node.id), node, "a reused node changes");
        assert.equal(node.status, reused.find(({ path }) => path === node.path)?.status);
        assert.ok(![...world.everTasks].some((key) => key.startsWith(`${node.id} `)), "a reused node has a task");
      }
      const tops = reused.filter(({ parent }) => !reused.some(({ id }) => id === parent));
      for (const { path } of tops) assert.ok(taken.some((node) => node.path === path) || !isReached(world, path), path);
    }),
    { numRuns: runs(300) },
  );
});

test("property: nothing that a rollback owes is left out, and nothing is undone twice", () => {
  fc.assert(
    fc.property(undonePlans, endings, endings, (plan, given, more) => {
      const earlier = play(plan, given);
      checkEnd(earlier);
      const reused = nodesToReuse({ plan, nodes: earlier.execution.nodes }, { stages: [], failedOnly: false });
      if ("fault" in reused) return;
      const world = new World(plan);
      world.send({ kind: "started", at: 0, reused });
      for (const one of more) world.move(one);
      world.finish();
      checkEnd(world);
    }),
    { numRuns: runs(500) },
  );
});

/** Whether a node was created at this path. */
const isReached = ({ execution }: World, path: string): boolean =>
  [...execution.nodes.values()].some((node) => node.path === path);

test("property: the same history gives the same transitions, also from stored state, in whatever order it is read", () => {
  fc.assert(
    fc.property(fc.oneof(plans, undonePlans), moves, (plan, given) => {
      const { events, execution } = play(plan, given);
      const stored = JSON.parse(JSON.stringify(plan)) as Plan;
      let again = initial(stored);
      for (const event of events) {
        const { state, nodes } = give(stored, again, event);
        again = { state: reread(state), nodes: new Map(reread([...nodes].toReversed())) };
      }
      assert.deepEqual(again, execution);
    }),
    { numRuns: runs(200) },
  );
});

test("property: without failures, timeouts and aborts every main step runs and the execution succeeds", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }), (sizes) => {
      const world = new World(
        planOf(
          sizes.map((size, at) => ({
            id: `s${at}`,
            rollback: [{ id: `r${at}` }],
            rollsBack: true,
            steps: Array.from({ length: size }, (_, index) => ({ id: `s${at}a${index}` })),
          })),
        ),
      );
      world.finish();
      checkEnd(world);
      assert.equal(world.execution.state.status, "succeeded");
      assert.equal(world.events.length, 1 + sizes.reduce((sum, size) => sum + size, 0));
    }),
  );
});

test("property: an abort ends what no task holds open", () => {
  fc.assert(
    fc.property(plans, moves, (plan, given) => {
      const world = new World(plan);
      world.send(started(0));
      for (const one of given) world.move(one);
      world.send(abort(1_000));
      for (const task of world.tasks.values()) world.end(task, cancelled());
      assert.ok(isFinal(world.execution.state.status));
    }),
    { numRuns: runs(200) },
  );
});
