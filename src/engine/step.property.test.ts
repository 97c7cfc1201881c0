import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Effect, Event, Plan, State, TaskOutcome } from "./model.ts";
import { isFinal } from "./status.ts";
import { initialState, step } from "./step.ts";
import {
  abort,
  cancelled,
  deepFreeze,
  ended,
  exited,
  fired,
  lost,
  planOf,
  started,
  type StageSketch,
} from "./testing/plans.ts";

/** A step whose expression resolves, one whose expression never does, one that reads an earlier output. */
const env = fc.constantFrom<readonly (readonly [string, string])[]>(
  [],
  [],
  [["A", "<+pipeline.name>"]],
  [["B", "<+pipeline.variables.no>"]],
);
const steps = (least: number) => fc.array(fc.record({ env }), { minLength: least, maxLength: 5 });
const plans: fc.Arbitrary<Plan> = fc
  .array(fc.record({ steps: steps(1), rollback: steps(0), rollsBack: fc.boolean() }), { minLength: 1, maxLength: 4 })
  .map((stages) =>
    deepFreeze(
      planOf(
        stages.map((stage, at): StageSketch => ({
          id: `s${at}`,
          rollsBack: stage.rollsBack,
          steps: stage.steps.map((one, index) => ({ ...one, id: `s${at}a${index}` })),
          rollback: stage.rollback.map((one, index) => ({ ...one, id: `s${at}r${index}` })),
        })),
      ),
    ),
  );

const outcome: fc.Arbitrary<TaskOutcome> = fc.oneof(
  { arbitrary: fc.constant(exited(0, { v: "1" })), weight: 6 },
  fc.constant(exited(1)),
  fc.constant(cancelled()),
  fc.constant(lost()),
);

/** What the world does next: answer a task, fire a timer, abort, or say something stale or senseless. */
type Move = {
  readonly kind: "answer" | "fire" | "abort" | "start" | "stale";
  readonly pick: number;
  readonly outcome: TaskOutcome;
};
const moves = fc.array(
  fc.record({
    kind: fc.oneof(
      { arbitrary: fc.constant("answer" as const), weight: 12 },
      { arbitrary: fc.constant("fire" as const), weight: 3 },
      fc.constant("abort" as const),
      fc.constant("start" as const),
      { arbitrary: fc.constant("stale" as const), weight: 2 },
    ),
    pick: fc.nat(),
    outcome,
  }),
  { maxLength: 60 },
);

/** The platform as the engine sees it: tasks and timers that were asked for and have not ended. */
class World {
  readonly plan: Plan;
  state: State;
  readonly events: Event[] = [];
  readonly tasks = new Set<string>();
  readonly timers = new Set<string>();
  ends = 0;
  private at = 0;

  constructor(plan: Plan) {
    this.plan = plan;
    this.state = deepFreeze(initialState(plan));
  }

  send(event: Event): void {
    this.events.push(event);
    const { state, effects } = deepFreeze(step(this.plan, this.state, event));
    checkStep(this.state, state, effects);
    for (const effect of effects) this.act(effect);
    if (event.kind === "taskEnded") assert.ok(!this.timers.has(event.node), "a timer outlives its task");
    this.state = state;
  }

  private act(effect: Effect): void {
    if (effect.kind === "enqueueTask") assert.ok(!this.tasks.has(effect.node) && this.tasks.add(effect.node));
    if (effect.kind === "startTimer") assert.ok(!this.timers.has(effect.node) && this.timers.add(effect.node));
    if (effect.kind === "stopTimer") assert.ok(this.timers.delete(effect.node), "a timer that does not run is stopped");
    if (effect.kind === "cancelTask") assert.ok(this.tasks.has(effect.node), "a task that does not run is cancelled");
    if (effect.kind === "endExecution") {
      this.ends++;
      assert.equal(this.tasks.size + this.timers.size, 0, "something is left at the end");
    }
  }

