/** The checker against constructed facts: what it must report and what it must accept. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Uuid } from "../../../src/core/ids.ts";
import { checkAccepted, checkExecution, checkFinal, type Evidence } from "./check.ts";
import type { ExecutionFacts, StepFacts, StepState } from "./facts.ts";
import type { Request } from "../load/load.ts";
import { endsOf, type Kind, type StepPlan } from "../load/kinds.ts";
import { createKinds } from "../load/pipelines.ts";
import { longestOutage, type Outage } from "../timeline.ts";
import type { SeenEnd } from "./watch.ts";

const ID = "0198f000-0000-7000-8000-000000000001" as Uuid;
const kinds = createKinds({ starts: "/x/starts", escapes: "/x/escapes", barrier: "/x/barrier" });
const NUMBER = 5;
const NO_LOG = Buffer.alloc(0);
const NO_NODES = { nodes: [], approvals: [], gaps: [] };

const stateOf = (status: StepState["status"], more: Partial<StepState> = {}): StepState => ({
  ...{ startedAt: 1_000, endedAt: 2_000, exitCode: null, failure: null },
  status,
  ...more,
});

/** A start that is as late as the plan says. */
function startOf({ after }: StepPlan, kind: Kind): number {
  if (!after) return 1_000;
  const before = kinds[kind].steps
    .concat(kinds[kind].rollback)
    .find(({ identifier }) => identifier === after.identifier);
  return (before ? startOf(before, kind) : 0) + after.seconds * 1_000;
}

type Sketch = {
  readonly [step: string]: Partial<StepFacts> & { readonly starts?: number; readonly times?: readonly number[] };
};

/** Checks an execution of a kind that is correct except for the sketched steps. */
function check(
  kind: Kind,
  status: string,
  sketch: Sketch = {},
  more: {
    outages?: readonly Outage[];
    request?: Partial<Request>;
    execution?: Partial<ExecutionFacts>;
    endAt?: number;
  } = {},
): readonly string[] {
  const starts = new Map<string, readonly number[]>();
  const steps = [...kinds[kind].steps, ...kinds[kind].rollback].map((plan): StepFacts => {
    const own = sketch[plan.identifier] ?? {};
    const [ends = "succeeded"] = endsOf(plan);
    const state = stateOf(ends, ends === "failed" ? { exitCode: 7 } : {});
    const hasNone = plan.isServed || (own.state ?? state).status === "skipped";
    const count = own.starts ?? (hasNone ? 0 : 1);
    starts.set(`${NUMBER} ${plan.identifier}`, own.times ?? Array<number>(count).fill(startOf(plan, kind)));
    return { identifier: plan.identifier, state, delegate: "delegate-1", log: Buffer.from(plan.text(NUMBER)), ...own };
  });
  const execution = { id: ID, number: NUMBER, status, state: {} as never, steps, log: NO_LOG, ...NO_NODES };
  const request = { number: NUMBER, kind, sentAt: 0, acknowledged: true, execution: "x", seen: {} };
  const end: SeenEnd = { status, hash: "h", logBytes: 0, at: more.endAt ?? 60_000 };
  const evidence: Evidence = {
    kinds,
    requests: new Map([[NUMBER, { ...request, ...more.request }]]),
    outages: more.outages ?? [],
    ends: new Map([[ID, end]]),
    starts,
  };
  return checkExecution({ ...execution, ...more.execution }, evidence).map(({ check }) => check);
}

const lost = stateOf("failed", { failure: { message: "not heard of", types: ["DelegateRestart"] } });
const skipped = { state: stateOf("skipped"), log: Buffer.alloc(0) };
const outage = (target: Outage["target"], from: number, to: number, kind = "stop"): Outage => ({
  target,
  kind,
  from,
  to,
});
const textOf = (kind: Kind, step: string): Buffer =>
  Buffer.from(kinds[kind].steps.find(({ identifier }) => identifier === step)?.text(NUMBER) ?? "");

test("executions that end as planned are accepted", () => {
  for (const kind of ["outputs", "long", "escape", "secret", "hook", "slots"] as const)
    assert.deepEqual(check(kind, "succeeded"), [], kind);
  assert.deepEqual(check("rollback", "failed", { three: skipped }), []);
  assert.deepEqual(check("timeout", "failed", { three: skipped }), []);
  assert.deepEqual(check("abort", "aborted", { three: skipped }), []);
});

