/** The tree that readers see of executions that the engine has advanced. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, NodeState, Plan, PlanNode, State } from "../engine/index.ts";
import { engine } from "../steps/engine.ts";
import { shownNodes, type ShownNode } from "./shown-nodes.ts";

const at = (id: string) => ({ id, identifier: id, name: id.toUpperCase(), path: ["pipeline", id] });
const work = { kind: "shell", script: "true", env: [], outputs: [] };

const step = (id: string, rest: Partial<Extract<PlanNode, { kind: "step" }>> = {}): PlanNode => ({
  ...{ ...at(id), kind: "step", type: "ShellScript", timeoutMs: 1_000, selectors: [], work },
  ...rest,
});
const group = (id: string, children: readonly string[]): PlanNode => ({
  ...{ ...at(id), kind: "group", role: "steps", children },
});
const stage = (id: string, steps: string): PlanNode => ({ ...at(id), kind: "stage", type: "Custom", steps });

function planOf(...nodes: readonly PlanNode[]): Plan {
  return { format: 2, root: "p", nodes: Object.fromEntries(nodes.map((node) => [node.id, node])), context: {} };
}

type Execution = { readonly plan: Plan; readonly state: State; readonly nodes: ReadonlyMap<string, NodeState> };

function play(plan: Plan, ...events: readonly ((execution: Execution) => Event)[]): Execution {
  let execution: Execution = { plan, state: engine.initialState(plan), nodes: new Map() };
  for (const event of [(): Event => ({ kind: "started", at: 1 }), ...events]) {
    const { state, changed } = engine.step(plan, execution, event(execution));
    execution = { plan, state, nodes: new Map([...execution.nodes, ...changed]) };
  }
  return execution;
}

const nodeAt = ({ nodes }: Execution, path: string): NodeState =>
  [...nodes.values()].find((node) => node.path === path) ?? assert.fail(`${path} was not reached`);

/** The end of the open task of an instance. */
const ended =
  (path: string, exitCode: number) =>
  (execution: Execution): Event => {
    const { id, tasks } = nodeAt(execution, path);
    const outcome = { kind: "exited", exitCode, outputs: [] } as const;
    return { kind: "taskEnded", at: execution.state.latestAt + 1, node: id, attempt: tasks, outcome };
  };

/** The tree as lines: path, status, what follows. A place that was not reached is in brackets. */
function drawn(execution: Execution): readonly string[] {
  const shown = shownNodes(execution);
  const seen = new Set<string>();
  const draw = (node: ShownNode, depth: number): readonly string[] => {
    seen.add(node.id);
    const { path, status } = node.state;
    const name = path.split("/").at(-1) ?? "";
    const next = node.next === undefined ? "" : ` > ${shown.get(node.next)?.state.path.split("/").at(-1)}`;
    const line = `${"  ".repeat(depth)}${node.isReached ? name : `(${name})`} ${status}${next}`;
    return [line, ...node.children.flatMap((id) => draw(shown.get(id) ?? assert.fail(), depth + 1))];
  };
  const root = shown.get(execution.plan.root) ?? assert.fail();
  const lines = draw(root, 0);
  const others = [...shown.values()].filter(({ id }) => !seen.has(id)).map(({ state: { path } }) => `earlier: ${path}`);
  return [...lines, ...others];
}

test("stages at the same time, and what follows them", () => {
  const plan = planOf(
    { ...at("p"), kind: "pipeline", children: ["fork", "last"] },
    { ...at("fork"), kind: "parallel", children: ["one", "two"] },
    ...[stage("one", "one.steps"), group("one.steps", ["a", "b"]), step("a"), step("b")],
    ...[stage("two", "two.steps"), group("two.steps", ["c"]), step("c")],
    ...[stage("last", "last.steps"), group("last.steps", ["d"]), step("d")],
  );
  const found = drawn(play(plan, ended("p/fork/one/one.steps/a", 0), ended("p/fork/two/two.steps/c", 1)));
  assert.deepEqual(found, [
    "p running",
    "  fork running > last",
    "    one running",
    "      one.steps running",
    "        a succeeded > b",
    "        b running",
    "    two failed",
    "      two.steps failed",
    "        c failed",
    "  (last) queued",
    "    (last.steps) queued",
    "      (d) queued",
  ]);
});

test("a loop that was not reached has one place; one that runs has a place for each iteration", () => {
  const times = { type: "times", times: 3 } as const;
  const plan = planOf(
    { ...at("p"), kind: "pipeline", children: ["one"] },
    ...[stage("one", "steps"), group("steps", ["first.loop", "second.loop"])],
    { ...at("first.loop"), kind: "loop", body: "first", strategy: times, maxConcurrency: 1, onFailure: "RunAll" },
    step("first"),
    { ...at("second.loop"), kind: "loop", body: "second", strategy: times, onFailure: "RunAll" },
    step("second"),
  );
  const execution = play(plan, ended("p/one/steps/first.loop/first[0]", 0));
  assert.deepEqual(drawn(execution), [
    "p running",
    "  one running",
    "    steps running",
    "      first.loop running > second.loop",
    "        first[0] succeeded",
    "        first[1] running",
    "        (first[2]) queued",
    "      (second.loop) queued",
    "        (second) queued",
  ]);
  const places = [...shownNodes(execution).values()].filter(({ state }) => state.path.endsWith("first[2]"));
  const later = play(plan, ended("p/one/steps/first.loop/first[0]", 0), ended("p/one/steps/first.loop/first[1]", 0));
  assert.deepEqual(
    places.map(({ id }) => id),
    [nodeAt(later, "p/one/steps/first.loop/first[2]").id],
    "a place has the id that the instance gets",
  );
});

test("the children of an earlier attempt are told from those of the present one", () => {
  const retry = { type: "RetryStepGroup", count: 1, intervals: [], fallback: { type: "MarkAsFailure" } } as const;
  const plan = planOf(
    { ...at("p"), kind: "pipeline", children: ["one"] },
    ...[stage("one", "steps"), group("steps", ["again"])],
    {
      ...{ ...at("again"), kind: "group", role: "stepGroup", children: ["a", "b"] },
      failureStrategies: [{ errors: ["AllErrors"], action: retry }],
    },
    ...[step("a"), step("b")],
  );
  const execution = play(plan, ended("p/one/steps/again/a", 0), ended("p/one/steps/again/b", 1));
  const lines = drawn(execution);
  assert.deepEqual(lines.slice(3), [
    "      again running",
    "        a running > b",
    "        (b) queued",
    "earlier: p/one/steps/again/a",
    "earlier: p/one/steps/again/b",
  ]);
  const again = shownNodes(execution).get("again") ?? assert.fail();
  assert.deepEqual([...again.earlier], [[1, ["a", "b"]]]);
});

test("an execution whose nodes cannot be read has the places of its plan", () => {
  const plan = planOf(
    { ...at("p"), kind: "pipeline", children: ["one"] },
    ...[stage("one", "steps"), group("steps", ["a"]), step("a")],
  );
  const failure = { message: "why", types: ["Unknown"] } as const;
  const state: State = { ...engine.initialState(plan), status: "errored", endedAt: 7, failure };
  assert.deepEqual(drawn({ plan, state, nodes: new Map() }), [
    "(p) errored",
    "  (one) skipped",
    "    (steps) skipped",
    "      (a) skipped",
  ]);
});