  move({ kind, pick, outcome: given }: Move): void {
    const at = ++this.at;
    const task = [...this.tasks][pick % Math.max(1, this.tasks.size)];
    const timer = [...this.timers][pick % Math.max(1, this.timers.size)];
    if (kind === "answer" && task !== undefined) {
      this.tasks.delete(task);
      this.send(ended(at, task, given));
    } else if (kind === "fire" && timer !== undefined) {
      this.timers.delete(timer);
      this.send(fired(at, timer));
    } else if (kind === "abort") this.send(abort(at));
    else if (kind === "start") this.send(started(at));
    else this.stale(at, pick, given);
  }

  private stale(at: number, pick: number, given: TaskOutcome): void {
    const idle = Object.keys(this.plan.nodes).filter((id) => !this.tasks.has(id));
    const node = idle[pick % idle.length] ?? "";
    const before = this.state;
    for (const event of [
      ended(at, node, given),
      fired(at, node),
      ended(at, node, given, 2),
      ended(at, "nobody", given),
    ]) {
      const next = step(this.plan, before, event);
      assert.equal(next.state, before, "a stale event changed the state");
      assert.deepEqual(next.effects, []);
    }
  }

  /** Answers every task that is out, until none is. */
  finish(): void {
    if (this.state.status === "queued") this.send(started(++this.at));
    for (let [task] = this.tasks; task !== undefined; [task] = this.tasks) {
      this.tasks.delete(task);
      this.send(ended(++this.at, task, exited(0)));
    }
  }
}

/** What must hold of every single transition. */
function checkStep(before: State, after: State, effects: readonly Effect[]): void {
  if (before === after) assert.deepEqual(effects, []);
  if (isFinal(before.status)) assert.equal(after, before, "a terminal state is a sink");
  assert.equal(
    effects.some(({ kind }) => kind === "endExecution"),
    isFinal(after.status) && !isFinal(before.status),
  );
  if (effects.some(({ kind }) => kind === "endExecution")) assert.equal(effects.at(-1)?.kind, "endExecution");
  if (before.aborting) {
    assert.ok(after.aborting);
    assert.ok(!effects.some(({ kind }) => kind === "enqueueTask"), "something starts after an abort");
  }
  for (const [id, node] of Object.entries(before.nodes)) {
    if (isFinal(node.status)) assert.equal(after.nodes[id], node, "a node that has ended changes no more");
    else assert.notEqual(after.nodes[id]?.status, "queued", "a status goes back");
  }
}

function checkEnd(world: World): void {
  const { state, plan } = world;
  assert.ok(isFinal(state.status));
  assert.equal(world.ends, 1);
  assert.deepEqual(
    Object.keys(state.nodes).toSorted(),
    Object.keys(plan.nodes).toSorted(),
    "a node has no final state",
  );
  for (const node of Object.values(state.nodes)) {
    assert.ok(isFinal(node.status) && node.endedAt !== null && node.stopping === null);
    assert.equal(
      node.status === "failed" || node.status === "expired",
      node.failure !== null && node.status !== "aborted",
    );
  }
  assert.equal(state.status, state.nodes[plan.root]?.status);
  assert.equal(state.aborting, state.status === "aborted");
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
    { numRuns: 500 },
  );
});

test("property: the same history gives the same transitions, also from stored state", () => {
  fc.assert(
    fc.property(plans, moves, (plan, given) => {
      const { events, state } = play(plan, given);
      const stored = JSON.parse(JSON.stringify(plan)) as Plan;
      let again = initialState(stored);
      for (const event of events) again = JSON.parse(JSON.stringify(step(stored, again, event).state)) as State;
      assert.deepEqual(again, state);
    }),
    { numRuns: 200 },
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
      assert.equal(world.state.status, "succeeded");
      assert.equal(world.events.length, 1 + sizes.reduce((sum, size) => sum + size, 0));
    }),
  );
});
