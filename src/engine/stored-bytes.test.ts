/** What nodes store beside their outputs, and what makes room again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, Json, NodeInput, NodeState, Plan } from "./model.ts";
import { inputsFault } from "./output-bytes.ts";
import { createEngine } from "./step.ts";
import type { StepType } from "./step-type.ts";
import { abort, ended, exited, fired, outcomeOf, planOf, started } from "./testing/plans.ts";

const MIB = 1024 * 1024;
const LIMIT = /outputs of one execution, .* have at most 4194304 bytes together/;

const submitted = (at: number, node: string, values: Record<string, string>): Event => ({
  ...{ kind: "inputSubmitted", at, node, values },
});

const asking = (inputs: readonly NodeInput[]): Plan => {
  const action = { type: "ProceedWithDefaultValues" } as const;
  const step = { asks: inputs, timeoutMs: 20_000, strategies: [{ errors: ["InputTimeoutError"], action }] } as const;
  return planOf([
    {
      id: "s",
      steps: [
        { id: "a", ...step },
        { id: "b", ...step },
      ],
    },
  ]);
};

test("inputs that were submitted count as outputs do, and those that are too large change nothing", () => {
  const plan = asking([{ key: "k" }]);
  const first = [started(), submitted(1, "a", { k: "x".repeat(3 * MIB) })];
  assert.equal(outcomeOf(plan, first).state.outputBytes, 3 * MIB);
  const waiting = [...first, ended(2, "a", exited(0))];
  const large = { k: "x".repeat(2 * MIB) };
  const { state } = outcomeOf(plan, [...waiting, submitted(3, "b", large)]);
  assert.deepEqual([state.nodes["b"]?.status, state.outputBytes, state.status], ["waiting", 3 * MIB, "inputWaiting"]);
  assert.match(inputsFault(state, large) ?? "", LIMIT);
  const small = { k: "x".repeat(MIB) };
  assert.equal(inputsFault(state, small), undefined);
  const after = outcomeOf(plan, [...waiting, submitted(3, "b", large), submitted(4, "b", small)]);
  assert.equal(after.state.nodes["b"]?.status, "running");
});

test("the defaults that a step goes on with count, too, and fail it if they are too large for it", () => {
  const plan = asking([{ key: "k", default: "x".repeat(3 * MIB) }]);
  const { state } = outcomeOf(plan, [
    ...[started(), fired(20_000, "a"), ended(20_001, "a", exited(0)), fired(50_000, "b")],
  ]);
  assert.equal(state.nodes["a"]?.status, "succeeded");
  assert.deepEqual([state.nodes["b"]?.status, state.nodes["b"]?.inputs], ["expired", undefined]);
  assert.match(state.nodes["b"]?.failure?.message ?? "", LIMIT);
});

test("a node that waits for many inputs lists five of them", () => {
  const plan = asking(Array.from({ length: 400 }, (_, nth) => ({ key: `k${nth}` })));
  const { state } = outcomeOf(plan, [started()]);
  assert.equal(state.nodes["a"]?.reason?.message, "Waits for its inputs: k0, k1, k2, k3, k4 and 395 more.");
});

test("the name that an iteration gets by an expression is cut, and keeps whole characters", () => {
  const strategy = { type: "times", times: 2, nodeName: "<+trigger.text>" } as const;
  const nameOf = (text: string): string | undefined => {
    const plan = planOf([{ id: "s", steps: [{ id: "a", loop: { strategy, onFailure: "SkipQueued" } }] }], {
      trigger: { text },
    });
    const { state } = outcomeOf(plan, [started()]);
    return Object.values(state.nodes).find(({ iteration }) => iteration !== null)?.iteration?.name;
  };
  assert.equal(nameOf("x".repeat(300)), "x".repeat(256));
  assert.equal(nameOf(`x${"😀".repeat(200)}`), `x${"😀".repeat(127)}`);
});

test("what a step has kept until its end makes room for the next", () => {
  const ask: StepType = {
    begin: ({ at }): ReturnType<StepType["begin"]> => ({
      kind: "wait",
      reason: { kind: "approval", message: "Waits." },
      until: at + 10,
      progress: { text: "x".repeat(MIB) } satisfies Json,
    }),
    receive: () => ({ kind: "end", status: "succeeded" }),
  };
  const engine = createEngine(new Map([["Pause", ask]]));
  const ids = Array.from({ length: 10 }, (_, nth) => `a${nth}`);
  const plan = planOf([{ id: "s", steps: ids.map((id) => ({ id, type: "Pause" })) }]);
  let { state, changed } = engine.step(plan, { state: engine.initialState(plan), nodes: new Map() }, started());
  const nodes = new Map(changed);
  assert.ok(state.outputBytes > MIB / 2);
  for (const [nth, id] of ids.entries()) {
    ({ state, changed } = engine.step(plan, { state, nodes }, fired(10 * (nth + 1), id, "wait")));
    for (const [key, node] of changed) nodes.set(key, node);
  }
  assert.deepEqual([state.status, state.outputBytes], ["succeeded", 0]);
  assert.equal(nodes.get("a0")?.attempts.at(-1)?.progress, null);
});

test("what a step would keep counts only if it is kept: not while the step is being stopped", () => {
  const keep: StepType = {
    begin: () => ({ kind: "runTask", selectors: [], work: { kind: "keep" }, progress: "x".repeat(MIB) }),
    receive: () => ({ kind: "wait", reason: { kind: "approval", message: "Waits." }, progress: "" }),
  };
  const put: StepType = {
    begin: () => ({ kind: "runTask", selectors: [], work: { kind: "put" } }),
    receive: () => ({ kind: "end", status: "succeeded", outputs: [{ name: "v", value: "x".repeat(MIB) }] }),
  };
  const engine = createEngine(
    new Map([
      ["Poll", keep],
      ["Pause", put],
    ]),
  );
  const steps = [
    { id: "a", type: "Pause" },
    { id: "b", type: "Poll" },
  ] as const;
  const plan = planOf([{ id: "s", steps }]);
  let state = engine.initialState(plan);
  const nodes = new Map<string, NodeState>();
  const bytes = [started(), ended(1, "a", exited(0)), abort(2), ended(3, "b", exited(0))].map((event) => {
    const next = engine.step(plan, { state, nodes }, event);
    ({ state } = next);
    for (const [id, node] of next.changed) nodes.set(id, node);
    return state.outputBytes;
  });
  assert.equal(bytes[1], bytes[2]);
  assert.ok((bytes[1] ?? 0) > 1.5 * MIB, String(bytes));
  assert.deepEqual([state.status, bytes[3]], ["aborted", MIB]);
});