test("missing, repeated or reordered bytes of a log, and gaps between its chunks", () => {
  const text = textOf("outputs", "one");
  const [half, rest] = [text.subarray(0, 100), text.subarray(100)];
  for (const log of [half, Buffer.concat([half, half, rest]), Buffer.concat([rest, half])])
    assert.deepEqual(check("outputs", "succeeded", { one: { log } }), ["log"]);
  assert.deepEqual(check("outputs", "succeeded", {}, { execution: { gaps: ["a gap"] } }), ["log"]);
});

test("a stopped step has a prefix of its text, and perhaps the delegate's reason", () => {
  const text = textOf("timeout", "overdue");
  const cut = (log: Buffer): readonly string[] => check("timeout", "failed", { overdue: { log }, three: skipped });
  const reason = Buffer.from("railhead: the disk is full\n");
  assert.deepEqual(cut(text.subarray(0, 77)), []);
  assert.deepEqual(cut(Buffer.concat([text.subarray(0, 77), Buffer.from("\n"), reason])), []);
  assert.deepEqual(cut(text.subarray(10, 77)), ["log"]);
  assert.deepEqual(cut(Buffer.concat([text.subarray(0, 77), Buffer.from("else\n")])), ["log"]);
});

test("a second start, and a success without a start", () => {
  assert.deepEqual(check("outputs", "succeeded", { two: { starts: 2 } }), ["once"]);
  assert.deepEqual(check("outputs", "succeeded", { two: { starts: 0 } }), ["once"]);
});

test("an open execution, and an execution without a request", () => {
  assert.deepEqual(check("outputs", "running"), ["ended"]);
  assert.deepEqual(check("outputs", "succeeded", {}, { execution: { number: 99 } }), ["accepted"]);
});

test("a lost step is accepted only if its own delegate was away long enough", () => {
  const after = { one: { state: lost, log: Buffer.alloc(0) }, two: skipped, three: skipped };
  const found = (...outages: readonly Outage[]): readonly string[] => check("outputs", "failed", after, { outages });
  assert.deepEqual(found(), ["outcome"]);
  assert.deepEqual(found(outage("delegate-1", 0, 50_000)), []);
  assert.deepEqual(found(outage("delegate-1 link", 0, 50_000, "stall")), []);
  assert.deepEqual(found(outage("delegate-1", 0, 30_000), outage("delegate-1 link", 35_000, 60_000)), []);
  assert.deepEqual(found(outage("delegate-1", 0, 20_000), outage("delegate-1", 40_000, 60_000)), ["outcome"]);
  assert.deepEqual(found(outage("delegate-1", 100_000, 200_000)), ["outcome"], "after its end");
  for (const other of ["delegate-2", "database", "server-a", "server-a database", "server-b clients"] as const)
    assert.deepEqual(found(outage(other, 0, 60_000)), ["outcome"], other);
  assert.deepEqual(found(outage("delegate-1", 0, 60_000, "clock")), ["outcome"]);
});

test("a full disk excuses only steps that have started on it", () => {
  const state = stateOf("failed", { exitCode: 141 });
  const log = textOf("outputs", "one").subarray(0, 20);
  const found = (step: Partial<StepFacts> & { starts?: number }): readonly string[] =>
    check(
      "outputs",
      "failed",
      { one: { state, log, ...step }, two: skipped, three: skipped },
      {
        outages: [outage("delegate-1", 10_000, 20_000, "fill disk")],
      },
    );
  assert.deepEqual(found({}), []);
  assert.deepEqual(found({ starts: 0, log: Buffer.alloc(0) }), ["outcome"]);
  assert.deepEqual(found({ delegate: "delegate-2" }), ["outcome"]);
});

test("a killed launcher excuses its steps, a stopped one does not", () => {
  const step = { one: { state: lost, log: Buffer.alloc(0) }, two: skipped, three: skipped };
  const found = (kind: string): readonly string[] =>
    check("outputs", "failed", step, { outages: [outage("delegate-1", 10_000, 60_000, kind)] });
  assert.deepEqual([found("kill launcher"), found("stop launcher")], [[], ["outcome"]]);
});

test("attempts, instances of loops, and steps that must have run", () => {
  assert.deepEqual(check("flow", "succeeded"), []);
  const none = { state: undefined, log: Buffer.alloc(0) };
  assert.deepEqual(check("flow", "succeeded", { "flaky#4": none }), [], "two retries are enough");
  assert.deepEqual(check("flow", "succeeded", { "cell[3]": none }), ["outcome"]);
  assert.deepEqual(check("flow", "succeeded", { "flaky#2": { log: textOf("flow", "flaky") } }), ["log"]);
  assert.deepEqual(check("flow", "succeeded", { "flaky#2": { times: [1_500] } }), ["times"]);
  assert.deepEqual(check("flow", "succeeded", { never: { state: stateOf("succeeded"), starts: 1 } }), ["outcome"]);
  assert.deepEqual(check("regroup", "succeeded", { first: { starts: 2 } }), ["once"]);
  const ran = { never: { state: stateOf("failed", { exitCode: 9 }) }, "cell[1]": { state: lost } };
  const outages = [outage("delegate-1", 0, 60_000)];
  assert.deepEqual(check("flow", "failed", ran, { outages }), [], "a step for failures after one that was lost");
});

test("other failures, early timeouts, and steps that end before they start", () => {
  const wrongCode = { one: { state: stateOf("failed", { exitCode: 1 }) }, three: skipped };
  assert.deepEqual(check("rollback", "failed", wrongCode), ["outcome"]);
  assert.deepEqual(check("outputs", "failed"), ["outcome"]);
  assert.deepEqual(check("timeout", "failed", { three: skipped }, { endAt: 9_000 }), ["times"]);
  const backwards = { one: { state: stateOf("succeeded", { startedAt: 2_000, endedAt: 1_000 }) } };
  assert.deepEqual(check("outputs", "succeeded", backwards), ["times"]);
});

test("an acknowledged abort aborts, unless an outage delayed it", () => {
  const whole = { unwanted: { state: stateOf("succeeded") } };
  assert.deepEqual(check("abort", "succeeded", whole), [], "no acknowledged abort");
  const request = { seen: { abortedAt: 20_000 } };
  assert.deepEqual(check("abort", "succeeded", whole, { request }), ["outcome"]);
  const outages = [outage("delegate-1 link", 19_000, 30_000, "cut")];
  assert.deepEqual(check("abort", "succeeded", whole, { request, outages }), []);
});

test("each acknowledged request has one execution, and any other at most one", () => {
  const request = (number: number, acknowledged: boolean): Request => {
    return { number, kind: "hook", sentAt: 0, acknowledged, execution: undefined, seen: {} };
  };
  const requests = [request(1, true), request(2, true), request(3, false), request(4, false), request(5, true)];
  const found = checkAccepted(requests, new Map([[1, 1], [3, 2], [4, 1], [5, 2]])); // prettier-ignore
  assert.deepEqual(
    found.map(({ of }) => of),
    ["request 2 (hook)", "request 3 (hook)", "request 5 (hook)"],
  );
});

test("status, state and log of an ended execution do not change", () => {
  const first = new Map([[ID as string, { status: "failed", hash: "h", logBytes: 7, at: 1 }]]);
  const found = (change: object): number =>
    checkFinal(first, [{ id: ID, status: "failed", hash: "h", bytes: 7, ...change }]).length;
  assert.deepEqual([found({}), found({ status: "aborted" }), found({ hash: "i" }), found({ bytes: 8 })], [0, 1, 1, 1]);
});

test("the longest outage ignores short gaps and counts only the overlap", () => {
  const outages = [outage("delegate-1", 0, 10), outage("delegate-1", 14, 30), outage("delegate-1", 50, 55)];
  assert.equal(longestOutage(outages, 0, 100, 5), 30);
  assert.equal(longestOutage(outages, 0, 100, 2), 16);
  assert.equal(longestOutage(outages, 31, 100, 2), 5);
  assert.equal(longestOutage(outages, 0, 20, 5), 20, "up to the given end");
});
